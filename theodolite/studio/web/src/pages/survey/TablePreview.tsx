import { useState } from "preact/hooks";
import { type TableInfo, tableRows } from "../../api/survey";
import { Button } from "../../components/Button";
import { Clamped } from "../../components/Clamped";
import { type Cell, type Column, DataTable } from "../../components/DataTable";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { capital, count, number, words } from "../../lib/format";
import { useQuery } from "../../lib/query";

const AT_ONCE = 50;
type Row = Record<string, unknown>;

/** Some rows of a table at a time. */
export function TablePreview({ slug, reading, table }: { slug: string; reading: string; table: TableInfo }) {
  const [offset, setOffset] = useState(0);
  const { data, fault, again } = useQuery(
    `${slug} ${reading} ${table.name} ${offset}`,
    (signal) => tableRows(slug, reading, table.name, offset, AT_ONCE, signal),
    { keep: true },
  );
  if (fault) return <Fault message={fault} again={again} />;
  if (!data) return <Loading />;
  const end = Math.min(data.offset + AT_ONCE, data.total);
  const title = capital(words(table.name));
  return (
    <div class="table-preview">
      <DataTable
        columns={data.columns.map(column)}
        rows={data.rows}
        caption={`${title}: ${data.total > AT_ONCE ? `rows ${number(data.offset + 1)} to ${number(end)} of ${number(data.total)}` : count(data.total, "row")}`}
      />
      {data.total > AT_ONCE && (
        <div class="row row-centre">
          <Button compact disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - AT_ONCE))}>
            Earlier rows
          </Button>
          <Button compact disabled={end >= data.total} onClick={() => setOffset(offset + AT_ONCE)}>
            Later rows
          </Button>
        </div>
      )}
    </div>
  );
}

function column(name: string): Column<Row> {
  return {
    key: name,
    title: words(name),
    value: (row) => sortable(row[name]),
    cell: (row) => {
      const value = row[name];
      if (typeof value === "number") return Number.isInteger(value) ? String(value) : number(value);
      const text = said(value);
      return text.length > 80 ? (
        <div class="long-cell">
          <Clamped text={text} lines={2} />
        </div>
      ) : (
        <span class="short-cell">{text}</span>
      );
    },
  };
}

function sortable(value: unknown): Cell {
  return typeof value === "number" || typeof value === "string" || typeof value === "boolean" ? value : said(value);
}

function said(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}
