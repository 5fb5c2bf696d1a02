import { useEffect, useRef, useState } from "preact/hooks";
import type { AboutMap, MapApi, PointText, Points } from "../../api/map";
import { Loading } from "../../components/Loading";
import { count } from "../../lib/format";
import type { Geometry } from "./geometry";
import { type Tool, useGestures } from "./gestures";
import { Overlay } from "./Overlay";
import type { Order } from "./order";
import { Tooltip } from "./Tooltip";
import { Tools } from "./Tools";
import { useScene } from "./useScene";
import { outline, panned, type Spot, toMap, zoomed } from "./view";

interface MapCanvasProps {
  api: MapApi;
  about: AboutMap;
  points: Points;
  order: Order;
  geometry: Geometry | null;
  rgba: Uint8Array;
  marked: Uint32Array | null;
  lasso: readonly Spot[] | null;
  pin: number | null;
  at: string;
  onSettled: (at: string) => void;
  onLasso: (outline: readonly Spot[] | null) => void;
  onPin: (point: number | null) => void;
}

const REACH = 8;
const STEP = 80;
const NEARER = 1.4;
const PATIENCE = 60;
const TOOLTIP_CHARACTERS = 400;

/** The map itself, with its tools. */
export function MapCanvas(props: MapCanvasProps) {
  const { api, about, points, geometry, pin, onLasso, onPin } = props;
  const stage = useScene({ ...props, bounds: about.bounds });
  const { size, view, fit, move } = stage;
  const [tool, setTool] = useState<Tool>("move");
  const [path, setPath] = useState<readonly Spot[]>([]);
  const [over, setOver] = useState<number | null>(null);
  const hovered = useHovered(api, over);
  const asking = useRef(0);

  const zoom = (factor: number, at: Spot) => {
    if (size && fit) move((now) => zoomed(now, size, factor, at, fit));
  };
  const pointAt = async (spot: Spot): Promise<number | null> => {
    if (!view || !size || !geometry) return null;
    return geometry.nearest(toMap(view, size, spot), REACH / view.scale);
  };
  useGestures(stage.box, {
    tool,
    pan: (right, down) => move((now) => panned(now, right, down)),
    zoom,
    hover: (spot) => {
      const mine = ++asking.current;
      if (!spot) return setOver(null);
      void pointAt(spot).then((point) => mine === asking.current && setOver(point));
    },
    click: (spot) => void pointAt(spot).then(onPin),
    draw: setPath,
    drawn: (drawn) => {
      setPath([]);
      if (view && size) onLasso(drawn.map((spot) => toMap(view, size, spot)));
    },
  });
  const middle: Spot = size ? [size.width / 2, size.height / 2] : [0, 0];
  const keys: Record<string, () => void> = {
    ArrowLeft: () => move((now) => panned(now, STEP, 0)),
    ArrowRight: () => move((now) => panned(now, -STEP, 0)),
    ArrowUp: () => move((now) => panned(now, 0, STEP)),
    ArrowDown: () => move((now) => panned(now, 0, -STEP)),
    "+": () => zoom(NEARER, middle),
    "=": () => zoom(NEARER, middle),
    "-": () => zoom(1 / NEARER, middle),
    "0": stage.reset,
    Enter: () => void pointAt(middle).then(onPin),
    Escape: () => (pin !== null ? onPin(null) : onLasso(null)),
  };
  const press = (event: KeyboardEvent) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const what = count(about.count, about.unit);
  return (
    <div class="map-frame">
      <div
        ref={stage.setBox}
        class={`map-box map-tool-${tool}`}
        tabIndex={0}
        role="application"
        aria-label={`Map of ${what}`}
        aria-describedby="map-keys"
        onKeyDown={press}
      >
        <canvas ref={stage.setCanvas} class="map-canvas" data-drawn={stage.drawn || undefined} aria-hidden="true" />
        {size && view && (
          <Overlay size={size} view={view} lasso={props.lasso} path={path} spots={{ pin, over }} points={points} />
        )}
        {size && view && hovered && over === hovered.point && <Tooltip size={size} view={view} text={hovered} />}
        {!stage.drawn && !stage.undrawable && (
          <div class="map-waiting">
            <Loading what="Drawing" />
          </div>
        )}
        {stage.undrawable && (
          <div class="map-undrawable" role="alert">
            <p class="empty-title">This browser cannot draw the map</p>
            <p>
              It has no WebGL, which the map is drawn with: switch on hardware acceleration, or use another browser. Searching,
              reading and saving texts work all the same.
            </p>
          </div>
        )}
      </div>
      <p id="map-keys" class="hidden-visually">
        Arrow keys move the map, plus and minus zoom, 0 shows everything, Enter pins the text in the middle, Escape lets go.
      </p>
      {!stage.undrawable && (
        <Tools
          tool={tool}
          onTool={setTool}
          onZoom={(nearer) => zoom(nearer ? NEARER : 1 / NEARER, middle)}
          onFit={stage.reset}
          onSelectView={() => view && size && onLasso(outline(view, size))}
        />
      )}
    </div>
  );
}

/** The text of the point under the mouse, asked for when it has stayed there for a moment. */
function useHovered(api: MapApi, over: number | null): PointText | null {
  const [text, setText] = useState<PointText | null>(null);
  const known = useRef(new Map<number, PointText>());
  useEffect(() => {
    if (over === null) return;
    const had = known.current.get(over);
    if (had) {
      setText(had);
      return;
    }
    const control = new AbortController();
    const timer = setTimeout(() => {
      api.texts([over], TOOLTIP_CHARACTERS, control.signal).then(
        ([found]) => {
          if (!found) return;
          known.current.set(over, found);
          setText(found);
        },
        // A tooltip that does not come is no fault to report: the list says what is wrong.
        () => undefined,
      );
    }, PATIENCE);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [api, over]);
  return text;
}
