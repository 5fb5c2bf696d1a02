import { useEffect, useState } from "preact/hooks";
import type { AboutMap, MapApi, VectorsState } from "../../api/map";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { Loading } from "../../components/Loading";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { faultText } from "../../lib/api";
import { count } from "../../lib/format";
import { useJob } from "../../lib/jobs";
import type { Query } from "../../lib/query";
import type { At, Go } from "./address";
import { ConceptForm } from "./ConceptForm";

const KINDS = [
  { value: "neuron", label: "Neuron" },
  { value: "random", label: "Random direction" },
  { value: "pc", label: "Principal component" },
  { value: "concept", label: "Concept of my own" },
];

interface DirectionFormProps {
  api: MapApi;
  about: AboutMap;
  vectors: Query<VectorsState>;
  at: At;
  go: Go;
}

/** Which direction the points are scored along. */
export function DirectionForm({ api, about, vectors, at, go }: DirectionFormProps) {
  const [named, numbered] = at.direction.split(" ");
  const [kind, setKind] = useState(KINDS.some((one) => one.value === named) ? (named ?? "neuron") : "neuron");
  const [typed, setTyped] = useState(kind === "concept" ? "" : (numbered ?? ""));
  if (!about.vectors.possible) return <p class="muted">Directions cannot be scored here: {about.vectors.reason}.</p>;
  if (vectors.fault) return <Fault message={vectors.fault} again={vectors.again} />;
  if (!vectors.data) return <Loading what="Looking for the texts’ vectors" />;
  if (!vectors.data.stored) return <Compute api={api} state={vectors.data} again={vectors.again} />;
  const last = kind === "neuron" && about.vectors.dim ? about.vectors.dim - 1 : kind === "pc" ? about.vectors.dim : 9999;
  const first = kind === "pc" ? 1 : 0;
  const apply = () => {
    if (/^\d+$/.test(typed.trim())) go({ direction: `${kind} ${Number(typed)}`, page: "1" });
  };
  return (
    <div class="map-direction">
      <Select label="Kind of direction" value={kind} options={KINDS} onChange={setKind} />
      {kind === "concept" ? (
        <ConceptForm api={api} onLearned={(direction) => go({ direction, page: "1" })} />
      ) : (
        <div class="map-direction-number">
          <TextField
            label={`Number, ${first} to ${last ?? "the last"}`}
            type="number"
            min={first}
            max={last ?? undefined}
            value={typed}
            onChange={setTyped}
            onEnter={apply}
          />
          <Button kind="primary" onClick={apply} disabled={!/^\d+$/.test(typed.trim())}>
            Show
          </Button>
        </div>
      )}
    </div>
  );
}

/** Offers to compute the vectors that the store lacks. */
function Compute({ api, state, again }: { api: MapApi; state: VectorsState; again: () => void }) {
  const [started, setStarted] = useState<string | null>(state.job);
  const [fault, setFault] = useState<string>();
  const { job } = useJob(started);
  useEffect(() => {
    if (job?.state === "done") again();
  }, [job?.state]);
  if (state.reason) return <p class="muted">The texts’ vectors are not in the store, and {state.reason}.</p>;
  if (job && job.state !== "cancelled") return <JobProgress job={job} again={() => setStarted(null)} />;
  const start = () => {
    setFault(undefined);
    api.computeVectors().then(
      (begun) => setStarted(begun.id),
      (error: unknown) => setFault(faultText(error)),
    );
  };
  return (
    <div class="map-direction">
      <p class="muted">
        The texts’ vectors are not in the store. Computing them goes over {count(state.texts, "text")} once; they are kept.
      </p>
      <Button kind="primary" onClick={start}>
        Compute the vectors
      </Button>
      {fault && <Fault message={fault} />}
    </div>
  );
}
