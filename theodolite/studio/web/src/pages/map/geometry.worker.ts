import KDBush from "kdbush";

/** What the page asks: to hold points, to heed only some, which is nearest, which are inside an outline, to sort. */
export type Question =
  | { ask: "load"; x: Float32Array; y: Float32Array }
  | { ask: "show"; shown: Uint8Array | null }
  | { ask: "nearest"; x: number; y: number; radius: number }
  | { ask: "inside"; outline: Float64Array }
  | { ask: "sort"; points: Uint32Array; numbers: Float32Array; descending: boolean };

export interface Asked {
  id: number;
  question: Question;
}

export interface Answered {
  id: number;
  answer: number | Uint32Array | null;
}

let x = new Float32Array();
let y = new Float32Array();
let shown: Uint8Array | null = null;
let index: KDBush | null = null;

self.onmessage = (event: MessageEvent<Asked>) => {
  const { id, question } = event.data;
  const answer = answered(question);
  self.postMessage({ id, answer } satisfies Answered);
};

function answered(question: Question): Answered["answer"] {
  switch (question.ask) {
    case "load":
      load(question.x, question.y);
      return null;
    case "show":
      shown = question.shown;
      return null;
    case "nearest":
      return nearest(question.x, question.y, question.radius);
    case "inside":
      return inside(question.outline);
    case "sort":
      return sorted(question.points, question.numbers, question.descending ? -1 : 1);
  }
}

function load(left: Float32Array, up: Float32Array): void {
  [x, y, shown] = [new Float32Array(left), new Float32Array(up), null];
  index = x.length ? new KDBush(x.length, 64, Float32Array) : null;
  for (let i = 0; i < x.length; i++) index?.add(x[i] ?? 0, y[i] ?? 0);
  index?.finish();
}

/** The nearest point that is shown, −1 where none is so near. */
function nearest(left: number, up: number, radius: number): number {
  let found = -1;
  let best = radius * radius;
  for (const i of index?.within(left, up, radius) ?? []) {
    if (shown && !shown[i]) continue;
    const distance = ((x[i] ?? 0) - left) ** 2 + ((y[i] ?? 0) - up) ** 2;
    if (distance <= best) [found, best] = [i, distance];
  }
  return found;
}

/** The points shown inside an outline of x, y, x, y …, in order. */
function inside(outline: Float64Array): Uint32Array {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < outline.length; i += 2) {
    const [cornerX, cornerY] = [outline[i] ?? 0, outline[i + 1] ?? 0];
    [left, right] = [Math.min(left, cornerX), Math.max(right, cornerX)];
    [bottom, top] = [Math.min(bottom, cornerY), Math.max(top, cornerY)];
  }
  const found = (index?.range(left, bottom, right, top) ?? []).filter(
    (i) => (!shown || shown[i]) && contains(outline, x[i] ?? 0, y[i] ?? 0),
  );
  return Uint32Array.from(found).sort();
}

/** By how many edges a ray to the right crosses. */
function contains(outline: Float64Array, left: number, up: number): boolean {
  let odd = false;
  const end = outline.length;
  for (let i = 0, j = end - 2; i < end; j = i, i += 2) {
    const [x1, y1, x2, y2] = [outline[i] ?? 0, outline[i + 1] ?? 0, outline[j] ?? 0, outline[j + 1] ?? 0];
    if (y1 > up !== y2 > up && left < ((x2 - x1) * (up - y1)) / (y2 - y1) + x1) odd = !odd;
  }
  return odd;
}

/** By their numbers; those without one last. */
function sorted(points: Uint32Array, numbers: Float32Array, sign: number): Uint32Array {
  const key = (point: number) => {
    const value = sign * (numbers[point] ?? NaN);
    return Number.isNaN(value) ? Infinity : value;
  };
  return new Uint32Array(points).sort((a, b) => key(a) - key(b) || a - b);
}
