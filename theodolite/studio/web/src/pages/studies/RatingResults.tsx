import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import type { MethodRow, ResultTables } from "../../api/studies";
import { Chart } from "../../components/Chart";
import { DataTable } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { Panel } from "../../components/Panel";
import { sequentialHex } from "../../lib/colours";
import { interval, number } from "../../lib/format";
import { intervalPlot } from "./intervalPlot";

/** Opinion scores by method. */
export function RatingResults({ tables }: { tables: ResultTables }) {
  const methods = tables.methods ?? [];
  const plot = useMemo(() => {
    const rows = methods.map((row) => ({ name: row.method, value: row.mean, low: row.low, high: row.high }));
    return intervalPlot(rows, { unit: "mean opinion, 1 to 5", domain: [1, 5] });
  }, [tables]);
  const scores = useMemo(() => scorePlot(tables), [tables]);
  if (!methods.some((row) => row.ratings > 0)) {
    return (
      <Panel title="Opinion by method">
        <Empty title="Nobody has rated anything yet" />
      </Panel>
    );
  }
  return (
    <>
      <Panel title="Opinion by method">
        <Chart plot={plot} title="Mean opinion of each method" name="opinions" description="From 1 (explains nothing) to 5 (explains very well). Lines: 95% intervals, pairs of texts drawn anew." />
        <DataTable<MethodRow>
          caption="Mean opinion with its interval"
          hideCaption
          heading="method"
          rows={methods}
          columns={[
            { key: "method", title: "Method", value: (row) => row.method },
            { key: "mean", title: "Mean", value: (row) => row.mean, digits: 2 },
            { key: "interval", title: "95% interval", align: "right", value: (row) => row.low, cell: (row) => interval(row.low, row.high) },
            { key: "sd", title: "Deviation of annotators", value: (row) => row.deviation_of_annotators, digits: 2 },
            { key: "pairs", title: "Pairs", value: (row) => row.pairs },
            { key: "ratings", title: "Ratings", value: (row) => row.ratings },
          ]}
        />
      </Panel>
      <Panel title="How often each score was given">
        <Chart plot={scores} title="Scores by method" name="scores" description="Share of a method’s ratings, from 1 (dark) to 5 (light)." />
      </Panel>
      {(tables.differences?.length ?? 0) > 0 && (
        <Panel
          title={`Against ${tables.differences?.[0]?.against ?? "the reference"}`}
          note="On the same pairs of texts; Wilcoxon’s signed ranks, p adjusted for false discoveries over all methods."
        >
          <DataTable
            caption="Paired differences"
            hideCaption
            heading="method"
            rows={tables.differences ?? []}
            columns={[
              { key: "method", title: "Method", value: (row) => row.method },
              { key: "difference", title: "Difference", value: (row) => row.difference, digits: 2 },
              { key: "interval", title: "95% interval", align: "right", value: (row) => row.low, cell: (row) => interval(row.low, row.high) },
              { key: "p", title: "Adjusted p", value: (row) => row.p_adjusted, cell: (row) => number(row.p_adjusted) },
            ]}
          />
        </Panel>
      )}
      {(tables.deletion?.length ?? 0) > 0 && (
        <Panel title="Beside deletion" note="Area: how far the similarity falls when a method’s salient words are deleted; the baseline is random order.">
          <DataTable
            caption="People’s order of the methods and that of deletion"
            hideCaption
            rows={tables.deletion ?? []}
            columns={[
              { key: "corpus", title: "Corpus", value: (row) => row.corpus },
              { key: "method", title: "Method", value: (row) => row.method },
              { key: "opinion", title: "Opinion", value: (row) => row.opinion, digits: 2 },
              { key: "rank", title: "Rank by people", value: (row) => row.opinion_rank },
              { key: "area", title: "Area", value: (row) => row.deletion_area, digits: 3 },
              { key: "over", title: "Over random", value: (row) => row.deletion_over_random, digits: 3 },
              { key: "drank", title: "Rank by deletion", value: (row) => row.deletion_rank },
            ]}
          />
        </Panel>
      )}
    </>
  );
}

function scorePlot(tables: ResultTables) {
  const rows = (tables.scores ?? []).filter((row) => row.of > 0).map((row) => ({ ...row, share: row.count / row.of }));
  const methods = (tables.methods ?? []).map((row) => row.method);
  return (width: number): Plot.PlotOptions => ({
    height: 72 + 30 * methods.length,
    marginLeft: Math.min(0.42 * width, 160),
    marginRight: 20,
    marginBottom: 42,
    x: { labelAnchor: "center", labelArrow: "none", label: "share of the ratings", percent: true, ticks: width < 500 ? 3 : 6 },
    y: { label: null, domain: methods, tickSize: 0 },
    color: { type: "ordinal", domain: [1, 2, 3, 4, 5], range: [0, 0.25, 0.5, 0.75, 1].map(sequentialHex) },
    marks: [Plot.barX(rows, Plot.stackX({ y: "method", x: "share", fill: "score", order: "score" }))],
  });
}
