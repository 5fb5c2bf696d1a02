import { layers, type Layers } from "../api/layers";
import type { SurveyInfo } from "../api/survey";
import { Empty } from "../components/Empty";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { useQuery } from "../lib/query";
import { ComparePicker } from "./layers/ComparePicker";
import { ContextPanel } from "./layers/ContextPanel";
import { RoundnessPanel } from "./layers/RoundnessPanel";
import { keyOf, listed, useSelected } from "./layers/state";
import { WordPanel } from "./layers/WordPanel";
import "./layers/layers.css";

const LEAD = "How much context each layer puts into its words, and how round its space is, with intervals and baselines.";

/** Contextuality and isotropy, layer by layer. */
export function LayersPage({ survey }: { survey: SurveyInfo }) {
  const [selected] = useSelected();
  const { data, fault, again } = useQuery(
    `layers ${survey.slug} ${selected.with} ${survey.readings.join()}`,
    (signal) => layers(survey.slug, listed(selected.with), signal),
    { keep: true },
  );
  return (
    <Page title="Layers" lead={LEAD}>
      {fault ? <Fault message={fault} again={again} /> : data ? <Contents survey={survey} data={data} /> : <Loading />}
    </Page>
  );
}

function Contents({ survey, data }: { survey: SurveyInfo; data: Layers }) {
  const [selected, change] = useSelected();
  const legend = keyOf([...data.series, ...data.roundness]);
  if (!data.series.length && !data.roundness.length)
    return (
      <Empty title="This survey has no curves over layers.">
        Run contextuality or isotropy from the survey's page.
      </Empty>
    );
  return (
    <>
      <ComparePicker slug={survey.slug} selected={selected} change={change} />
      <ContextPanel data={data} legend={legend} selected={selected} change={change} />
      {data.series.length > 0 && <WordPanel slug={survey.slug} data={data} legend={legend} selected={selected} change={change} />}
      <RoundnessPanel slug={survey.slug} live={survey.live} data={data} legend={legend} selected={selected} change={change} />
    </>
  );
}
