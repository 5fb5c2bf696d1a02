import { useMemo } from "preact/hooks";
import { type AboutMap, type MapApi, NO_CATEGORY, type Points } from "../../api/map";
import { OTHER, sequentialHex } from "../../lib/colours";
import { useQuery } from "../../lib/query";
import { type At, type Go, readHidden, readOutline, readPin, writeOutline } from "./address";
import { ColourPanel } from "./ColourPanel";
import { useChosen, useColours, useGeometry, useInside, useListed } from "./data";
import { MapCanvas } from "./MapCanvas";
import { drawingOrder } from "./order";
import { colourOf, maskOf, painted, shownMask, type Values } from "./paint";
import { PinnedPanel } from "./PinnedPanel";
import { ReadingPanel } from "./ReadingPanel";
import { SearchPanel } from "./SearchPanel";

interface ExplorerProps {
  api: MapApi;
  about: AboutMap;
  points: Points;
  at: At;
  go: Go;
}

/** The map, what its colours mean, and what is selected on it. */
export function Explorer({ api, about, points, at, go }: ExplorerProps) {
  const order = useMemo(() => drawingOrder(points.count), [points]);
  const geometry = useGeometry(points);
  const colours = useColours(api, about, points, at);
  const { coloured } = colours;
  const { values } = coloured;
  const shown = useMemo(() => shownMask(values, readHidden(at.hidden)), [values, at.hidden]);
  const hits = useQuery(at.q ? api.key(`search ${at.q}`) : null, (signal) => api.search(at.q, signal));
  const inside = useInside(geometry, at.lasso, shown);
  const chosen = useChosen(inside, at.q ? hits.data : null, shown, points.count);
  const listed = useListed(geometry, chosen, values, at.order);
  const rgba = useMemo(
    () => painted(order.points, values, shown, chosen ? maskOf(chosen, points.count) : null),
    [order, values, shown, chosen, points],
  );
  const outline = useMemo(() => readOutline(at.lasso), [at.lasso]);
  const pin = readPin(at.pin, points.count);
  const colourAt = (point: number) => colourOfPoint(values, point);
  const onPin = (point: number | null) => go({ pin: point === null ? "" : String(point) }, "replace");
  return (
    <div class="map">
      <MapCanvas
        api={api}
        about={about}
        points={points}
        order={order}
        geometry={geometry}
        rgba={rgba}
        marked={chosen ?? null}
        lasso={outline}
        pin={pin}
        at={at.at}
        onSettled={(view) => go({ at: view }, "replace")}
        onLasso={(spots) => go({ lasso: spots ? writeOutline(spots, about.bounds) : "", page: "1" })}
        onPin={onPin}
      />
      <div class="map-side">
        <SearchPanel q={at.q} hits={hits} onSearch={(q) => go({ q, page: "1" })} />
        <ColourPanel api={api} about={about} colours={colours} at={at} go={go} />
        {pin !== null && (
          <PinnedPanel
            api={api}
            pin={pin}
            colour={colourAt(pin)}
            score={values.kind === "numbers" ? values.numbers[pin] : undefined}
            onPin={onPin}
          />
        )}
        <ReadingPanel
          api={api}
          about={about}
          points={points}
          coloured={coloured}
          chosen={chosen}
          listed={listed}
          colourAt={colourAt}
          pin={pin}
          at={at}
          go={go}
        />
      </div>
    </div>
  );
}

function colourOfPoint(values: Values, point: number): string {
  if (values.kind === "categories") return colourOf(values.codes[point] ?? NO_CATEGORY);
  const value = values.numbers[point] ?? NaN;
  return Number.isNaN(value) ? OTHER : sequentialHex((value - values.low) / (values.high - values.low || 1));
}
