import { useMemo, useState } from "preact/hooks";
import type { ByMethod, Compared, WordPair } from "../../api/compare";
import { Button } from "../../components/Button";
import { type Column, DataTable } from "../../components/DataTable";
import { number } from "../../lib/format";
import { short, wordsOf } from "./words";

interface PairTableProps {
  found: Compared;
  by: ByMethod;
  /** As many of the first rows are joined in the texts. */
  joined: number;
  onLight: (pairs: readonly number[]) => void;
}

interface Row extends WordPair {
  rank: number;
}

const FEW = 12;

/** The pairs of words with their scores. */
export function PairTable({ found, by, joined, onLight }: PairTableProps) {
  const [all, setAll] = useState(false);
  const rows: Row[] = useMemo(() => by.pairs.map((pair, i) => ({ ...pair, rank: i + 1 })), [by]);
  const columns = useMemo(() => {
    const [a, b] = [wordsOf(found.a).map(short), wordsOf(found.b).map(short)];
    return columnsOf(a, b, by, joined, onLight);
  }, [found.a, found.b, by, joined, onLight]);
  const shown = all ? rows : rows.slice(0, FEW);
  return (
    <div>
      <DataTable
        columns={columns}
        rows={shown}
        caption={`Pairs of words by score: the words' cosine times both saliencies (${number(shown.length)} of ${number(by.matched)})`}
        rowKey={(row) => row.rank}
      />
      {rows.length > FEW && (
        <Button compact kind="quiet" expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer pairs" : `Show ${number(rows.length)} pairs`}
        </Button>
      )}
    </div>
  );
}

function columnsOf(
  a: readonly string[],
  b: readonly string[],
  by: ByMethod,
  joined: number,
  onLight: (pairs: readonly number[]) => void,
): Column<Row>[] {
  const light = (row: Row) => (row.rank <= joined && row.chosen ? [row.rank - 1] : []);
  return [
    { key: "rank", title: "#", value: (row) => row.rank },
    {
      key: "pair",
      title: "Pair",
      value: (row) => `${a[row.a] ?? ""} – ${b[row.b] ?? ""}`,
      cell: (row) => (
        <span class="compare-pair" onMouseEnter={() => onLight(light(row))} onMouseLeave={() => onLight([])}>
          <bdi>{a[row.a]}</bdi> – <bdi>{b[row.b]}</bdi>
        </span>
      ),
    },
    { key: "score", title: "Score", value: (row) => row.score, digits: 3 },
    { key: "cosine", title: "Words' cosine", value: (row) => row.cosine, digits: 3 },
    { key: "first", title: "Saliency, first", value: (row) => by.a[row.a], digits: 2, align: "right" },
    { key: "second", title: "Saliency, second", value: (row) => by.b[row.b], digits: 2, align: "right" },
    {
      key: "chosen",
      title: "Chosen",
      value: (row) => row.chosen,
      cell: (row) => (row.chosen ? <span class="badge accent">chosen</span> : ""),
    },
  ];
}
