import type { Points } from "../../api/map";
import type { Order } from "./order";
import type { FromScene, ToScene } from "./scene.worker";
import type { Size, View } from "./view";

/** The points, and the order in which they are drawn. */
export interface Placed {
  points: Points;
  order: Order;
}

/** What can be done with the points on the canvas. */
export interface Drawing {
  /** Red, green, blue and opacity of each point, in drawing order. */
  colour(rgba: Uint8Array): void;
  /** Draw these points larger, on top of the others. */
  mark(points: Uint32Array | null): void;
  resize(size: Size, ratio: number): void;
  /** fit: the view of everything; moving: whether more moves are to be expected. */
  look(view: View, size: Size, fit: View, moving: boolean): void;
  dispose(): void;
}

/** Told once when the points are on the canvas, or that this browser cannot draw them. */
export interface Watcher {
  drawn(): void;
  undrawable(): void;
}

/** The points drawn by a worker, so that the page stays free however slow the graphics are. */
export class RemoteDrawing implements Drawing {
  private readonly worker = new Worker(new URL("./scene.worker.ts", import.meta.url), { type: "module" });

  constructor(canvas: HTMLCanvasElement, placed: Placed, watcher: Watcher) {
    this.worker.onmessage = (event: MessageEvent<FromScene>) => watcher[event.data]();
    const offscreen = canvas.transferControlToOffscreen();
    this.worker.postMessage({ kind: "open", canvas: offscreen, placed } satisfies ToScene, [offscreen]);
  }

  colour(rgba: Uint8Array): void {
    this.tell({ kind: "colour", rgba });
  }

  mark(points: Uint32Array | null): void {
    this.tell({ kind: "mark", points });
  }

  resize(size: Size, ratio: number): void {
    this.tell({ kind: "resize", size, ratio });
  }

  look(view: View, size: Size, fit: View, moving: boolean): void {
    this.tell({ kind: "look", view, size, fit, moving });
  }

  dispose(): void {
    this.worker.terminate();
  }

  private tell(message: ToScene): void {
    this.worker.postMessage(message);
  }
}
