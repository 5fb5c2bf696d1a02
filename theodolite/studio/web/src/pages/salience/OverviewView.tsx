import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { useQuery } from "../../lib/query";
import { PositionsPanel } from "./PositionsPanel";
import { ScoresPanel } from "./ScoresPanel";
import type { Here } from "./state";
import { SuspicionPanel } from "./SuspicionPanel";
import { TruthPanel } from "./TruthPanel";

/** How good the answers are, what looks like a shortcut, whether the maps are true and where they look. */
export function OverviewView({ here }: { here: Here }) {
  const { api, corpus } = here;
  const { data, fault, again } = useQuery(api.key("measured"), (signal) => api.measured(signal));
  return (
    <div class="stack">
      <ScoresPanel here={here} />
      <SuspicionPanel here={here} />
      {fault && <Fault message={fault} again={again} />}
      {!data && !fault && <Loading />}
      {data && (
        <div class="columns">
          <TruthPanel rows={data.faithfulness.filter((row) => row.corpus === corpus)} regression={here.about.classes.length === 0} />
          <PositionsPanel rows={data.positions.filter((row) => row.corpus === corpus)} method={here.method} />
        </div>
      )}
    </div>
  );
}
