import type { Bounds } from "../../api/map";

/** What part of the map is seen: its centre, and how many pixels a unit of it takes. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

export type Spot = readonly [x: number, y: number];

const MARGIN = 24;
const NEAREST = 400;
const FARTHEST = 0.4;

/** The view that shows everything. */
export function fitted(bounds: Bounds, { width, height }: Size): View {
  const wide = Math.max(bounds.right - bounds.left, 1e-6);
  const high = Math.max(bounds.top - bounds.bottom, 1e-6);
  const room = { width: Math.max(width - 2 * MARGIN, 40), height: Math.max(height - 2 * MARGIN, 40) };
  return {
    x: (bounds.left + bounds.right) / 2,
    y: (bounds.bottom + bounds.top) / 2,
    scale: Math.min(room.width / wide, room.height / high),
  };
}

export function toScreen(view: View, size: Size, [x, y]: Spot): Spot {
  return [size.width / 2 + (x - view.x) * view.scale, size.height / 2 - (y - view.y) * view.scale];
}

export function toMap(view: View, size: Size, [left, top]: Spot): Spot {
  return [view.x + (left - size.width / 2) / view.scale, view.y - (top - size.height / 2) / view.scale];
}

export function panned(view: View, right: number, down: number): View {
  return { ...view, x: view.x - right / view.scale, y: view.y + down / view.scale };
}

/** Nearer or farther by a factor, with the map under `at` staying where it is. */
export function zoomed(view: View, size: Size, factor: number, at: Spot, fit: View): View {
  const scale = Math.min(Math.max(view.scale * factor, fit.scale * FARTHEST), fit.scale * NEAREST);
  const [x, y] = toMap(view, size, at);
  const back = toScreen({ ...view, scale }, size, [x, y]);
  return panned({ ...view, scale }, at[0] - back[0], at[1] - back[1]);
}

/** The corners of what is seen. */
export function outline(view: View, size: Size): Spot[] {
  const { width, height } = size;
  const corners: Spot[] = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ];
  return corners.map((corner) => toMap(view, size, corner));
}
