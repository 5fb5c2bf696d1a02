import type { DeletedRow, RandomisedRow, Truth } from "../../api/compare";
import { type Column, DataTable } from "../../components/DataTable";
import { capital, interval, MISSING, number } from "../../lib/format";
import { TruthCharts } from "./TruthCharts";

const WHOLE = "whole model";

/** What the tests found, in sentences, curves and tables. */
export function TruthResult({ truth }: { truth: Truth }) {
  const whole = truth.randomisation.filter((row) => row.change === WHOLE);
  return (
    <div class="stack" data-testid="truth">
      <ul class="compare-notes">
        {truth.findings.map((finding) => (
          <li key={finding}>{capital(finding)}</li>
        ))}
      </ul>
      <TruthCharts truth={truth} />
      <div class="columns">
        <DataTable
          columns={DRAWN}
          rows={whole}
          caption={`All weights drawn anew: agreement with the trained model's explanation, mean of ${truth.seeds} drawings (95% interval)`}
          rowKey={(row) => row.method}
        />
        <DataTable
          columns={FALLEN}
          rows={truth.deletion}
          caption={`Words deleted: fall of the cosine from ${number(truth.whole, 3)}, mean of all steps; random order ${truth.orders} times (95% interval)`}
          rowKey={(row) => row.method}
        />
      </div>
    </div>
  );
}

const DRAWN: Column<RandomisedRow>[] = [
  { key: "method", title: "Method", value: (row) => row.method },
  {
    key: "correlation",
    title: "Correlation",
    align: "right",
    value: (row) => row.correlation,
    cell: (row) => figure(row.correlation, row.correlation_low, row.correlation_high),
  },
  {
    key: "overlap",
    title: "Same pairs",
    align: "right",
    value: (row) => row.overlap,
    cell: (row) => figure(row.overlap, row.overlap_low, row.overlap_high),
  },
];

const FALLEN: Column<DeletedRow>[] = [
  { key: "rank", title: "Rank", value: (row) => row.rank },
  { key: "method", title: "Order", value: (row) => row.method },
  { key: "area", title: "Fall", align: "right", value: (row) => row.area, cell: (row) => figure(row.area, row.area_low, row.area_high) },
  {
    key: "over",
    title: "More than random",
    align: "right",
    value: (row) => row.over_random,
    cell: (row) => figure(row.over_random, row.over_random_low, row.over_random_high),
  },
];

/** A figure with its interval below it, where it has one. */
function figure(value: number | null, low: number | null, high: number | null) {
  const ends = interval(low, high);
  return (
    <>
      {number(value, 2)}
      {ends !== MISSING && <div class="muted small">{ends}</div>}
    </>
  );
}
