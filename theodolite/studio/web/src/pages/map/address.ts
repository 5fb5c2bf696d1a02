import type { Bounds } from "../../api/map";
import type { Spot, View } from "./view";

/** Everything that is selected on the page. */
export const DEFAULTS = {
  reading: "",
  colour: "corpus",
  direction: "",
  q: "",
  /** The outline of the selection, in the map's own units. */
  lasso: "",
  hidden: "",
  order: "map",
  page: "1",
  pin: "",
  /** The part of the map that is seen. */
  at: "",
};

export type At = typeof DEFAULTS;
export type Go = (patch: Partial<At>, how?: "push" | "replace") => void;

const MOST_CORNERS = 60;
const LONGEST = 4000;

/** An outline as the address has it: `x,y x,y …`, rounded to a ten-thousandth of the map. */
export function writeOutline(spots: readonly Spot[], bounds: Bounds): string {
  const extent = Math.max(bounds.right - bounds.left, bounds.top - bounds.bottom, 1e-9);
  const digits = Math.min(Math.max(4 - Math.floor(Math.log10(extent)), 0), 12);
  return thinned(spots)
    .map(([x, y]) => `${Number(x.toFixed(digits))},${Number(y.toFixed(digits))}`)
    .join(" ");
}

/** The outline that an address names; null where it names none. */
export function readOutline(text: string): Spot[] | null {
  const spots = text
    .slice(0, LONGEST)
    .split(" ")
    .map((pair) => pair.split(",").map(Number))
    .filter((pair): pair is [number, number] => pair.length === 2 && pair.every(Number.isFinite));
  return spots.length >= 3 ? spots : null;
}

export function writeView(view: View): string {
  return [view.x, view.y, view.scale].map((value) => Number(value.toPrecision(5))).join(",");
}

export function readView(text: string): View | null {
  const [x, y, scale] = text.split(",").map(Number);
  if (x === undefined || y === undefined || scale === undefined) return null;
  return [x, y, scale].every(Number.isFinite) && scale > 0 ? { x, y, scale } : null;
}

export function readHidden(text: string): ReadonlySet<number> {
  return new Set(text.split(",").filter(Boolean).map(Number).filter(Number.isInteger));
}

export function readPin(text: string, count: number): number | null {
  const point = text === "" ? -1 : Number(text);
  return Number.isInteger(point) && point >= 0 && point < count ? point : null;
}

/** Fewer corners, the ones that matter least left out first. */
function thinned(spots: readonly Spot[]): Spot[] {
  const kept = [...spots];
  const cost = (i: number) => {
    const [a, b, c] = [kept.at(i - 1), kept[i], kept[(i + 1) % kept.length]];
    if (!a || !b || !c) return Infinity;
    return Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  };
  while (kept.length > MOST_CORNERS) {
    let least = 0;
    let lowest = Infinity;
    for (let i = 0; i < kept.length; i++) {
      const here = cost(i);
      if (here < lowest) [least, lowest] = [i, here];
    }
    kept.splice(least, 1);
  }
  return kept;
}
