import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { useQuery } from "../../lib/query";
import { ChangesCharts } from "./ChangesCharts";
import { ChangesTable } from "./ChangesTable";
import type { Here } from "./state";

/** The lists of terms that the reading measured, and their terms. */
export function ReadTerms({ here: { api } }: { here: Here }) {
  const { data, fault, again } = useQuery(api.key("measured"), (signal) => api.measured(signal));
  const toward = data?.toward;
  return (
    <Panel title="Lists of terms in the reading" note={toward && `What they do to the probability of ${toward}: means over the terms of each list.`}>
      {fault && <Fault message={fault} again={again} />}
      {!data && !fault && <Loading />}
      {data && !toward && (
        <Empty title="The reading measured no terms">
          Run it with --sensitivity auto, which takes the terms of highest salience, of highest PMI, and identity terms.
        </Empty>
      )}
      {data && toward && (
        <div class="stack">
          <ChangesCharts rows={data.lists.map((one) => ({ ...one, baseline: false }))} toward={toward} name="term-lists" />
          <ChangesTable rows={data.lists} caption="Lists" />
          <details>
            <summary>Every term</summary>
            <ChangesTable rows={data.terms} caption="Terms" />
          </details>
        </div>
      )}
    </Panel>
  );
}
