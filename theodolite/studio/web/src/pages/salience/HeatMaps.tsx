import type { HeatMap } from "../../api/salience";
import { Legend } from "../../components/Legend";
import { Passage } from "../../components/Passage";
import { Select } from "../../components/Select";
import { AGAINST, FOR } from "../../lib/colours";
import { MEANING } from "./state";

interface HeatMapsProps {
  maps: readonly HeatMap[];
  method: string;
  onMethod: (method: string) => void;
}

/** A text coloured by one of the methods it was mapped with. */
export function HeatMaps({ maps, method, onMethod }: HeatMapsProps) {
  const map = maps.find((one) => one.method === method) ?? maps[0];
  if (!map) return null;
  const signed = map.spans.some((span) => span.weight < 0);
  return (
    <div class="stack">
      {maps.length > 1 && (
        <Select
          label="Coloured by"
          note={MEANING[map.method]}
          value={map.method}
          options={maps.map((one) => one.method)}
          onChange={onMethod}
        />
      )}
      <Passage spans={map.spans} label={`The text, coloured by ${map.method}`} />
      <Legend
        label="Colours"
        items={
          signed
            ? [
                { label: "for the answer", colour: FOR },
                { label: "against it (dotted)", colour: AGAINST },
              ]
            : [{ label: "looked at: the deeper, the more", colour: FOR }]
        }
      />
    </div>
  );
}
