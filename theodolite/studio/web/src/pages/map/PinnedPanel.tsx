import type { MapApi } from "../../api/map";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { useQuery } from "../../lib/query";
import { TextCard } from "./TextCard";

const CHARACTERS = 100_000;

interface PinnedPanelProps {
  api: MapApi;
  pin: number;
  colour: string;
  score?: number;
  onPin: (point: number | null) => void;
}

/** The text that was clicked, in full. */
export function PinnedPanel({ api, pin, colour, score, onPin }: PinnedPanelProps) {
  const text = useQuery(api.key(`pin ${pin}`), (signal) => api.texts([pin], CHARACTERS, signal));
  const found = text.data?.[0];
  return (
    <Panel title="Pinned" class="map-pinned">
      {text.fault && <Fault message={text.fault} again={text.again} />}
      {text.loading && <Loading />}
      {found && (
        <ul class="map-texts">
          <TextCard text={found} colour={colour} score={score} pinned onPin={onPin} />
        </ul>
      )}
    </Panel>
  );
}
