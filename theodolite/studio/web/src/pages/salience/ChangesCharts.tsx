import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { TermChange } from "../../api/salience";
import { Chart } from "../../components/Chart";
import { categorical, OTHER } from "../../lib/colours";

/** A term or a list of terms; those of the baseline are grey. */
export interface Changed extends TermChange {
  baseline: boolean;
}

interface ChangesChartsProps {
  rows: readonly Changed[];
  toward: string;
  /** Of the files they are saved as. */
  name: string;
}

type What = "insertion" | "masking";

/** What terms do to the probability of a class: dots with their intervals, put in on the left, masked on the right. */
export function ChangesCharts({ rows, toward, name }: ChangesChartsProps) {
  return (
    <div class="columns">
      <ChangeChart
        rows={rows}
        what="insertion"
        title={`Put into texts of other classes`}
        name={`${name}-insertion`}
        description={`Mean change of p(${toward}) with its 95% interval over texts. Right of 0: the term by itself speaks for ${toward}.`}
      />
      <ChangeChart
        rows={rows}
        what="masking"
        title={`Masked in texts answered ${toward}`}
        name={`${name}-masking`}
        description={`Mean change of p(${toward}) with its 95% interval over the texts that have it. Left of 0: the answer rests on it.`}
      />
    </div>
  );
}

interface ChangeChartProps {
  rows: readonly Changed[];
  what: What;
  title: string;
  name: string;
  description: string;
}

function ChangeChart({ rows, what, title, name, description }: ChangeChartProps) {
  const key = JSON.stringify(rows);
  const plot = useCallback((width: number) => drawn(JSON.parse(key) as Changed[], what, width), [key, what]);
  return <Chart plot={plot} title={title} name={name} description={description} />;
}

function drawn(rows: readonly Changed[], what: What, width: number): Plot.PlotOptions {
  const data = rows
    .filter((row) => row[what].mean !== null)
    .map((row) => ({ term: row.term, baseline: row.baseline, ...row[what] }));
  const names = rows.map((row) => row.term);
  const longest = Math.max(...names.map((term) => shortened(term).length), 4);
  const colour = (row: { baseline: boolean }) => (row.baseline ? OTHER : categorical(0));
  return {
    width,
    height: 76 + 28 * names.length,
    marginLeft: Math.min(24 + 6.5 * longest, width * 0.42),
    marginRight: 24,
    marginBottom: 46,
    x: { grid: true, label: "change of the probability →", labelOffset: 38, domain: reach(rows), nice: true, ticks: width < 420 ? 3 : 5 },
    y: { type: "band", domain: names, label: null, tickFormat: shortened, tickSize: 0 },
    marks: [
      Plot.ruleX([0], { stroke: "currentColor", strokeOpacity: 0.5 }),
      Plot.ruleY(data, { y: "term", x1: "low", x2: "high", stroke: colour, strokeWidth: 2.5 }),
      Plot.dot(data, { y: "term", x: "mean", fill: colour, r: 4.5, title: "term" }),
    ],
  };
}

/** From the smallest end of an interval to the largest, put in or masked: both charts are on one scale. */
function reach(rows: readonly Changed[]): [number, number] {
  const ends = rows.flatMap(({ insertion, masking }) =>
    [insertion, masking].flatMap((change) => [change.mean, change.low, change.high].filter((end) => end !== null)),
  );
  return [Math.min(0, ...ends), Math.max(0, ...ends)];
}

function shortened(term: string): string {
  return term.length > 22 ? `${term.slice(0, 21)}…` : term;
}
