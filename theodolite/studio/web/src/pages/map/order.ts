/**
 * The order in which points are drawn: a fixed shuffle, so that no corpus lies on top of the others, and so that the
 * first so many are a fair sample of all, which is what is drawn while the map moves on a slow machine.
 */
export interface Order {
  /** The point drawn at each place. */
  points: Uint32Array;
  /** The place at which each point is drawn. */
  places: Uint32Array;
}

const GOLDEN = 0.6180339887498949;

export function drawingOrder(count: number): Order {
  const points = new Uint32Array(count);
  const places = new Uint32Array(count);
  const step = coprimeNear(Math.max(Math.round(count * GOLDEN), 1), count);
  let point = 0;
  for (let place = 0; place < count; place++) {
    points[place] = point;
    places[point] = place;
    point = (point + step) % count;
  }
  return { points, places };
}

function coprimeNear(start: number, count: number): number {
  let step = start;
  while (divisor(step, count) !== 1) step++;
  return step;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
