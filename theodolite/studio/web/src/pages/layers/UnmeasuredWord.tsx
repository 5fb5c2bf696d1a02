import { useEffect, useState } from "preact/hooks";
import { measureWord, type Word } from "../../api/layers";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { faultText } from "../../lib/api";
import { isOver, useJob } from "../../lib/jobs";

/** Where a word was not measured, and a way to measure it now. */
export function UnmeasuredWord({ slug, found, again }: { slug: string; found: Word; again: () => void }) {
  const [started, setStarted] = useState<string | null>(null);
  const [fault, setFault] = useState<string>();
  const id = started ?? found.job;
  const { job, fault: lost } = useJob(id);
  const done = job?.state === "done";
  useEffect(() => {
    if (done) again();
  }, [done]);
  const start = () => {
    setFault(undefined);
    measureWord(slug, found.word).then(
      (begun) => setStarted(begun.id),
      (error: unknown) => setFault(faultText(error)),
    );
  };
  const where = found.missing.join(", ");
  if (found.sought) return <p class="muted small">“{found.word}” occurs less than twice in {where}.</p>;
  return (
    <div class="unmeasured stack">
      <p>
        {found.measured
          ? `“${found.word}” was not measured in ${where}: it is in too few of their texts, or was not drawn.`
          : `“${found.word}” was not measured: it is in too few texts, or was not drawn for the sample.`}
      </p>
      {found.reason ? (
        <p class="muted small">It cannot be measured now: {found.reason}</p>
      ) : job && (!isOver(job) || job.state === "failed") ? (
        <JobProgress job={job} again={start} />
      ) : (
        <div>
          <Button onClick={start}>Measure it over all corpora</Button>{" "}
          <span class="small muted">one pass of the model over every text; it can be cancelled</span>
        </div>
      )}
      {(fault ?? lost) && <Fault message={fault ?? lost ?? ""} again={start} />}
    </div>
  );
}
