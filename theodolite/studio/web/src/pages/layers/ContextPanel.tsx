import { useCallback } from "preact/hooks";
import type { Layers, Series } from "../../api/layers";
import { Chart } from "../../components/Chart";
import { DataTable } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { interval, number } from "../../lib/format";
import { KeyLegend } from "./KeyLegend";
import { overLayers, type Line } from "./lines";
import { listed, toggled, type Change, type Key, type Selected } from "./state";

interface ContextProps {
  data: Layers;
  legend: Key;
  selected: Selected;
  change: Change;
}

/** The curves of contextuality, with intervals and baselines. */
export function ContextPanel({ data, legend, selected, change }: ContextProps) {
  const measure = data.measures.find((one) => one.name === selected.measure) ?? data.measures[0];
  const hidden = listed(selected.hidden);
  const shown = data.series.filter((one) => !hidden.includes(one.corpus));
  const plot = useCallback(
    (width: number) => {
      const baseline = measure?.baseline;
      return overLayers(
        shown.map((one) => lineOf(one, measure?.name ?? "")),
        baseline ? shown.map((one) => lineOf(one, baseline)) : [],
        legend,
        measure?.unit ?? "",
        width,
      );
    },
    [data, measure?.name, selected.hidden],
  );
  if (!data.series.length || !measure)
    return (
      <Panel title="Context, layer by layer">
        <Empty title="This survey has no reading of contextuality.">Run it from the survey's page.</Empty>
      </Panel>
    );
  return (
    <Panel title="Context, layer by layer" note={measure.explanation}>
      <div class="stack">
        <div class="layers-controls">
          <Select
            label="Measure"
            value={measure.name}
            options={data.measures.map((one) => ({ value: one.name, label: one.title }))}
            onChange={(name) => change({ measure: name })}
          />
        </div>
        <KeyLegend
          legend={legend}
          hidden={hidden}
          onToggle={(corpus) => change({ hidden: toggled(selected.hidden, corpus) }, "replace")}
          baseline={measure.baseline_title}
        />
        <Chart
          plot={plot}
          name={`layers-${measure.name}`}
          title={measure.title}
          description={`By layer, with 95% intervals as bands${measure.baseline_title ? `; thin dots are the baseline, ${measure.baseline_title}` : ""}.`}
        />
        <Table series={shown} measure={measure.name} legend={legend} />
      </div>
    </Panel>
  );
}

function lineOf(one: Series, measure: string): Line {
  const band = one.measures[measure];
  return { survey: one.survey, corpus: one.corpus, layers: one.layers, value: band?.value ?? [], low: band?.low, high: band?.high };
}

function Table({ series, measure, legend }: { series: readonly Series[]; measure: string; legend: Key }) {
  const depth = Math.max(0, ...series.map((one) => one.layers.length));
  const several = legend.surveys.length > 1;
  return (
    <details>
      <summary class="small">The numbers, with their intervals</summary>
      <DataTable
        caption="Values by corpus and layer"
        hideCaption
        rows={series}
        rowKey={(one) => `${one.survey} ${one.corpus}`}
        heading="corpus"
        columns={[
          { key: "corpus", title: "Corpus", value: (one) => one.corpus },
          ...(several ? [{ key: "encoder", title: "Encoder", value: (one: Series) => legend.encoder(one.survey) }] : []),
          { key: "words", title: "Words", value: (one) => one.words },
          { key: "texts", title: "Texts", value: (one) => one.texts },
          ...Array.from({ length: depth }, (_, layer) => ({
            key: `layer ${layer}`,
            title: `Layer ${layer}`,
            align: "right" as const,
            value: (one: Series) => one.measures[measure]?.value[layer],
            cell: (one: Series) => {
              const band = one.measures[measure];
              return <span title={interval(band?.low[layer], band?.high[layer], 3)}>{number(band?.value[layer], 3)}</span>;
            },
          })),
        ]}
      />
    </details>
  );
}
