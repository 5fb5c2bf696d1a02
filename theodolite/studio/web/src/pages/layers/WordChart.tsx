import { useCallback } from "preact/hooks";
import type { Layers, Word, WordSeries } from "../../api/layers";
import { Chart } from "../../components/Chart";
import { DataTable } from "../../components/DataTable";
import { KeyLegend } from "./KeyLegend";
import { overLayers, type Line } from "./lines";
import { listed, type Key, type Selected } from "./state";

interface WordChartProps {
  found: Word;
  data: Layers;
  legend: Key;
  selected: Selected;
}

const OWN = ["self_similarity", "self_similarity_adjusted", "mev", "mev_adjusted"];

/** A word's curves, with the mean of all words under each. */
export function WordChart({ found, data, legend, selected }: WordChartProps) {
  // A word has no measure of whole sentences: then its self-similarity is shown.
  const name = OWN.includes(selected.measure) ? selected.measure : "self_similarity_adjusted";
  const measure = data.measures.find((one) => one.name === name);
  const hidden = listed(selected.hidden);
  const shown = found.series.filter((one) => !hidden.includes(one.corpus) && one.measures[name]);
  const plot = useCallback(
    (width: number) => {
      const means = data.series.filter((all) => shown.some((one) => one.survey === all.survey && one.corpus === all.corpus));
      return overLayers(
        shown.map((one) => lineOf(one, name)),
        means.map((all) => ({ survey: all.survey, corpus: all.corpus, layers: all.layers, value: all.measures[name]?.value ?? [] })),
        legend,
        measure?.unit ?? "",
        width,
      );
    },
    [found, data, name, selected.hidden],
  );
  return (
    <div class="stack">
      {shown.length ? (
        <>
          <Chart
            plot={plot}
            name={`word-${found.word}`}
            title={`“${found.word}”: ${measure?.title ?? name}`}
            description="One line a corpus that it was measured in; thin dots are the mean of all words there. A single word has no interval: it is all there is of it in these texts."
          />
          <KeyLegend legend={legend} baseline="the mean of all words" />
        </>
      ) : (
        <p class="muted">This measure was not taken of “{found.word}”: only some words are drawn for it.</p>
      )}
      <DataTable
        caption={`Where “${found.word}” was met`}
        rows={found.series}
        rowKey={(one) => `${one.survey} ${one.corpus}`}
        heading="corpus"
        columns={[
          { key: "corpus", title: "Corpus", value: (one) => one.corpus },
          ...(legend.surveys.length > 1
            ? [{ key: "encoder", title: "Encoder", value: (one: WordSeries) => legend.encoder(one.survey) }]
            : []),
          { key: "contexts", title: "Texts", value: (one) => one.contexts },
          { key: "occurrences", title: "Occurrences", value: (one) => one.occurrences },
          { key: "last", title: "Last layer", digits: 3, value: (one) => one.measures[name]?.at(-1), align: "right" },
          { key: "live", title: "Measured", value: (one) => (one.live ? "now" : "in the survey") },
        ]}
      />
    </div>
  );
}

function lineOf(one: WordSeries, name: string): Line {
  const value = one.measures[name] ?? [];
  return { survey: one.survey, corpus: one.corpus, layers: value.map((_, layer) => layer), value };
}
