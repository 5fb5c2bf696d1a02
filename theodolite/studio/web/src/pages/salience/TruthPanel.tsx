import * as Plot from "@observablehq/plot";
import { useCallback, useState } from "preact/hooks";
import type { FaithfulnessRow } from "../../api/salience";
import { Chart } from "../../components/Chart";
import { Empty } from "../../components/Empty";
import { Legend } from "../../components/Legend";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { categorical, OTHER } from "../../lib/colours";

type What = "comprehensiveness" | "sufficiency";

/** Of several targets each has a random order of its own. */
const isRandom = (method: string) => method === "random" || method.startsWith("random of ");
const SAID: Record<What, string> = {
  comprehensiveness: "when the most salient tokens are masked: more is better.",
  sufficiency: "when all but the most salient tokens are masked: less is better.",
};
/** What is measured: a regression has no probability that could fall. */
const measured = (regression: boolean) => (regression ? "change of the answer" : "fall of the answer's probability");

/** Whether the salient tokens are those that the answer rests on, beside a random order of tokens. */
export function TruthPanel({ rows, regression }: { rows: readonly FaithfulnessRow[]; regression: boolean }) {
  const [what, setWhat] = useState<What>("comprehensiveness");
  const methods = [...new Set(rows.map((row) => row.method))];
  const colour = (method: string) => (isRandom(method) ? OTHER : categorical(methods.indexOf(method)));
  const plot = useCallback((width: number) => drawn(rows, what, measured(regression), width), [rows, what, regression]);
  return (
    <Panel title="Are the maps true?" note="Judged by masking, beside a random order of the tokens.">
      {rows.length === 0 ? (
        <Empty title="Not tested">Run the reading with --faithful 200.</Empty>
      ) : (
        <div class="stack">
          <Select
            label="Test"
            value={what}
            options={[
              { value: "comprehensiveness", label: "the salient tokens masked" },
              { value: "sufficiency", label: "all others masked" },
            ]}
            onChange={(value) => setWhat(value as What)}
          />
          <Legend items={methods.map((method) => ({ label: method, colour: colour(method) }))} label="Methods" />
          <Chart
            plot={plot}
            title={what === "comprehensiveness" ? "Masking the salient tokens" : "Keeping only the salient tokens"}
            name={`faithfulness-${what}`}
            description={`Mean ${measured(regression)} ${SAID[what]} Over ${rows[0]?.n ?? 0} texts with 95% intervals.`}
          />
        </div>
      )}
    </Panel>
  );
}

function drawn(rows: readonly FaithfulnessRow[], what: What, said: string, width: number): Plot.PlotOptions {
  const methods = [...new Set(rows.map((row) => row.method))];
  const data = rows.map((row) => ({
    method: row.method,
    k: String(row.k),
    mean: row[what],
    low: row[`${what}_low`],
    high: row[`${what}_high`],
  }));
  const steps = [...new Set(rows.map((row) => row.k))].sort((a, b) => a - b).map(String);
  return {
    width,
    height: 230,
    marginLeft: 46,
    marginBottom: 40,
    x: { type: "point", domain: steps, label: what === "comprehensiveness" ? "tokens masked" : "tokens kept", labelOffset: 34 },
    y: { grid: true, label: said },
    color: {
      domain: methods,
      range: methods.map((method, i) => (isRandom(method) ? OTHER : categorical(i))),
    },
    marks: [
      Plot.ruleY([0], { stroke: "currentColor", strokeOpacity: 0.4 }),
      Plot.areaY(data, { x: "k", y1: "low", y2: "high", fill: "method", fillOpacity: 0.15 }),
      Plot.lineY(data, { x: "k", y: "mean", stroke: "method", strokeWidth: 2 }),
      Plot.dot(data, { x: "k", y: "mean", fill: "method", r: 3.5, title: (d: { method: string }) => d.method }),
    ],
  };
}
