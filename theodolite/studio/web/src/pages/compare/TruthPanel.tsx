import { useState } from "preact/hooks";
import { type Method, type Pair, startTruth, type Truth } from "../../api/compare";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { Panel } from "../../components/Panel";
import { useAddress } from "../../lib/address";
import { faultText } from "../../lib/api";
import { useJob } from "../../lib/jobs";
import { TruthResult } from "./TruthResult";

/** Is the explanation true? Weights drawn anew, and words deleted, for this one pair. */
export function TruthPanel({ slug, pair, methods }: { slug: string; pair: Pair; methods: readonly Method[] }) {
  const [address, go] = useAddress({ job: "" });
  const [slow, setSlow] = useState(false);
  const [starting, setStarting] = useState(false);
  const [refused, setRefused] = useState<string>();
  const { job, fault } = useJob<Truth>(address.job || null);
  const start = async () => {
    setStarting(true);
    setRefused(undefined);
    try {
      const names = methods.filter((one) => slow || !one.slow).map((one) => one.name);
      const { id } = await startTruth(slug, pair, names);
      go({ job: id }, "replace");
    } catch (error) {
      setRefused(faultText(error));
    } finally {
      setStarting(false);
    }
  };
  const running = starting || job?.state === "waiting" || job?.state === "running";
  const names = methods.filter((one) => one.slow).map((one) => one.name);
  return (
    <Panel
      title="Is it true?"
      note="The randomisation test explains the same pair with the model's weights drawn anew: a sound method changes its mind. The deletion test removes words, most salient first: the cosine should fall faster than in random order."
    >
      <div class="stack">
        <div class="row row-centre">
          <Button onClick={() => void start()} disabled={running}>
            {job ? "Run the tests again" : "Run the tests"}
          </Button>
          <Checkbox
            label={`With ${names.join(", ")}`}
            note="Takes several minutes."
            checked={slow}
            onChange={setSlow}
            disabled={running}
          />
        </div>
        {refused && <Fault message={refused} />}
        {fault && address.job && <p class="muted small">The tests in this address are no longer kept; run them again.</p>}
        {job && job.state !== "done" && <JobProgress job={job} again={() => void start()} />}
        {job?.state === "done" && job.result && <TruthResult truth={job.result} />}
      </div>
    </Panel>
  );
}
