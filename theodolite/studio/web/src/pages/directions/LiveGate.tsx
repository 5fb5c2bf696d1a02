import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { Loading } from "../../components/Loading";
import { count } from "../../lib/format";
import type { Live } from "./useLive";

/** What stands where something would be measured live, until it can be. */
export function LiveGate({ live, what }: { live: Live; what: string }) {
  const { state, job, fault, start } = live;
  if (fault) return <Fault message={fault} again={start} />;
  if (!state) return <Loading />;
  if (state.reason) return <Empty title={`${what} cannot be measured here.`}>{state.reason}</Empty>;
  if (job && job.state !== "done" && job.state !== "cancelled") return <JobProgress job={job} again={start} />;
  if (state.ready || (state.stored && job?.state !== "cancelled")) return <Loading what="Reading the vectors" />;
  const texts = count(state.texts, "text");
  return (
    <Empty title={`${what} can be measured once every text has its vector.`}>
      {!state.stored && (
        <p>The vectors of this survey are not in the store. Computing them takes one pass of the model over its texts.</p>
      )}
      <p class="gate-action">
        <Button kind="primary" onClick={start}>
          {state.stored ? `Read the vectors of ${texts}` : `Compute the vectors of ${texts}`}
        </Button>
      </p>
    </Empty>
  );
}
