import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Curve } from "../../api/directions";
import { Chart } from "../../components/Chart";
import { Legend } from "../../components/Legend";
import { categorical } from "../../lib/colours";

interface QuintileProps {
  curves: readonly Curve[];
  name: string;
  title: string;
  description: string;
}

interface Dot {
  corpus: string;
  label: string;
  fifth: number;
  share: number;
  count: number;
  steady: boolean;
  /** Too few for the shares to mean much. */
  few: boolean;
}

/** Where this is the width of the chart, corpora stand beside one another; under it, below. */
const BESIDE = 560;
const FEW = 10;

/** Tokens over the five fifths of each corpus: small multiples. */
export function QuintileChart({ curves, name, title, description }: QuintileProps) {
  const labels = [...new Set(curves.map((one) => one.label))];
  const corpora = [...new Set(curves.map((one) => one.corpus))];
  const plot = useCallback(
    (width: number): Plot.PlotOptions => {
      const dots = curves.flatMap(dotsOf);
      const beside = width >= BESIDE;
      const facet = beside ? { fx: "corpus" } : { fy: "corpus" };
      const channels = { x: "fifth", y: "share", ...facet };
      return {
        height: beside ? 240 : 150 * corpora.length,
        marginLeft: 44,
        marginRight: beside ? 16 : 96,
        marginBottom: 42,
        x: { domain: [1, 5], ticks: [1, 2, 3, 4, 5], tickFormat: "d", label: "fifth, lowest to highest", labelOffset: 34 },
        y: { label: "share", grid: true, zero: true, nice: true },
        fx: { domain: corpora, label: null, padding: 0.12 },
        fy: { domain: corpora, label: null, padding: 0.12 },
        color: { domain: labels, range: labels.map((_, i) => categorical(i)) },
        marks: [
          Plot.ruleY([0.2], { strokeDasharray: "2 3", strokeOpacity: 0.7 }),
          Plot.lineY(dots, { ...channels, z: "label", stroke: "label", strokeWidth: 1.8, strokeOpacity: faint }),
          Plot.dot(
            dots.filter((dot) => dot.steady),
            { ...channels, fill: "label", r: 3.5, fillOpacity: faint, title: said },
          ),
          Plot.dot(
            dots.filter((dot) => !dot.steady),
            { ...channels, stroke: "label", r: 2.5, strokeOpacity: faint, title: said },
          ),
          Plot.text(
            corpora.filter((corpus) => dots.every((dot) => dot.corpus !== corpus)),
            { text: () => "none here", frameAnchor: "middle", fillOpacity: 0.7, ...(beside ? { fx: same } : { fy: same }) },
          ),
        ],
      };
    },
    [curves],
  );
  return (
    <div>
      <Chart plot={plot} name={name} title={title} description={description} />
      <Legend label={title} items={labels.map((label, i) => ({ label, colour: categorical(i) }))} />
    </div>
  );
}

function same(corpus: string): string {
  return corpus;
}

function faint(dot: Dot): number {
  return dot.few ? 0.35 : 1;
}

function said(dot: Dot): string {
  return `${dot.label}, ${dot.corpus}, fifth ${dot.fifth}: ${dot.count} (${(100 * dot.share).toFixed(0)}%)`;
}

function dotsOf(one: Curve): Dot[] {
  const total = one.counts.reduce((sum, count) => sum + count, 0);
  // A word that a corpus does not have has no curve there.
  if (!total) return [];
  return one.counts.map((count, i) => ({
    corpus: one.corpus,
    label: one.label,
    fifth: i + 1,
    share: count / total,
    count,
    steady: one.change !== 0,
    few: total < FEW,
  }));
}
