import type { Layers } from "../../api/layers";
import { DataTable } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { number } from "../../lib/format";
import { AllLayers } from "./AllLayers";
import { KeyLegend } from "./KeyLegend";
import { MethodsChart } from "./MethodsChart";
import { RoundnessCurves } from "./RoundnessCurves";
import { ends, methodName } from "./roundness";
import { listed, type Change, type Key, type Selected } from "./state";

interface RoundnessProps {
  slug: string;
  live: boolean;
  data: Layers;
  legend: Key;
  selected: Selected;
  change: Change;
}

/** How round the space is, before and after each method. */
export function RoundnessPanel({ slug, live, data, legend, selected, change }: RoundnessProps) {
  const measure = data.roundness_measures.find((one) => one.name === selected.round) ?? data.roundness_measures[0];
  const spaces = [...new Set(data.roundness.map((one) => one.space))];
  const space = spaces.includes(selected.space) ? selected.space : (spaces[0] ?? "");
  const hidden = listed(selected.hidden);
  const mine = data.roundness.filter((one) => one.space === space && !hidden.includes(one.corpus));
  const layers = [...new Set(mine.map((one) => one.layer))].sort((a, b) => a - b);
  const layer = layers.includes(Number(selected.layer)) && selected.layer ? Number(selected.layer) : (layers.at(-1) ?? 0);
  const own = new Set(mine.filter((one) => one.survey === slug).map((one) => one.layer));
  if (!measure || !data.roundness.length)
    return (
      <Panel title="How round the space is">
        <Empty title="This survey has no reading of isotropy.">Run it from the survey's page.</Empty>
      </Panel>
    );
  const here = mine.filter((one) => one.layer === layer);
  const fitted = here.some((one) => one.fitted_on === "evaluated");
  return (
    <Panel title="How round the space is" note={measure.explanation}>
      <div class="stack">
        <div class="layers-controls">
          <Select
            label="Measure of roundness"
            value={measure.name}
            options={data.roundness_measures.map((one) => ({ value: one.name, label: one.title }))}
            onChange={(name) => change({ round: name })}
          />
          {layers.length > 1 && (
            <Select
              label="Layer"
              value={String(layer)}
              options={layers.map(String)}
              onChange={(next) => change({ layer: next === String(layers.at(-1)) ? "" : next })}
            />
          )}
          {spaces.length > 1 && (
            <Select label="Vectors of" value={space} options={spaces} onChange={(next) => change({ space: next })} />
          )}
        </div>
        <KeyLegend legend={legend} hidden={hidden} />
        <MethodsChart rows={here} measure={measure} layer={layer} legend={legend} />
        {fitted && (
          <p class="small muted">Each method is fitted on the very vectors that it is judged on, unlabelled, as in the survey.</p>
        )}
        {layers.length > 1 && <RoundnessCurves rows={mine} measure={measure} legend={legend} />}
        {own.size === 1 && <AllLayers slug={slug} layer={[...own][0] ?? 0} live={live} />}
        <details>
          <summary class="small">The numbers, with their intervals</summary>
          <DataTable
            caption={`${measure.title} in layer ${layer}`}
            hideCaption
            rows={here}
            rowKey={(one) => `${one.survey} ${one.corpus} ${one.method}`}
            columns={[
              { key: "corpus", title: "Corpus", value: (one) => one.corpus },
              { key: "method", title: "Method", value: (one) => methodName(one.method) },
              { key: "value", title: measure.title, align: "right", value: (one) => one.measures[measure.name]?.[0], digits: 3 },
              {
                key: "interval",
                title: "95% interval",
                align: "right",
                value: (one) => one.measures[measure.name]?.[1],
                cell: (one) => ends(one, measure.name),
              },
              { key: "vectors", title: "Vectors", value: (one) => one.vectors, cell: (one) => number(one.vectors) },
              { key: "reason", title: "Note", value: (one) => one.reason ?? "" },
            ]}
          />
        </details>
      </div>
    </Panel>
  );
}
