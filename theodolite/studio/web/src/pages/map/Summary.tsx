import type { AboutMap, Colouring, MapApi, Points } from "../../api/map";
import { percent } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { colourOf } from "./paint";

const SHOWN = 6;

interface SummaryProps {
  api: MapApi;
  about: AboutMap;
  points: Points;
  chosen: Uint32Array;
}

/** What the selection is made of, beside what the whole map is made of. */
export function Summary({ api, about, points, chosen }: SummaryProps) {
  const shown = about.colourings.filter((one) => one.kind === "categories" && one.categories.length > 1);
  const ids = shown.map((one) => one.id).filter((id) => id !== "corpus");
  const codes = useQuery(ids.length ? api.key(`codes ${ids.join(" ")}`) : null, async (signal) => {
    const found = await Promise.all(ids.map((id) => api.codes(id, signal)));
    return new Map(ids.map((id, i) => [id, found[i]]));
  });
  return (
    <div class="map-summary">
      {shown.map((one) => {
        const mine = one.id === "corpus" ? points.corpus : codes.data?.get(one.id);
        return mine && <Bars key={one.id} about={one} codes={mine} chosen={chosen} total={about.count} />;
      })}
    </div>
  );
}

interface BarsProps {
  about: Colouring;
  codes: Uint16Array;
  chosen: Uint32Array;
  total: number;
}

function Bars({ about, codes, chosen, total }: BarsProps) {
  const counts = new Uint32Array(about.categories.length);
  for (const point of chosen) {
    const code = codes[point] ?? counts.length;
    if (code < counts.length) counts[code] = (counts[code] ?? 0) + 1;
  }
  const rows = about.categories
    .map((one, code) => ({
      name: one.name,
      colour: colourOf(code),
      share: (counts[code] ?? 0) / Math.max(chosen.length, 1),
      usual: one.count / Math.max(total, 1),
    }))
    .sort((a, b) => b.share - a.share);
  return (
    <table class="map-bars">
      <caption>{about.title}</caption>
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden-visually">{about.title}</span>
          </th>
          <th scope="col">selection</th>
          <th scope="col" title="The mark on each bar">
            map
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, SHOWN).map((row) => (
          <tr key={row.name}>
            <th scope="row" title={row.name}>
              {row.name}
            </th>
            <td>
              <div class="map-bar-cell">
                <span class="map-bar" aria-hidden="true">
                  <span class="map-bar-fill" style={{ width: `${100 * row.share}%`, backgroundColor: row.colour }} />
                  <span class="map-bar-usual" style={{ left: `${100 * row.usual}%` }} />
                </span>
                {percent(row.share)}
              </div>
            </td>
            <td class="muted">{percent(row.usual)}</td>
          </tr>
        ))}
        {rows.length > SHOWN && (
          <tr>
            <td colSpan={3} class="muted">
              and {rows.length - SHOWN} more
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
