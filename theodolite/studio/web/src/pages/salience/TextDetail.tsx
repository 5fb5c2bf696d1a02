import { useState } from "preact/hooks";
import { Clamped } from "../../components/Clamped";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Link } from "../../lib/address";
import { useQuery } from "../../lib/query";
import { triedText } from "./cards";
import { HeatMaps } from "./HeatMaps";
import { NeighboursPanel } from "./NeighboursPanel";
import { Probabilities } from "./Probabilities";
import { addressWith, type Here, oneOf } from "./state";
import { TextHead } from "./TextList";

const SOURCES: Record<string, string> = {
  store: "",
  model: "Made now by the classifier.",
  reading: "As the reading has it.",
};

/** One text: what was answered, what the answer rests on, which texts are nearest. */
export function TextDetail({ here, row }: { here: Here; row: number }) {
  const { api, about, corpus } = here;
  const { data, fault, again } = useQuery(api.key("text", corpus, row), (signal) => api.text(corpus, row, signal));
  const [method, setMethod] = useState(here.method);
  const shown = oneOf(method, data?.maps.map((map) => map.method) ?? []);
  if (fault) return <Fault message={fault} again={again} />;
  if (!data) return <Loading />;
  return (
    <>
      <Panel title={`Row ${row}`} note={data.note || SOURCES[data.source]}>
        <div class="stack">
          <TextHead row={{ ...data, probability: null }}>{null}</TextHead>
          {data.maps.length > 0 ? (
            <HeatMaps maps={data.maps} method={shown} onMethod={setMethod} />
          ) : (
            <Clamped text={data.text ?? ""} lines={12} />
          )}
          <Probabilities answers={data.answers} label={data.label} regression={about.classes.length === 0} />
          {data.text !== null && about.live && (
            <p>
              <Link class="button" to={addressWith(triedText(data.text, data.text_b))}>
                Edit it and see what changes
              </Link>
            </p>
          )}
        </div>
      </Panel>
      <NeighboursPanel here={here} row={row} method={oneOf(method, about.methods)} />
    </>
  );
}
