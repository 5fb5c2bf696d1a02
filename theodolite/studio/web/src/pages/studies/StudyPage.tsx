import { useState } from "preact/hooks";
import { closeStudy, exportPath, type Invitation, reopenStudy, study as askStudy } from "../../api/studies";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Page } from "../../components/Page";
import { Tabs } from "../../components/Tabs";
import { Link, useAddress } from "../../lib/address";
import { download, faultText } from "../../lib/api";
import { day } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { KIND_TITLES } from "./kinds";
import { MergingTab } from "./MergingTab";
import { ProgressTab } from "./ProgressTab";
import { ResultsTab } from "./ResultsTab";

const TABS = [
  { id: "progress", title: "People and progress" },
  { id: "results", title: "Results" },
  { id: "merging", title: "Merge patterns" },
] as const;
type Tab = (typeof TABS)[number]["id"];

/** One study, for its owner. */
export function StudyPage({ id }: { id: number }) {
  const found = useQuery(`study ${id}`, (signal) => askStudy(id, signal));
  const [chosen, change] = useAddress({ tab: "progress" });
  const [fault, setFault] = useState<string>();
  // Told once, so that they must outlive a look at another tab.
  const [links, setLinks] = useState<Invitation[]>([]);
  const study = found.data;
  if (!study) {
    return <Page title="Study">{found.fault ? <Fault message={found.fault} again={found.again} /> : <Loading />}</Page>;
  }
  const doing = (work: Promise<unknown>) => {
    setFault(undefined);
    work.then(found.again, (error: unknown) => setFault(faultText(error)));
  };
  const save = (form: "csv" | "parquet") => doing(download(exportPath(id, form), `study-${id}.${form}`));
  const tabs = TABS.filter((tab) => tab.id !== "merging" || study.kind === "annotation");
  const tab = tabs.find((one) => one.id === chosen.tab)?.id ?? "progress";
  return (
    <Page
      title={study.name}
      lead={
        <>
          <span class="badge">{KIND_TITLES[study.kind]}</span>{" "}
          {study.closed_at ? <span class="badge">closed</span> : <span class="badge good">open</span>} drawn from{" "}
          {study.source.survey ?? "given items"} with seed {study.seed}, {day(study.created_at)}.{" "}
          <Link to="/studies">All studies</Link>
        </>
      }
      actions={
        <>
          <Button onClick={() => save("csv")}>Answers as CSV</Button>
          <Button onClick={() => save("parquet")}>as Parquet</Button>
          {study.closed_at ? (
            <Button onClick={() => doing(reopenStudy(id))}>Reopen</Button>
          ) : (
            <Button kind="danger" onClick={() => doing(closeStudy(id))}>
              Close
            </Button>
          )}
        </>
      }
    >
      {fault && <Fault message={fault} />}
      <Tabs<Tab> label="Parts of the study" tabs={tabs} value={tab} onChange={(next) => change({ tab: next })}>
        {tab === "progress" && <ProgressTab study={study} links={links} onLinks={setLinks} refresh={found.again} />}
        {tab === "results" && <ResultsTab id={id} />}
        {tab === "merging" && <MergingTab id={id} />}
      </Tabs>
    </Page>
  );
}
