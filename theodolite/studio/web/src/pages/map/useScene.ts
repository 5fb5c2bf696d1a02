import { useEffect, useRef, useState } from "preact/hooks";
import type { Bounds, Points } from "../../api/map";
import { readView, writeView } from "./address";
import { type Drawing, RemoteDrawing } from "./drawing";
import type { Order } from "./order";
import { fitted, type Size, type View } from "./view";

const SETTLED = 400;

export interface Stage {
  box: HTMLElement | null;
  setBox: (box: HTMLElement | null) => void;
  setCanvas: (canvas: HTMLCanvasElement | null) => void;
  size: Size | null;
  view: View | null;
  /** The view that shows everything. */
  fit: View | null;
  /** Change the view from what it is now. */
  move: (change: (view: View) => View) => void;
  /** Show everything. */
  reset: () => void;
  /** Whether the points are on the canvas, and whether this browser cannot draw them. */
  drawn: boolean;
  undrawable: boolean;
}

interface Given {
  points: Points;
  order: Order;
  bounds: Bounds;
  rgba: Uint8Array;
  marked: Uint32Array | null;
  at: string;
  onSettled: (at: string) => void;
}

/** The points on a canvas, which part of them is seen, and how that follows the size of the page and its address. */
export function useScene({ points, order, bounds, rgba, marked, at, onSettled }: Given): Stage {
  const [box, setBox] = useState<HTMLElement | null>(null);
  const [canvas, setCanvas] = useState<HTMLCanvasElement | null>(null);
  const [drawn, setDrawn] = useState(false);
  const [undrawable, setUndrawable] = useState(false);
  const [scene, setScene] = useState<Drawing | null>(null);
  const size = useSize(box);
  const fit = size && fitted(bounds, size);
  const [chosen, setChosen] = useState<View | null>(() => readView(at));
  const written = useRef(at);
  const moving = useRef(false);
  const view = chosen ?? fit;
  const latest = useRef(view);
  latest.current = view;

  useEffect(() => {
    if (!canvas) return;
    if (!("transferControlToOffscreen" in canvas)) {
      setUndrawable(true);
      return;
    }
    const watcher = { drawn: () => setDrawn(true), undrawable: () => setUndrawable(true) };
    const made = new RemoteDrawing(canvas, { points, order }, watcher);
    setScene(made);
    return () => made.dispose();
  }, [canvas, points, order]);
  useEffect(() => scene?.colour(rgba), [scene, rgba]);
  useEffect(() => scene?.mark(marked), [scene, marked]);
  useEffect(() => {
    if (scene && size) scene.resize(size, window.devicePixelRatio);
  }, [scene, size]);
  useEffect(() => {
    if (scene && size && view && fit) scene.look(view, size, fit, moving.current);
    moving.current = false;
  }, [scene, size, view?.x, view?.y, view?.scale]);

  // The address follows when the map has come to rest, and the map follows the address when that is changed.
  useEffect(() => {
    const text = chosen ? writeView(chosen) : "";
    if (text === written.current) return;
    const timer = setTimeout(() => {
      written.current = text;
      onSettled(text);
    }, SETTLED);
    return () => clearTimeout(timer);
  }, [chosen]);
  useEffect(() => {
    if (at === written.current) return;
    written.current = at;
    setChosen(readView(at));
  }, [at]);

  const move = (change: (view: View) => View) => {
    if (!latest.current) return;
    moving.current = true;
    // Several moves may come before the next drawing; each goes on from the one before.
    latest.current = change(latest.current);
    setChosen(latest.current);
  };
  return { box, setBox, setCanvas, size, view, fit, move, reset: () => setChosen(null), drawn, undrawable };
}

function useSize(box: HTMLElement | null): Size | null {
  const [size, setSize] = useState<Size | null>(null);
  useEffect(() => {
    if (!box) return;
    const look = () => setSize({ width: box.clientWidth, height: box.clientHeight });
    const watcher = new ResizeObserver(look);
    watcher.observe(box);
    look();
    return () => watcher.disconnect();
  }, [box]);
  return size;
}
