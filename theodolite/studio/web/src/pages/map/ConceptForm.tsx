import { useEffect, useState } from "preact/hooks";
import type { MapApi } from "../../api/map";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { TextArea } from "../../components/TextArea";
import { faultText } from "../../lib/api";
import { useJob } from "../../lib/jobs";

const AT_LEAST = 5;

/** A direction typed as two lists of texts: from those that do not have something to those that do. */
export function ConceptForm({ api, onLearned }: { api: MapApi; onLearned: (direction: string) => void }) {
  const [texts, setTexts] = useState("");
  const [others, setOthers] = useState("");
  const [started, setStarted] = useState<string | null>(null);
  const [fault, setFault] = useState<string>();
  const { job } = useJob<{ name: string }>(started);
  useEffect(() => {
    if (job?.state === "done" && job.result) onLearned(job.result.name);
  }, [job?.state]);
  const sides = [texts, others].map((text) => text.split("\n").filter((line) => line.trim()));
  const enough = sides.every((side) => side.length >= AT_LEAST);
  const learn = () => {
    setFault(undefined);
    api.learnConcept(sides[0] ?? [], sides[1] ?? []).then(
      (begun) => setStarted(begun.id),
      (error: unknown) => setFault(faultText(error)),
    );
  };
  return (
    <div class="map-direction">
      <TextArea label="Texts that have it" note={`One a line, at least ${AT_LEAST}.`} value={texts} onChange={setTexts} onEnter={learn} />
      <TextArea label="Texts that do not" note={`One a line, at least ${AT_LEAST}.`} value={others} onChange={setOthers} onEnter={learn} />
      <Button kind="primary" onClick={learn} disabled={!enough}>
        Find the direction
      </Button>
      {job && job.state !== "done" && <JobProgress job={job} />}
      {fault && <Fault message={fault} />}
    </div>
  );
}
