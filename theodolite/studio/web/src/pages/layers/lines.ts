import * as Plot from "@observablehq/plot";
import { number } from "../../lib/format";
import type { Key } from "./state";

/** One value of one curve. */
export interface At {
  survey: string;
  corpus: string;
  layer: number;
  value: number | null;
  low: number | null;
  high: number | null;
}

/** One curve: values by layer, with intervals where there are any. */
export interface Line {
  survey: string;
  corpus: string;
  layers: readonly number[];
  value: readonly (number | null)[];
  low?: readonly (number | null)[];
  high?: readonly (number | null)[];
}

export function points(lines: readonly Line[]): At[] {
  return lines.flatMap((line) =>
    line.layers.map((layer, i) => ({
      survey: line.survey,
      corpus: line.corpus,
      layer,
      value: line.value[i] ?? null,
      low: line.low?.[i] ?? null,
      high: line.high?.[i] ?? null,
    })),
  );
}

/** Where a curve comes as near to it, the axis begins at zero. */
const NEAR_ZERO = 0.1;

/** Curves over layers: a colour a corpus, a dash an encoder, a band for the interval, thin dots for baselines. */
export function overLayers(
  lines: readonly Line[],
  baselines: readonly Line[],
  key: Key,
  unit: string,
  width: number,
): Plot.PlotOptions {
  const all = points(lines);
  const banded = all.filter((at) => at.low !== null && at.high !== null);
  const under = points(baselines);
  const lowest = Math.min(...[...all, ...under].map((at) => at.low ?? at.value ?? 1));
  const z = (at: At) => `${at.survey} ${at.corpus}`;
  const most = Math.max(1, ...all.map((at) => at.layer));
  const dashed = (data: readonly At[], survey: string) => data.filter((at) => at.survey === survey);
  return {
    height: width < 500 ? 260 : 340,
    marginLeft: 52,
    marginRight: 16,
    marginBottom: 42,
    x: { label: "layer (0: embeddings)", labelOffset: 34, domain: [0, most], ticks: Math.min(most, 12), tickFormat: "d" },
    y: { label: unit, grid: true, nice: true },
    color: { domain: key.corpora, range: key.corpora.map(key.colour) },
    marks: [
      ...(lowest < NEAR_ZERO ? [Plot.ruleY([0], { strokeOpacity: 0.4 })] : []),
      Plot.areaY(banded, { x: "layer", y1: "low", y2: "high", z, fill: "corpus", fillOpacity: 0.16 }),
      Plot.lineY(under, { x: "layer", y: "value", z, stroke: "corpus", strokeWidth: 1.2, strokeDasharray: "1 3" }),
      ...key.surveys.map((survey) =>
        Plot.lineY(dashed(all, survey), {
          x: "layer",
          y: "value",
          z,
          stroke: "corpus",
          strokeWidth: 2,
          strokeDasharray: key.dash(survey) || undefined,
        }),
      ),
      Plot.dot(all, {
        x: "layer",
        y: "value",
        fill: "corpus",
        r: 2.6,
        title: (at: At) => said(at, key),
      }),
    ],
  };
}

function said(at: At, key: Key): string {
  const ends = at.low === null || at.high === null ? "" : ` (${number(at.low, 3)} to ${number(at.high, 3)})`;
  return `${key.encoder(at.survey)}, ${at.corpus}, layer ${at.layer}: ${number(at.value, 3)}${ends}`;
}
