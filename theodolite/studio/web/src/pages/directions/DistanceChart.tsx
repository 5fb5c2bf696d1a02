import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Histogram } from "../../api/directions";
import { Chart } from "../../components/Chart";
import { Legend } from "../../components/Legend";
import { categorical } from "../../lib/colours";
import { number } from "../../lib/format";

const SETS = [
  ["nearest", "their nearest neighbours"],
  ["top", "each other"],
  ["random", "random sentences"],
] as const;
const BESIDE = 560;

interface Bin {
  corpus: string;
  set: string;
  x1: number;
  x2: number;
  mass: number;
}

/** The three sets of dot products that locality compares, a small histogram a corpus. */
export function DistanceChart({ histograms, name }: { histograms: readonly Histogram[]; name: string }) {
  const plot = useCallback(
    (width: number): Plot.PlotOptions => {
      const corpora = histograms.map((one) => one.corpus);
      const bins = histograms.flatMap(binsOf);
      const beside = width >= BESIDE;
      const facet = beside ? { fx: "corpus" } : { fy: "corpus" };
      const sets = SETS.map(([set]) => set);
      return {
        height: beside ? 240 : 150 * corpora.length,
        marginLeft: 44,
        marginRight: beside ? 16 : 96,
        marginBottom: 42,
        x: { label: "dot product", ticks: 4, labelOffset: 34 },
        y: { label: "share of pairs", grid: true, nice: true },
        fx: { domain: corpora, label: null, padding: 0.12 },
        fy: { domain: corpora, label: null, padding: 0.12 },
        color: { domain: sets, range: sets.map((_, i) => categorical(i)) },
        marks: [
          // Not stacked: where they overlap is what matters.
          Plot.rect(
            bins.filter((bin) => bin.set !== "top"),
            { x1: "x1", x2: "x2", y1: 0, y2: "mass", ...facet, fill: "set", fillOpacity: 0.45, insetRight: 0 },
          ),
          Plot.lineY(
            bins.filter((bin) => bin.set === "top"),
            { x: "x1", y: "mass", ...facet, z: "corpus", stroke: "set", strokeWidth: 1.8, curve: "step-after" },
          ),
          Plot.ruleY([0]),
        ],
      };
    },
    [histograms],
  );
  const scores = histograms.map(
    (one) => `${one.corpus} ${number(one.locality, 3)} against a control of ${number(one.control, 3)}`,
  );
  return (
    <div>
      <Chart
        plot={plot}
        name={name}
        title="Dot products of the top sentences with…"
        description={`Where “each other” lies on “nearest neighbours”, the pattern comes from one neighbourhood. Overlap of these two: ${scores.join("; ")} (the overlap of “each other” and “random sentences”). Random sentences are drawn anew, so these differ a little from the reading's.`}
      />
      <Legend label="Sets" items={SETS.map(([, label], i) => ({ label, colour: categorical(i) }))} />
    </div>
  );
}

function binsOf(one: Histogram): Bin[] {
  const width = (one.high - one.low) / one.top.length;
  return SETS.flatMap(([set]) =>
    one[set].map((mass, i) => ({
      corpus: one.corpus,
      set,
      x1: one.low + i * width,
      x2: one.low + (i + 1) * width,
      mass,
    })),
  );
}
