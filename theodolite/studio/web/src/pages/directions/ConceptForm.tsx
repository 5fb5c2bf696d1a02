import { useEffect, useState } from "preact/hooks";
import { learnConcept } from "../../api/directions";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { Panel } from "../../components/Panel";
import { TextArea } from "../../components/TextArea";
import { TextField } from "../../components/TextField";
import { faultText } from "../../lib/api";
import { count } from "../../lib/format";
import { isOver, useJob } from "../../lib/jobs";
import { EXAMPLES } from "./examples";

const AT_LEAST = 5;
const AT_MOST = 200;

interface FormProps {
  slug: string;
  reading: string;
  onFound: (name: string) => void;
  onClose: () => void;
}

/** A concept typed as two lists of texts, one a line. */
export function ConceptForm({ slug, reading, onFound, onClose }: FormProps) {
  const [title, setTitle] = useState("");
  const [texts, setTexts] = useState("");
  const [others, setOthers] = useState("");
  const [id, setId] = useState<string | null>(null);
  const [fault, setFault] = useState<string>();
  const { job, fault: lost } = useJob<{ name: string }>(id);
  const sides = [lines(texts), lines(others)] as const;
  const enough = sides.every((side) => side.length >= AT_LEAST && side.length <= AT_MOST);
  const running = id !== null && !(job && isOver(job)) && !lost;
  const learn = () => {
    if (!enough || running) return;
    setFault(undefined);
    learnConcept(slug, reading, { title, texts: sides[0], others: sides[1] }).then(
      (found) => setId(found.id),
      (error: unknown) => setFault(faultText(error)),
    );
  };
  useEffect(() => {
    if (job?.state === "done" && job.result) onFound(job.result.name);
  }, [job?.state, job?.id]);
  return (
    <Panel
      title="A concept as two lists of texts"
      note="One text a line. Its direction is the one that separates the first list from the second; then the corpora show what lies at its ends."
      actions={
        <Button compact kind="quiet" onClick={onClose}>
          Close
        </Button>
      }
    >
      <div class="stack">
        <div class="row row-centre">
          <span class="small muted">Examples:</span>
          {EXAMPLES.map((one) => (
            <Button
              key={one.title}
              compact
              onClick={() => {
                setTitle(one.title);
                setTexts(one.texts.join("\n"));
                setOthers(one.others.join("\n"));
              }}
            >
              {one.title}
            </Button>
          ))}
        </div>
        <TextField label="Its name" value={title} onChange={setTitle} maxLength={80} />
        <div class="columns">
          <TextArea
            label="Texts with it"
            rows={9}
            value={texts}
            onChange={setTexts}
            onEnter={learn}
            note={noteOf(sides[0].length)}
          />
          <TextArea
            label="Texts without it"
            rows={9}
            value={others}
            onChange={setOthers}
            onEnter={learn}
            note={noteOf(sides[1].length)}
          />
        </div>
        <div>
          <Button kind="primary" onClick={learn} disabled={!enough || running}>
            Find its direction
          </Button>
        </div>
        {job && job.state !== "done" && <JobProgress job={job} again={learn} />}
        {(fault ?? lost) && <Fault message={fault ?? lost ?? ""} />}
      </div>
    </Panel>
  );
}

function lines(text: string): string[] {
  return [...new Set(text.split("\n").map((line) => line.trim()))].filter(Boolean);
}

function noteOf(given: number): string {
  if (given > AT_MOST) return `${count(given, "text")}; at most ${AT_MOST} are taken`;
  return given < AT_LEAST ? `${count(given, "text")}; at least ${AT_LEAST} are wanted` : count(given, "text");
}
