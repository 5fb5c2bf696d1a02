import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { Slider } from "../../components/Slider";
import { TextField } from "../../components/TextField";
import { faultText } from "../../lib/api";
import { count } from "../../lib/format";
import { isOver } from "../../lib/jobs";
import { ReadTerms } from "./ReadTerms";
import type { Here } from "./state";
import { TermResults } from "./TermResults";
import { MOST, useTermJobs } from "./useTermJobs";

const FEWEST_TEXTS = 20;
const MOST_TEXTS = 500;

/** What a term does to the answer by itself: put into texts, and masked in them. */
export function TermsView({ here }: { here: Here }) {
  const { api, about, at, go, corpus } = here;
  const [term, setTerm] = useState(at.term);
  useEffect(() => setTerm(at.term), [at.term]);
  const [fault, setFault] = useState<string>();
  const toward = about.classes.includes(at.toward) ? at.toward : (about.classes.at(-1) ?? "");
  const size = Math.min(Math.max(Number(at.size) || 100, FEWEST_TEXTS), MOST_TEXTS);
  const { running, results } = useTermJobs(at.jobs);
  const busy = running !== undefined && !isOver(running);
  const run = async () => {
    if (!term.trim() || busy) return;
    setFault(undefined);
    try {
      const { id } = await api.sensitivity(term.trim(), corpus, toward, size);
      const jobs = [...at.jobs.split(".").filter(Boolean), id].slice(-MOST).join(".");
      go({ term: term.trim(), jobs });
    } catch (error) {
      setFault(faultText(error));
    }
  };
  return (
    <div class="stack">
      <Panel
        title="Does a term decide by itself?"
        note={`The term is put at a random place of ${count(size, "text")} of ${corpus} that were answered otherwise, and masked in up to ${size} that were answered so and have it. Beside it: ordinary words of the same corpus. A reading uses ${MOST_TEXTS} texts; fewer answer sooner, with wider intervals.`}
      >
        {about.classes.length === 0 ? (
          <p class="muted">Terms are asked about a class, and this model answers with a number.</p>
        ) : (
          <div class="stack">
            <div class="sal-choices">
              <TextField label="Term" value={term} onChange={setTerm} onEnter={() => void run()} maxLength={200} />
              <Select label="Class" value={toward} options={about.classes} onChange={(value) => go({ toward: value })} />
              <Slider
                label="Texts"
                value={size}
                min={FEWEST_TEXTS}
                max={MOST_TEXTS}
                step={20}
                onChange={(value) => go({ size: String(value) }, "replace")}
              />
            </div>
            <div class="row">
              <Button kind="primary" disabled={!about.live || busy || !term.trim()} onClick={() => void run()}>
                Run
              </Button>
              {results.length > 0 && (
                <Button disabled={busy} onClick={() => go({ jobs: "" })}>
                  Clear
                </Button>
              )}
            </div>
            {!about.live && <p class="muted">{about.why_not_live}</p>}
            {fault && <Fault message={fault} />}
            {running && <JobProgress job={running} again={() => void run()} />}
            <TermResults results={results} corpus={corpus} toward={toward} />
          </div>
        )}
      </Panel>
      <ReadTerms here={here} />
    </div>
  );
}
