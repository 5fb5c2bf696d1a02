import type { Change, TermChange } from "../../api/salience";
import { type Column, DataTable } from "../../components/DataTable";
import { interval, number } from "../../lib/format";

const COLUMNS: readonly Column<TermChange>[] = [
  { key: "term", title: "term", value: (row) => row.term },
  { key: "in", title: "put in", value: (row) => row.insertion.mean, cell: (row) => <Shown change={row.insertion} /> },
  { key: "in-texts", title: "texts", value: (row) => row.insertion.texts },
  { key: "out", title: "masked", value: (row) => row.masking.mean, cell: (row) => <Shown change={row.masking} />, align: "right" },
  { key: "out-texts", title: "texts", value: (row) => row.masking.texts },
  { key: "count", title: "times", value: (row) => row.count },
];

/** Changes of a probability with their intervals, as numbers. */
export function ChangesTable({ rows, caption }: { rows: readonly TermChange[]; caption: string }) {
  return <DataTable columns={COLUMNS} rows={rows} caption={caption} heading="term" rowKey={(row) => row.term} />;
}

function Shown({ change }: { change: Change }) {
  if (change.mean === null) return <>–</>;
  return (
    <>
      {number(change.mean, 3)} <span class="muted small">({interval(change.low, change.high, 3)})</span>
    </>
  );
}
