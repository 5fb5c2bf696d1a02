import { useEffect, useState } from "preact/hooks";
import { runInstrument } from "../../api/survey";
import { useSurveys } from "../../app/surveys";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { faultText } from "../../lib/api";
import { useJob } from "../../lib/jobs";

/** Where one layer alone was measured: measure all of them, and show the curves then. */
export function AllLayers({ slug, layer, live }: { slug: string; layer: number; live: boolean }) {
  const [id, setId] = useState<string | null>(null);
  const [fault, setFault] = useState<string>();
  const { job, fault: lost } = useJob(id);
  const { refresh } = useSurveys();
  const done = job?.state === "done";
  useEffect(() => {
    if (done) refresh();
  }, [done]);
  const start = () => {
    setFault(undefined);
    runInstrument(slug, "isotropy", { layer: "all" }).then(
      (begun) => setId(begun.id),
      (error: unknown) => setFault(faultText(error)),
    );
  };
  return (
    <div class="stack">
      <div class="row row-centre">
        <span class="small muted">The survey measured layer {layer} alone.</span>
        {live && (
          <Button compact onClick={start} disabled={id !== null && job?.state !== "failed" && job?.state !== "cancelled"}>
            Measure every layer
          </Button>
        )}
      </div>
      {job && job.state !== "done" && <JobProgress job={job} again={start} />}
      {(fault ?? lost) && <Fault message={fault ?? lost ?? ""} again={start} />}
    </div>
  );
}
