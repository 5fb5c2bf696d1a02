import type { Neighbour } from "../../api/salience";
import { Clamped } from "../../components/Clamped";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Passage } from "../../components/Passage";
import { Select } from "../../components/Select";
import { Link } from "../../lib/address";
import { number } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { openedText } from "./cards";
import { addressWith, type Here, MEANING } from "./state";
import { TextHead } from "./TextList";

interface NeighboursPanelProps {
  here: Here;
  row: number;
  method: string;
}

/** The nearest texts in each representation: why was it answered so? */
export function NeighboursPanel({ here, row, method }: NeighboursPanelProps) {
  const { about, at, go, corpus } = here;
  const among = about.among ?? corpus;
  const further = about.live ? about.further_representations : [];
  const also = further.includes(at.also) ? at.also : "";
  return (
    <Panel
      title="Its neighbours"
      note={`The nearest texts of ${among}, in each representation of the ${method} maps, with the terms they share.`}
    >
      <div class="stack">
        <Found here={here} row={row} method={method} representation="" />
        {further.length > 0 && (
          <Select
            label="Also by"
            value={also}
            options={[{ value: "", label: "no other representation" }, ...further]}
            onChange={(value) => go({ also: value })}
          />
        )}
        {also && <Found here={here} row={row} method={method} representation={also} />}
      </div>
    </Panel>
  );
}

function Found({ here, row, method, representation }: NeighboursPanelProps & { representation: string }) {
  const { api, about, corpus } = here;
  const asked = { corpus, row, method, among: about.among ?? corpus, representation };
  const { data, fault, again } = useQuery(api.key("neighbours", asked), (signal) => api.neighbours(asked, signal));
  if (fault) return <Fault message={fault} again={again} />;
  if (!data) return <Loading what="Looking for neighbours" />;
  if (data.representations.length === 0) return <Empty title="No neighbours">{data.note}</Empty>;
  return (
    <>
      {data.representations.map(({ representation: name, rows }) => (
        <section key={name} aria-label={`Neighbours by ${name}`}>
          <h3>{name}</h3>
          <p class="muted small">{MEANING[name]}</p>
          {rows.length === 0 && <p class="muted">No other text shares anything with it here.</p>}
          <ol class="sal-list">
            {rows.map((near) => (
              <Near key={`${near.corpus} ${near.row}`} near={near} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function Near({ near }: { near: Neighbour }) {
  return (
    <li>
      <TextHead row={near}>
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
