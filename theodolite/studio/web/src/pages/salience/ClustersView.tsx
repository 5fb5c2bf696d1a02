import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Select } from "../../components/Select";
import { useQuery } from "../../lib/query";
import { ClusterBox } from "./ClusterBox";
import { ClusterDetail } from "./ClusterDetail";
import { type Here, MEANING } from "./state";

/** The clusters of one representation as cards; one of them opened. */
export function ClustersView({ here }: { here: Here }) {
  const { api, about, at, go, corpus, method, representation } = here;
  const opened = at.cluster !== "";
  const asked = { corpus, method, representation, predicted: at.class };
  const { data, fault, again } = useQuery(opened ? null : api.key("clusters", asked), (signal) =>
    api.clusters(asked, signal),
  );
  const largest = Math.max(...(data ?? []).map((card) => card.terms[0]?.value ?? 0), Number.MIN_VALUE);
  if (opened) return <ClusterDetail here={here} id={Number(at.cluster)} />;
  return (
    <div class="stack">
      <div class="sal-choices">
        <Select
          label="Representation"
          note={MEANING[representation]}
          value={representation}
          options={about.representations}
          onChange={(value) => go({ representation: value })}
        />
        {about.methods.length > 1 && (
          <Select
            label="Maps by"
            note={MEANING[method]}
            value={method}
            options={about.methods}
            onChange={(value) => go({ method: value })}
          />
        )}
        {about.classes.length > 0 && (
          <Select
            label="Answered"
            value={at.class}
            options={[{ value: "", label: "every class" }, ...about.classes]}
            onChange={(value) => go({ class: value })}
          />
        )}
      </div>
      {fault && <Fault message={fault} again={again} />}
      {!data && !fault && <Loading />}
      {data?.length === 0 && (
        <Empty title="No clusters">The reading has none of this kind; run it with --clusters and --within.</Empty>
      )}
      {data && data.length > 0 && (
        <p class="muted small">
          The most suspicious first. A word is as large as its mean value in the cluster's texts, on one scale for all.
        </p>
      )}
      <div class="sal-cards">
        {data?.map((card) => (
          <ClusterBox key={`${card.predicted} ${card.id}`} card={card} largest={largest} />
        ))}
      </div>
    </div>
  );
}
