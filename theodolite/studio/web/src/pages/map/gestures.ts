import { useEffect, useRef } from "preact/hooks";
import type { Spot } from "./view";

export type Tool = "move" | "lasso" | "rectangle";

export interface Gestures {
  tool: Tool;
  pan(right: number, down: number): void;
  zoom(factor: number, at: Spot): void;
  hover(at: Spot | null): void;
  click(at: Spot): void;
  /** A selection being drawn, in pixels. */
  draw(path: readonly Spot[]): void;
  /** It is drawn. */
  drawn(path: readonly Spot[]): void;
}

const CLICK = 4;
const APART = 3;

/** Mouse, pen, touch and wheel on an element; with Shift held, or a selecting tool, dragging selects. */
export function useGestures(element: HTMLElement | null, gestures: Gestures): void {
  const latest = useRef(gestures);
  latest.current = gestures;
  useEffect(() => (element ? listen(element, () => latest.current) : undefined), [element]);
}

function listen(element: HTMLElement, now: () => Gestures): () => void {
  const down = new Map<number, Spot>();
  let path: Spot[] = [];
  let drawing: Tool = "move";
  let far = false;

  const spot = (event: MouseEvent): Spot => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, spot(event));
    if (down.size > 1) {
      // A second finger: it is a pinch and no selection.
      if (path.length) now().draw([]);
      path = [];
      drawing = "move";
      return;
    }
    far = false;
    drawing = event.shiftKey && now().tool === "move" ? "lasso" : now().tool;
    path = [spot(event)];
    now().hover(null);
  };

  const move = (event: PointerEvent) => {
    const before = down.get(event.pointerId);
    const here = spot(event);
    if (!before) {
      if (event.pointerType === "mouse") now().hover(here);
      return;
    }
    if (down.size > 1) pinch(event.pointerId, before, here);
    else drag(before, here);
    down.set(event.pointerId, here);
  };

  const drag = (before: Spot, here: Spot) => {
    const start = path[0] ?? before;
    far ||= distance(start, here) > CLICK;
    if (drawing === "move") {
      if (far) now().pan(here[0] - before[0], here[1] - before[1]);
      return;
    }
    const last = path.at(-1) ?? start;
    if (drawing === "rectangle") path = [start, [here[0], start[1]], here, [start[0], here[1]]];
    else if (distance(last, here) >= APART) path.push(here);
    now().draw(path);
  };

  const pinch = (id: number, before: Spot, here: Spot) => {
    const other = [...down].find(([key]) => key !== id)?.[1];
    if (!other) return;
    far = true;
    now().pan((here[0] - before[0]) / 2, (here[1] - before[1]) / 2);
    const factor = distance(here, other) / Math.max(distance(before, other), 1);
    now().zoom(factor, [(here[0] + other[0]) / 2, (here[1] + other[1]) / 2]);
  };

  const release = (event: PointerEvent) => {
    if (!down.delete(event.pointerId) || down.size) return;
    if (event.type === "pointercancel") now().draw([]);
    else if (!far) now().click(spot(event));
    else if (drawing !== "move") now().drawn(path);
    path = [];
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    now().zoom(Math.exp(-0.0018 * Math.max(-240, Math.min(240, event.deltaY * lines))), spot(event));
  };

  const leave = () => now().hover(null);

  element.addEventListener("pointerdown", press);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("wheel", wheel, { passive: false });
  return () => {
    element.removeEventListener("pointerdown", press);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", release);
    element.removeEventListener("pointercancel", release);
    element.removeEventListener("pointerleave", leave);
    element.removeEventListener("wheel", wheel);
  };
}

function distance(a: Spot, b: Spot): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}
