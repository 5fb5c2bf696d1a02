import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Measure, Roundness } from "../../api/layers";
import { Chart } from "../../components/Chart";
import { capital, number } from "../../lib/format";
import { CLOUD, ends, methodName } from "./roundness";
import type { Key } from "./state";

interface MethodsProps {
  rows: readonly Roundness[];
  measure: Measure;
  layer: number;
  legend: Key;
}

interface Dot {
  survey: string;
  corpus: string;
  method: string;
  place: string;
  value: number;
  low: number | null;
  high: number | null;
  said: string;
}

const BESIDE = 560;
/** How encoders are told apart where corpora have the colours. */
const SYMBOLS = [
  ["circle", "circles"],
  ["diamond", "diamonds"],
  ["triangle", "triangles"],
  ["square", "squares"],
  ["star", "stars"],
] as const;
/** Pixels between the marks of two encoders. */
const APART = 9;

/** One layer: the space as it is and after each method, with intervals, a panel a corpus. */
export function MethodsChart({ rows, measure, layer, legend }: MethodsProps) {
  const plot = useCallback((width: number) => options(rows, measure, legend, width), [rows, measure]);
  const encoders = legend.surveys.map((survey, i) => `${symbol(i)[1]} are ${legend.encoder(survey)}`).join(", ");
  return (
    <Chart
      plot={plot}
      name={`isotropy-${measure.name}-layer-${layer}`}
      title={`${measure.title}, layer ${layer}: as it is, and after each method`}
      description={`Marks with 95% intervals as bars; the dashed line is a round cloud of as many vectors, which is as good as it gets.${
        legend.surveys.length > 1 ? ` ${capital(encoders)}.` : ""
      }`}
    />
  );
}

function options(rows: readonly Roundness[], measure: Measure, legend: Key, width: number): Plot.PlotOptions {
  const dots = rows.flatMap((one) => dotOf(one, measure.name, legend));
  const after = dots.filter((dot) => dot.method !== CLOUD);
  const cloud = dots.filter((dot) => dot.method === CLOUD);
  const places = [...new Set(after.map((dot) => dot.place))];
  const corpora = legend.corpora.filter((corpus) => dots.some((dot) => dot.corpus === corpus));
  const beside = width >= BESIDE;
  const facet = beside ? { fx: "corpus" } : { fy: "corpus" };
  const longest = Math.max(8, ...places.map((place) => place.length));
  const tall = (20 + APART * legend.surveys.length) * places.length + 16;
  const named = { fy: (corpus: string) => corpus, text: (corpus: string) => corpus };
  return {
    height: (beside ? tall : (tall + 14) * corpora.length) + 70,
    marginLeft: Math.min(longest * 7.2 + 18, width * 0.45),
    marginRight: 16,
    marginTop: 28,
    marginBottom: 42,
    x: { label: `${measure.title} (${measure.unit})`, labelOffset: 34, grid: true, nice: true, ticks: beside ? 3 : 5 },
    y: { domain: places, label: null },
    fx: { domain: corpora, label: null, padding: 0.1 },
    fy: { domain: corpora, label: null, axis: null, padding: 0.25 },
    color: { domain: legend.corpora, range: legend.corpora.map(legend.colour) },
    marks: [
      ...(beside ? [] : [Plot.text(corpora, { ...named, frameAnchor: "top-right", dy: -14, fontWeight: 600 })]),
      Plot.ruleX(cloud, { x: "value", ...facet, strokeDasharray: "3 3", strokeOpacity: 0.8, title: "said" }),
      ...legend.surveys.flatMap((survey, i) => {
        const mine = after.filter((dot) => dot.survey === survey);
        const dy = (i - (legend.surveys.length - 1) / 2) * APART;
        const bar = { x1: "low", x2: "high", y: "place", ...facet, dy, stroke: "corpus", strokeWidth: 8, strokeOpacity: 0.45 };
        const mark = { x: "value", y: "place", ...facet, dy, fill: "corpus", r: 3, symbol: symbol(i)[0], title: "said" };
        return [Plot.ruleY(mine.filter(hasEnds), bar), Plot.dot(mine, mark)];
      }),
    ],
  };
}

function symbol(i: number): (typeof SYMBOLS)[number] {
  return SYMBOLS[i % SYMBOLS.length] ?? SYMBOLS[0];
}

function hasEnds(dot: Dot): boolean {
  return dot.low !== null && dot.high !== null;
}

function dotOf(one: Roundness, measure: string, legend: Key): Dot[] {
  const [value, low, high] = one.measures[measure] ?? [null, null, null];
  // Not defined, as the partition is after whitening: the table says why.
  if (value === null) return [];
  const place = methodName(one.method);
  const said = `${legend.encoder(one.survey)}, ${one.corpus}, ${place}: ${number(value, 3)} (${ends(one, measure)})`;
  return [{ survey: one.survey, corpus: one.corpus, method: one.method, place, value, low, high, said }];
}
