import { NO_CATEGORY } from "../../api/map";
import { categorical, OTHER, rgb, sequential } from "../../lib/colours";

/** What gives points their colours: categories by code, or numbers from low to high. */
export type Values =
  | { kind: "categories"; codes: Uint16Array }
  | { kind: "numbers"; numbers: Float32Array; low: number; high: number };

const FULL = 255;
const DIMMED = 26;
const STEPS = 255;
/** How many colours there are before the first comes again. */
const COLOURS = Array.from({ length: 64 }, (_, i) => i + 1).find((i) => categorical(i) === categorical(0)) ?? 64;
/** What the first round of colours, the second and the third are mixed with. */
const TOWARDS: readonly (number | null)[] = [null, 255, 0];
/** The server makes one category of all that come after these many. */
const MOST = 24;

/** Which points are shown: all but those of hidden categories; null where nothing is hidden. */
export function shownMask(values: Values, hidden: ReadonlySet<number>): Uint8Array | null {
  if (values.kind !== "categories" || !hidden.size) return null;
  const table = new Uint8Array(NO_CATEGORY + 1).fill(1);
  for (const code of hidden) table[code] = 0;
  const mask = new Uint8Array(values.codes.length);
  for (let point = 0; point < mask.length; point++) mask[point] = table[values.codes[point] ?? NO_CATEGORY] ?? 1;
  return mask;
}

/** A bit of its own for each point of a list. */
export function maskOf(points: Uint32Array, count: number): Uint8Array {
  const mask = new Uint8Array(count);
  for (const point of points) mask[point] = 1;
  return mask;
}

/** Red, green, blue and opacity of each point, in the order in which points are drawn. */
export function painted(
  order: Uint32Array,
  values: Values,
  shown: Uint8Array | null,
  chosen: Uint8Array | null,
): Uint8Array {
  const palette = paletteOf(values);
  const slot = slotOf(values);
  const out = new Uint8Array(4 * order.length);
  for (let place = 0; place < order.length; place++) {
    const point = order[place] ?? 0;
    const at = 3 * slot(point);
    out[4 * place] = palette[at] ?? 0;
    out[4 * place + 1] = palette[at + 1] ?? 0;
    out[4 * place + 2] = palette[at + 2] ?? 0;
    out[4 * place + 3] = shown && !shown[point] ? 0 : chosen && !chosen[point] ? DIMMED : FULL;
  }
  return out;
}

/** The colour of a category; when all colours are taken, paler and then darker ones; grey for the rarest. */
export function colourOf(code: number): string {
  const hex = categoryRgb(code).map((part) => part.toString(16).padStart(2, "0"));
  return `#${hex.join("")}`;
}

function categoryRgb(code: number): number[] {
  const towards = TOWARDS[Math.floor(code / COLOURS)];
  if (towards === undefined || code >= MOST) return rgb(OTHER);
  return rgb(categorical(code)).map((part) => (towards === null ? part : Math.round(part + 0.45 * (towards - part))));
}

/** Three bytes a slot; the last slot is for what has no value. */
function paletteOf(values: Values): Uint8Array {
  const slots = values.kind === "categories" ? 256 : STEPS + 1;
  const out = new Uint8Array(3 * (slots + 1));
  for (let slot = 0; slot < slots; slot++) {
    out.set(values.kind === "categories" ? categoryRgb(slot) : sequential(slot / STEPS), 3 * slot);
  }
  out.set(rgb(OTHER), 3 * slots);
  return out;
}

function slotOf(values: Values): (point: number) => number {
  if (values.kind === "categories") {
    const { codes } = values;
    return (point) => Math.min(codes[point] ?? NO_CATEGORY, 256);
  }
  const { numbers, low, high } = values;
  const factor = STEPS / Math.max(high - low, 1e-12);
  return (point) => {
    const value = numbers[point] ?? NaN;
    if (Number.isNaN(value)) return STEPS + 1;
    return Math.round(Math.min(Math.max((value - low) * factor, 0), STEPS));
  };
}
