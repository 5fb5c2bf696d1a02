import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import type { ConditionRow, ResultTables } from "../../api/studies";
import { Chart } from "../../components/Chart";
import { DataTable } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { Legend } from "../../components/Legend";
import { Panel } from "../../components/Panel";
import { categorical, OTHER } from "../../lib/colours";
import { interval, number, percent } from "../../lib/format";
import { intervalPlot } from "./intervalPlot";
import { LocalityPanel } from "./LocalityPanel";
import { NamedPatterns } from "./NamedPatterns";

const VERDICTS = [
  { name: "yes", label: "all found a pattern", colour: categorical(2) },
  { name: "conflicting", label: "some did", colour: categorical(5) },
  { name: "no", label: "none did", colour: OTHER },
] as const;

/** How often people saw a pattern, by condition, and which. */
export function AnnotationResults({ tables }: { tables: ResultTables }) {
  const conditions = tables.conditions ?? [];
  const all = conditions.filter((row) => row.corpus === "all" && row.sets > 0);
  const plot = useMemo(() => conditionPlot(all), [tables]);
  const positives = useMemo(() => {
    const rows = (tables.positives ?? []).map((row) => ({ name: row.condition, value: row.mean, low: row.low, high: row.high }));
    return intervalPlot(rows, { unit: "sentences that show a pattern" });
  }, [tables]);
  return (
    <>
      <Panel title="Sets with a pattern" note="Random sentences are the baseline: what people see where nothing was chosen.">
        {all.length === 0 ? (
          <Empty title="No set has all its answers yet" />
        ) : (
          <>
            <Legend items={VERDICTS.map(({ label, colour }) => ({ label, colour }))} />
            <Chart
              plot={plot}
              title="Do the annotators of a set find a pattern?"
              name="conditions"
              description="Share of the sets that have all their answers. The line is the 95% interval of “all found a pattern”."
            />
          </>
        )}
        <DataTable<ConditionRow>
          caption="By condition and corpus"
          rows={conditions}
          columns={[
            { key: "condition", title: "Condition", value: (row) => row.condition },
            { key: "corpus", title: "Corpus", value: (row) => row.corpus, cell: (row) => <bdi>{row.corpus}</bdi> },
            { key: "sets", title: "Sets", value: (row) => row.sets },
            { key: "yes", title: "Yes", value: (row) => row.yes },
            { key: "no", title: "No", value: (row) => row.no },
            { key: "conflicting", title: "Conflicting", value: (row) => row.conflicting },
            { key: "share", title: "Share of yes", value: (row) => row.yes_share, cell: (row) => percent(row.yes_share) },
            {
              key: "interval",
              title: "95% interval",
              align: "right",
              value: (row) => row.yes_low,
              cell: (row) => `${percent(row.yes_low)} to ${percent(row.yes_high)}`,
            },
            { key: "same", title: "Same pattern", value: (row) => row.same_pattern, note: "Sets where all named one pattern" },
            { key: "waiting", title: "Waiting", value: (row) => row.waiting, note: "Sets without all their answers" },
          ]}
        />
      </Panel>
      {(tables.differences?.length ?? 0) > 0 && (
        <Panel title="Against random sentences" note="Fisher’s exact test; p adjusted for false discoveries over all rows (Benjamini and Hochberg).">
          <DataTable
            caption="Difference of the shares of yes"
            hideCaption
            rows={tables.differences ?? []}
            columns={[
              { key: "condition", title: "Condition", value: (row) => row.condition },
              { key: "corpus", title: "Corpus", value: (row) => row.corpus },
              { key: "difference", title: "Difference", value: (row) => row.difference, digits: 2 },
              { key: "interval", title: "95% interval", align: "right", value: (row) => row.low, cell: (row) => interval(row.low, row.high) },
              { key: "p", title: "Adjusted p", value: (row) => row.p_adjusted, cell: (row) => number(row.p_adjusted) },
            ]}
          />
        </Panel>
      )}
      {(tables.positives?.length ?? 0) > 0 && (
        <Panel title="How strong the patterns are">
          <Chart plot={positives} title="Sentences that show a pattern" name="positives" description="Mean over the patterns named; at least 3, at most as many as a set has. Lines: 95% intervals, sets drawn anew." />
          <DataTable
            caption="Different patterns for a direction, over the corpora of its sets; merged patterns count once"
            rows={tables.patterns_per_direction ?? []}
            columns={[
              { key: "condition", title: "Condition", value: (row) => row.condition },
              { key: "directions", title: "Directions", value: (row) => row.directions },
              { key: "corpora", title: "Corpora each", value: (row) => row.corpora_each, digits: 1 },
              { key: "mean", title: "Mean", value: (row) => row.mean, digits: 2 },
              { key: "interval", title: "95% interval", align: "right", value: (row) => row.low, cell: (row) => interval(row.low, row.high) },
              { key: "most", title: "Most", value: (row) => row.most },
            ]}
          />
        </Panel>
      )}
      <LocalityPanel tables={tables} />
      <NamedPatterns rows={tables.patterns ?? []} />
    </>
  );
}

function conditionPlot(rows: readonly ConditionRow[]) {
  const parts = rows.flatMap((row) =>
    VERDICTS.map(({ name }) => ({ condition: label(row), verdict: name, share: row[name] / row.sets })),
  );
  const ends = rows.map((row) => ({ condition: label(row), low: row.yes_low, high: row.yes_high }));
  return (width: number): Plot.PlotOptions => ({
    height: 66 + 44 * rows.length,
    marginLeft: Math.min(0.45 * width, 170),
    marginRight: 20,
    marginBottom: 42,
    x: { labelAnchor: "center", labelArrow: "none", label: "share of the sets", percent: true, domain: [0, 100], ticks: width < 500 ? 3 : 6 },
    y: { label: null, domain: rows.map(label), tickSize: 0 },
    color: { domain: VERDICTS.map(({ name }) => name), range: VERDICTS.map(({ colour }) => colour) },
    marks: [
      Plot.barX(parts, Plot.stackX({ y: "condition", x: "share", fill: "verdict", order: VERDICTS.map(({ name }) => name) })),
      Plot.ruleY(ends, { y: "condition", x1: "low", x2: "high", stroke: "var(--text)", strokeWidth: 2 }),
    ],
  });
}

function label(row: ConditionRow): string {
  return `${row.condition} (${row.sets})`;
}
