import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Truth } from "../../api/compare";
import { Chart } from "../../components/Chart";
import { Legend } from "../../components/Legend";
import { categorical, OTHER } from "../../lib/colours";

const TOP = "top layers";
const WHOLE = "whole model";
const RANDOM = "random";

/** The curves of both tests, a colour a method. */
export function TruthCharts({ truth }: { truth: Truth }) {
  const methods = [...new Set(truth.deletion.map((row) => row.method))];
  const colours = methods.map((name, i) => (name === RANDOM ? OTHER : categorical(i)));
  const names = methods.join(" ");
  const drawn = useCallback((width: number) => drawnOptions(truth, width, methods, colours), [truth, names]);
  const fallen = useCallback((width: number) => fallenOptions(truth, width, methods, colours), [truth, names]);
  return (
    <div class="stack">
      <Legend
        label="Methods"
        items={methods.map((name, i) => ({ label: name === RANDOM ? "random order" : name, colour: colours[i] ?? OTHER }))}
      />
      <div class="columns">
        <Chart
          plot={drawn}
          title="Does it depend on the weights?"
          name="compare-randomisation"
          description={`Rank correlation of the words' saliencies with the trained model's, as layers are drawn anew from the top and, at the right, all weights. A sound method falls. Bands: 95% intervals over ${truth.seeds} drawings.`}
        />
        <Chart
          plot={fallen}
          title="Does the cosine fall when salient words go?"
          name="compare-deletion"
          description={`Fall of the cosine by the share of words deleted, most salient first, mean of both texts. Higher is better. Grey: random order, with the 95% interval over ${truth.orders} orders.`}
        />
      </div>
    </div>
  );
}

function drawnOptions(truth: Truth, width: number, methods: string[], colours: string[]): Plot.PlotOptions {
  const tops = Math.max(0, ...truth.randomisation.filter((row) => row.change === TOP).map((row) => row.layers));
  const rows = truth.randomisation
    .filter((row) => (row.change === TOP || row.change === WHOLE) && row.correlation !== null)
    .map((row) => ({ ...row, at: row.change === WHOLE ? tops + 1 : row.layers }));
  const ticks = Array.from({ length: tops + 1 }, (_, i) => i + 1);
  return {
    width,
    height: 260,
    marginRight: 24,
    x: { label: "layers drawn anew, from the top", ticks, tickFormat: (at: number) => (at > tops ? "all" : String(at)) },
    y: { label: "rank correlation", grid: true, domain: [Math.min(-0.2, ...rows.map((row) => row.correlation_low ?? 0)), 1.02] },
    color: { domain: methods, range: colours },
    marks: [
      Plot.ruleY([0]),
      Plot.areaY(rows, { x: "at", y1: "correlation_low", y2: "correlation_high", fill: "method", fillOpacity: 0.15, z: "method" }),
      Plot.lineY(rows, { x: "at", y: "correlation", stroke: "method", z: "method" }),
      Plot.dot(rows, { x: "at", y: "correlation", fill: "method", r: 2.5 }),
    ],
  };
}

function fallenOptions(truth: Truth, width: number, methods: string[], colours: string[]): Plot.PlotOptions {
  const random = truth.curves.filter((point) => point.method === RANDOM);
  return {
    width,
    height: 260,
    marginRight: 24,
    x: { label: "share of words deleted", tickFormat: "%" },
    y: { label: "fall of the cosine", grid: true },
    color: { domain: methods, range: colours },
    marks: [
      Plot.ruleY([0]),
      Plot.areaY(random, { x: "fraction", y1: "low", y2: "high", fill: OTHER, fillOpacity: 0.2 }),
      Plot.lineY(truth.curves, {
        x: "fraction",
        y: "fall",
        stroke: "method",
        z: "method",
        strokeWidth: 1.75,
      }),
    ],
  };
}
