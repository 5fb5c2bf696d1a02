import { about, ready } from "../api/compare";
import type { SurveyInfo } from "../api/survey";
import { Empty } from "../components/Empty";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Tabs } from "../components/Tabs";
import { Link, useAddress } from "../lib/address";
import { capital } from "../lib/format";
import { useQuery } from "../lib/query";
import { CatalogueTab } from "./compare/CatalogueTab";
import "./compare/compare.css";
import { TextsTab } from "./compare/TextsTab";

type Tab = "texts" | "catalogue";

export function ComparePage({ survey }: { survey: SurveyInfo }) {
  const { slug } = survey;
  const known = useQuery(`compare ${slug}`, (signal) => about(slug, signal));
  const live = known.data !== undefined && known.data.why === "";
  const loaded = useQuery(live ? `compare ready ${slug}` : null, (signal) => ready(slug, signal));
  const [{ tab }, go] = useAddress<{ tab: Tab; job: string }>({ tab: "texts", job: "" });
  return (
    <Page title="Compare" lead={`Which words make two paragraphs similar to ${survey.encoder.name}?`}>
      {known.loading && <Loading what="Looking at what can be compared" />}
      {known.fault && <Fault message={known.fault} again={known.again} />}
      {loaded.fault && <Fault message={loaded.fault} again={loaded.again} />}
      {loaded.data?.classifier && (
        <p class="compare-hint">
          {survey.encoder.name} is a classifier. What is compared here is the encoder that it stands on; what its answers
          rest on is on the <Link to={`/s/${encodeURIComponent(slug)}/salience`}>Salience</Link> page.
        </p>
      )}
      {known.data && known.data.why !== "" && (
        <Empty title="This encoder cannot be asked">
          <p>{capital(known.data.why)}.</p>
        </Empty>
      )}
      {known.data && (live || known.data.catalogues.length > 0) && (
        <Tabs
          label="What is compared"
          tabs={[
            { id: "texts", title: "Two texts" },
            { id: "catalogue", title: "Catalogue" },
          ]}
          value={tab}
          onChange={(next) => go({ tab: next, job: "" })}
        >
          {tab === "catalogue" ? (
            <CatalogueTab slug={slug} about={known.data} />
          ) : (
            live && <TextsTab slug={slug} about={known.data} waking={loaded.loading} />
          )}
        </Tabs>
      )}
    </Page>
  );
}
