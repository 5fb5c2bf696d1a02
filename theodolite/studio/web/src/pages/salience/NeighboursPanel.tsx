import type { Neighbour } from "../../api/salience";
import { Clamped } from "../../components/Clamped";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Passage } from "../../components/Passage";
import { Link } from "../../lib/address";
import { number } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { openedText } from "./cards";
import { addressWith, type Here, MEANING } from "./state";
import { TextHead } from "./TextList";

/** The nearest texts in each representation: why was it answered so? */
export function NeighboursPanel({ here, row, method }: { here: Here; row: number; method: string }) {
  const { api, about, corpus } = here;
  const among = about.among ?? corpus;
  const { data, fault, again } = useQuery(api.key("neighbours", corpus, row, method, among), (signal) =>
    api.neighbours(corpus, row, method, among, signal),
  );
  return (
    <Panel
      title="Its neighbours"
      note={`The nearest texts of ${among}, in each representation of the ${method} maps, with the terms they share.`}
    >
      {fault && <Fault message={fault} again={again} />}
      {!data && !fault && <Loading what="Looking for neighbours" />}
      {data && data.representations.length === 0 && <Empty title="No neighbours">{data.note}</Empty>}
      <div class="stack">
        {data?.representations.map(({ representation, rows }) => (
          <section key={representation} aria-label={`Neighbours by ${representation}`}>
            <h3>{representation}</h3>
            <p class="muted small">{MEANING[representation]}</p>
            {rows.length === 0 && <p class="muted">No other text shares anything with it here.</p>}
            <ol class="sal-list">
              {rows.map((near) => (
                <Near key={`${near.corpus} ${near.row}`} near={near} />
              ))}
            </ol>
          </section>
        ))}
      </div>
    </Panel>
  );
}

function Near({ near }: { near: Neighbour }) {
  const wrong = near.label !== null && near.label !== near.answer;
  return (
    <li>
      <TextHead row={{ label: near.label, answer: near.answer, wrong }}>
        <Link to={addressWith(openedText(near.corpus, near.row))}>row {near.row}</Link>
        <span class="muted small numbers">cosine {number(near.cosine, 2)}</span>
      </TextHead>
      {near.spans.length > 0 ? (
        <Passage spans={near.spans} label={`Row ${near.row}, coloured by salience`} />
      ) : (
        <Clamped text={near.text} lines={3} />
      )}
      {near.shared_terms.length > 0 && <p class="muted small">shared: {near.shared_terms.join(", ")}</p>}
    </li>
  );
}
