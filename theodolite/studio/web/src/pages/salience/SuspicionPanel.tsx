import type { ClusterCard } from "../../api/salience";
import { type Column, DataTable } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Link } from "../../lib/address";
import { number, percent } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { openedCluster } from "./cards";
import { addressWith, type Here } from "./state";

const SHOWN = 10;

const COLUMNS: readonly Column<ClusterCard>[] = [
  {
    key: "cluster",
    title: "cluster",
    value: (card) => `${card.predicted} ${card.id}`,
    cell: (card) => (
      <Link to={addressWith(openedCluster(card))}>
        {card.predicted}, cluster {card.id}
      </Link>
    ),
  },
  {
    key: "suspicion",
    title: "suspicion",
    value: (card) => card.suspicion,
    cell: (card) => <Meter value={card.suspicion} />,
    note: "Purity times concentration times distinctness",
  },
  {
    key: "terms",
    title: "terms",
    value: (card) => card.terms[0]?.term,
    cell: (card) => (
      <span class="sal-some-terms">
        {card.terms
          .slice(0, 5)
          .map(({ term }) => term)
          .join(", ")}
      </span>
    ),
    sortable: false,
  },
  { key: "size", title: "texts", value: (card) => card.size },
  { key: "accuracy", title: "accuracy", value: (card) => card.accuracy, cell: (card) => percent(card.accuracy) },
  { key: "purity", title: "purity", value: (card) => card.purity, digits: 2 },
  { key: "concentration", title: "concentration", value: (card) => card.concentration, digits: 2 },
  { key: "distinctness", title: "distinctness", value: (card) => card.distinctness, digits: 2 },
];

/** The clusters of one representation, the most suspicious first. */
export function SuspicionPanel({ here }: { here: Here }) {
  const { api, corpus, method, representation } = here;
  const asked = { corpus, method, representation };
  const { data, fault, again } = useQuery(api.key("clusters", asked), (signal) => api.clusters(asked, signal));
  return (
    <Panel
      title="What looks like a shortcut?"
      note="Texts of one answer that are looked at in the same way, ranked by suspicion: how far the answer goes with the cluster (purity), how much of the salience is on three terms (concentration), and how far those are the cluster's own (distinctness). A topic that goes with one class looks the same as a shortcut: the ranking says where to look, you say what it is."
    >
      {fault && <Fault message={fault} again={again} />}
      {!data && !fault && <Loading />}
      {data?.length === 0 && <Empty title="The reading has no clusters">Run it with --clusters 5.</Empty>}
      {data && data.length > 0 && (
        <DataTable
          columns={COLUMNS}
          rows={data.slice(0, SHOWN)}
          caption={`The ${Math.min(SHOWN, data.length)} most suspicious of ${data.length} clusters by ${representation}, ${method}`}
          heading="cluster"
          rowKey={(card) => `${card.predicted} ${card.id}`}
        />
      )}
    </Panel>
  );
}

function Meter({ value }: { value: number }) {
  return (
    <span class="sal-meter">
      <span class="sal-meter-box" aria-hidden="true">
        <span class="sal-meter-bar" style={{ width: `${100 * Math.min(Math.max(value, 0), 1)}%` }} />
      </span>
      {number(value, 2)}
    </span>
  );
}
