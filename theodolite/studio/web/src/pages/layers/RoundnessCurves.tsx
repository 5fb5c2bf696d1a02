import { useCallback } from "preact/hooks";
import type { Measure, Roundness } from "../../api/layers";
import { Chart } from "../../components/Chart";
import { overLayers, type Line } from "./lines";
import { CLOUD } from "./roundness";
import type { Key } from "./state";

/** The space as it is, layer by layer, with the round cloud as its baseline. */
export function RoundnessCurves({ rows, measure, legend }: { rows: readonly Roundness[]; measure: Measure; legend: Key }) {
  const plot = useCallback(
    (width: number) =>
      overLayers(linesOf(rows, "none", measure.name), linesOf(rows, CLOUD, measure.name), legend, measure.unit, width),
    [rows, measure],
  );
  return (
    <Chart
      plot={plot}
      name={`isotropy-${measure.name}`}
      title={`${measure.title}, layer by layer`}
      description="The space as it is, with 95% intervals as bands; thin dots are a round cloud of as many vectors."
    />
  );
}

function linesOf(rows: readonly Roundness[], method: string, measure: string): Line[] {
  const found = new Map<string, Roundness[]>();
  for (const one of rows) {
    if (one.method !== method) continue;
    const key = `${one.survey} ${one.corpus}`;
    found.set(key, [...(found.get(key) ?? []), one]);
  }
  return [...found.values()].map((mine) => ({
    survey: mine[0]?.survey ?? "",
    corpus: mine[0]?.corpus ?? "",
    layers: mine.map((one) => one.layer),
    value: mine.map((one) => one.measures[measure]?.[0] ?? null),
    low: mine.map((one) => one.measures[measure]?.[1] ?? null),
    high: mine.map((one) => one.measures[measure]?.[2] ?? null),
  }));
}
