import { overview, type Overview } from "../api/directions";
import type { SurveyInfo } from "../api/survey";
import { Empty } from "../components/Empty";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Select as SelectField } from "../components/Select";
import { useQuery } from "../lib/query";
import { ConceptForm } from "./directions/ConceptForm";
import { Detail } from "./directions/Detail";
import { PickPanel } from "./directions/PickPanel";
import { useSelected } from "./directions/state";
import { useLive } from "./directions/useLive";
import "./directions/directions.css";

const LEAD =
  "What a neuron, a random direction or a concept of your own picks out in every corpus, and whether its meaning carries from one to the next.";

/** A direction's top sentences in every corpus, side by side. */
export function DirectionsPage({ survey }: { survey: SurveyInfo }) {
  const [selected, select] = useSelected();
  const readings = survey.readings.filter((one) => one === "illusion" || one.startsWith("illusion-"));
  const { data, fault, again } = useQuery(
    readings.length ? `overview ${survey.slug} ${selected.reading}` : null,
    (signal) => overview(survey.slug, selected.reading, signal),
  );
  const choice = readings.length > 1 && (
    <SelectField
      label="Reading"
      value={selected.reading || (readings[0] ?? "")}
      options={readings}
      onChange={(reading) => select({ reading: reading === readings[0] ? "" : reading, offset: "0" })}
    />
  );
  return (
    <Page title="Directions" lead={LEAD} actions={choice}>
      {!readings.length ? (
        <Empty title="This survey has no reading of illusion.">Run it from the survey's page, over two corpora or more.</Empty>
      ) : fault ? (
        <Fault message={fault} again={again} />
      ) : data ? (
        <Contents survey={survey} overview={data} />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

function Contents({ survey, overview }: { survey: SurveyInfo; overview: Overview }) {
  const [selected, select] = useSelected();
  const live = useLive(survey.slug, selected.reading);
  const name = selected.direction || (overview.shown[0] ?? "neuron 0");
  return (
    <div class="directions">
      <PickPanel slug={survey.slug} overview={overview} selected={selected} select={select} shown={name} />
      <div class="stack">
        {selected.concept === "new" && (
          <ConceptForm
            slug={survey.slug}
            reading={selected.reading}
            onFound={(direction) => select({ direction, concept: "" })}
            onClose={() => select({ concept: "" })}
          />
        )}
        <Detail slug={survey.slug} name={name} overview={overview} selected={selected} select={select} live={live} />
      </div>
    </div>
  );
}
