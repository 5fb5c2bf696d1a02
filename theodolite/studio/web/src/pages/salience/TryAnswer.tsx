import { useState } from "preact/hooks";
import type { Answer } from "../../api/salience";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Panel } from "../../components/Panel";
import { HeatMaps } from "./HeatMaps";
import { Probabilities } from "./Probabilities";
import { type Here, oneOf } from "./state";
import type { Trial } from "./useTrial";

interface TryAnswerProps {
  here: Here;
  now: Trial;
  before?: readonly Answer[];
  /** Why there is no before. */
  fault?: string;
}

/** What the classifier answers to the text typed last, and what that rests on. */
export function TryAnswer({ here: { about }, now, before, fault }: TryAnswerProps) {
  const [method, setMethod] = useState("");
  const { answer } = now;
  return (
    <Panel
      title="The answer"
      class="sal-answer"
      actions={
        <span class="sal-state" role="status">
          {now.loading ? "thinking…" : answer ? `answered in ${Math.max(1, Math.round(answer.seconds * 1000))} ms` : ""}
          {now.loading && (
            <Button compact onClick={now.cancel}>
              Cancel
            </Button>
          )}
        </span>
      }
    >
      <div class="stack" aria-busy={now.loading}>
        {now.fault && <Fault message={now.fault} />}
        {fault && <Fault message={`The original could not be asked about: ${fault}`} />}
        {!answer && !now.loading && !now.fault && <Empty title="Nothing asked yet">Type a sentence.</Empty>}
        {answer && (
          <div class="stack">
            <Probabilities answers={answer.answers} before={before} regression={about.classes.length === 0} />
            <HeatMaps
              maps={answer.maps}
              method={oneOf(method, answer.maps.map((map) => map.method))}
              onMethod={setMethod}
            />
            <ul class="sal-said muted small">
              {answer.said.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Panel>
  );
}
