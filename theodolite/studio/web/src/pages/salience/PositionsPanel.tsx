import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { PositionRow } from "../../api/salience";
import { Chart } from "../../components/Chart";
import { Empty } from "../../components/Empty";
import { Panel } from "../../components/Panel";
import { categorical } from "../../lib/colours";
import { percent } from "../../lib/format";

/** Where in a text the classifier looks, beside where its tokens are. */
export function PositionsPanel({ rows, method }: { rows: readonly PositionRow[]; method: string }) {
  const mine = rows.filter((row) => row.method === method);
  const parts = mine.filter((row) => !row.part.includes("special"));
  const special = mine.filter((row) => row.part.includes("special"));
  const key = JSON.stringify(parts);
  const plot = useCallback((width: number) => drawn(JSON.parse(key) as PositionRow[], width), [key]);
  return (
    <Panel title="Where in a text it looks" note={`By ${method}, special tokens left out.`}>
      {parts.length === 0 ? (
        <Empty title="Not measured" />
      ) : (
        <div class="stack">
          <Chart
            plot={plot}
            title="Share of the salience by tenths of the text"
            name="salience-positions"
            description={`Bars: mean over ${parts[0]?.texts ?? 0} texts with 95% intervals. Ticks: the share of the tokens that are there.`}
          />
          {special.length > 0 && (
            <p class="muted small">
              On special tokens: {special.map((row) => `${row.part} ${percent(row.salience, 1)}`).join(", ")} of all
              salience.
            </p>
          )}
        </div>
      )}
    </Panel>
  );
}

function drawn(rows: readonly PositionRow[], width: number): Plot.PlotOptions {
  const last = rows.length - 1;
  const shown = rows.map((row, i) => ({ ...row, at: i }));
  const name = (i: number) => (i === 0 ? "start" : i === last ? "end" : i === Math.round(last / 2) ? "middle" : "");
  return {
    width,
    height: 230,
    marginLeft: 46,
    x: { type: "band", domain: shown.map((row) => row.at), label: null, tickFormat: name, tickSize: 0 },
    y: { grid: true, label: "share of the salience", tickFormat: "%" },
    marks: [
      Plot.barY(shown, { x: "at", y: "salience", fill: categorical(0), fillOpacity: 0.75, title: "part" }),
      Plot.ruleX(shown, { x: "at", y1: "low", y2: "high", stroke: "currentColor", strokeWidth: 1.5 }),
      Plot.tickY(shown, { x: "at", y: "tokens", stroke: "currentColor", strokeOpacity: 0.6, strokeWidth: 2 }),
      Plot.ruleY([0], { stroke: "currentColor", strokeOpacity: 0.4 }),
    ],
  };
}
