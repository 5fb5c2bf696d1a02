import { useState } from "preact/hooks";
import { faultText } from "../lib/api";
import { count, number } from "../lib/format";
import { cancelJob, isOver, type Job } from "../lib/jobs";
import { Button } from "./Button";
import { Fault } from "./Fault";
import { ProgressBar } from "./ProgressBar";

/** How far a job is, with a button that stops it; when it failed, why. */
export function JobProgress({ job, again }: { job: Job; again?: () => void }) {
  const [stopping, setStopping] = useState(false);
  const [fault, setFault] = useState<string>();
  if (job.state === "failed") return <Fault message={job.error ?? `${job.title} failed.`} again={again} />;
  const stop = () => {
    setStopping(true);
    cancelJob(job.id).catch((error: unknown) => {
      setStopping(false);
      setFault(faultText(error));
    });
  };
  return (
    <div class="job">
      <div class="job-line">
        <span>
          <strong>{job.title}</strong> <span class="muted">{said(job)}</span>
        </span>
        {!isOver(job) && (
          <Button compact onClick={stop} disabled={stopping} label={stopping ? undefined : `Cancel: ${job.title}`}>
            {stopping ? "Stopping…" : "Cancel"}
          </Button>
        )}
      </div>
      {!isOver(job) && <ProgressBar label={job.title} done={job.done} total={job.total} />}
      {fault && <Fault message={fault} />}
      <span class="hidden-visually" role="status">
        {isOver(job) ? `${job.title}: ${job.state}` : ""}
      </span>
    </div>
  );
}

function said(job: Job): string {
  if (job.state === "waiting") return "waiting for its turn";
  if (isOver(job)) return job.state;
  const far = job.total ? `${number(job.done)} of ${number(job.total)}` : job.done ? count(job.done, "step") : "";
  return [job.step, far].filter(Boolean).join(" · ");
}
