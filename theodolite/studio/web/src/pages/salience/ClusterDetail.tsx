import type { Grouped } from "../../api/salience";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Passage } from "../../components/Passage";
import { Link } from "../../lib/address";
import { useQuery } from "../../lib/query";
import { openedText } from "./cards";
import { Cloud } from "./Cloud";
import { ClusterFacts } from "./ClusterBox";
import { Pager } from "./Pager";
import { addressWith, type Here } from "./state";
import { TextHead, TextList } from "./TextList";

/** One cluster: its words, its most typical texts as heat maps, and all its texts. */
export function ClusterDetail({ here, id }: { here: Here; id: number }) {
  const { api, at, go, corpus, method, representation } = here;
  const grouped = { corpus, method, representation, predicted: at.within };
  const { data, fault, again } = useQuery(api.key("cluster", grouped, id), (signal) => api.cluster(grouped, id, signal));
  return (
    <div class="stack">
      <div>
        <Button kind="quiet" onClick={() => go({ cluster: "", within: "", from: "0" })}>
          ← All clusters
        </Button>
      </div>
      {fault && <Fault message={fault} again={again} />}
      {!data && !fault && <Loading />}
      {data && (
        <>
          <Panel title={`${data.card.predicted}, cluster ${data.card.id}`} note={`By ${representation} of ${method} maps.`}>
            <Cloud terms={data.card.terms} largest={data.card.terms[0]?.value ?? 1} label="Terms" />
            <ClusterFacts card={data.card} />
          </Panel>
          <Panel title="Its most typical texts" note="Nearest to the centre of the cluster; coloured by salience.">
            <ol class="sal-list">
              {data.examples.map((example) => (
                <li key={example.row}>
                  <TextHead row={example}>
                    <Link to={addressWith(openedText(example.corpus, example.row))}>row {example.row}</Link>
                  </TextHead>
                  <Passage spans={example.spans} label={`Row ${example.row}, coloured by salience`} />
                </li>
              ))}
            </ol>
          </Panel>
          <Members here={here} grouped={grouped} id={id} />
        </>
      )}
    </div>
  );
}

function Members({ here, grouped, id }: { here: Here; grouped: Grouped; id: number }) {
  const { about, api, at, go } = here;
  const classes = about.classes.length > 0;
  const wrong = classes && at.members === "wrong";
  const from = Number(at.from) || 0;
  const { data, fault, again, loading } = useQuery(
    api.key("members", grouped, id, wrong, from),
    (signal) => api.members(grouped, id, wrong, from, signal),
    { keep: true },
  );
  return (
    <Panel
      title="All its texts"
      actions={
        classes && (
          <Checkbox
            label="wrong answers only"
            checked={wrong}
            onChange={(checked) => go({ members: checked ? "wrong" : "all", from: "0" })}
          />
        )
      }
    >
      {fault && <Fault message={fault} again={again} />}
      {!data && !fault && <Loading what="Looking for its texts" />}
      {data && (
        <>
          <TextList texts={data} busy={loading} empty={wrong ? "None was answered wrongly" : "No texts"} />
          <Pager total={data.total} from={from} onMove={(next) => go({ from: String(next) })} />
        </>
      )}
    </Panel>
  );
}
