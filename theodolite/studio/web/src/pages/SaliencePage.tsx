import { useMemo } from "preact/hooks";
import { SalienceApi } from "../api/salience";
import type { SurveyInfo } from "../api/survey";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Select } from "../components/Select";
import { Tabs } from "../components/Tabs";
import { useAddress } from "../lib/address";
import { count } from "../lib/format";
import { useQuery } from "../lib/query";
import { ClustersView } from "./salience/ClustersView";
import { Nothing } from "./salience/Nothing";
import { OverviewView } from "./salience/OverviewView";
import { DEFAULTS, type Here, oneOf, type View } from "./salience/state";
import { TermsView } from "./salience/TermsView";
import { TextsView } from "./salience/TextsView";
import { TryView } from "./salience/TryView";
import "./salience/salience.css";

const VIEWS: readonly { id: View; title: string }[] = [
  { id: "overview", title: "Overview" },
  { id: "clusters", title: "Clusters" },
  { id: "texts", title: "Texts and errors" },
  { id: "try", title: "Try your own" },
  { id: "terms", title: "Terms" },
];

const TITLE = "What does the classifier look at?";

export function SaliencePage({ survey }: { survey: SurveyInfo }) {
  const [at, go] = useAddress(DEFAULTS);
  const api = useMemo(() => new SalienceApi(survey.slug, at.reading), [survey.slug, at.reading]);
  const { data: about, fault, again } = useQuery(api.key("about"), (signal) => api.about(signal));
  if (!about) {
    return <Page title={TITLE}>{fault ? <Fault message={fault} again={again} /> : <Loading />}</Page>;
  }
  if (!about.available) {
    return (
      <Page title={TITLE}>
        <Nothing about={about} />
      </Page>
    );
  }
  const names = about.corpora.map((corpus) => corpus.name);
  const here: Here = {
    api,
    about,
    at,
    go,
    corpus: oneOf(at.corpus, names),
    method: oneOf(at.method, about.methods),
    representation: oneOf(at.representation, about.representations),
  };
  const texts = about.corpora.find((corpus) => corpus.name === here.corpus)?.texts ?? 0;
  return (
    <Page
      title={TITLE}
      lead={`${about.model} on ${here.corpus}: the salience maps of ${count(texts, "text")}, read together.`}
      actions={<Choosers here={here} names={names} />}
    >
      <Tabs label="Salience" tabs={VIEWS} value={viewOf(at.view)} onChange={(view) => go({ view })}>
        <Shown view={viewOf(at.view)} here={here} />
      </Tabs>
    </Page>
  );
}

/** Which corpus, and which reading, where there are several. */
function Choosers({ here, names }: { here: Here; names: readonly string[] }) {
  const { about, at, go } = here;
  return (
    <>
      {names.length > 1 && (
        <Select
          label="Corpus"
          value={here.corpus}
          options={names}
          onChange={(corpus) => go({ corpus, cluster: "", row: "", from: "0" })}
        />
      )}
      {about.readings.length > 1 && (
        <Select
          label="Reading"
          value={oneOf(at.reading, about.readings)}
          options={about.readings}
          onChange={(reading) => go({ reading, cluster: "", row: "", from: "0" })}
        />
      )}
    </>
  );
}

function Shown({ view, here }: { view: View; here: Here }) {
  switch (view) {
    case "clusters":
      return <ClustersView here={here} />;
    case "texts":
      return <TextsView here={here} />;
    case "try":
      return <TryView here={here} />;
    case "terms":
      return <TermsView here={here} />;
    default:
      return <OverviewView here={here} />;
  }
}

function viewOf(given: string): View {
  return VIEWS.find((one) => one.id === given)?.id ?? "overview";
}
