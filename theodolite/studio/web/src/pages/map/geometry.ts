import type { Points } from "../../api/map";
import type { Answered, Asked, Question } from "./geometry.worker";
import type { Spot } from "./view";

/** Where points are, answered by a worker: the page stays free to draw. */
export class Geometry {
  private readonly worker = new Worker(new URL("./geometry.worker.ts", import.meta.url), { type: "module" });
  private readonly waiting = new Map<number, (answer: Answered["answer"]) => void>();
  private asked = 0;

  constructor(points: Points) {
    this.worker.onmessage = (event: MessageEvent<Answered>) => {
      this.waiting.get(event.data.id)?.(event.data.answer);
      this.waiting.delete(event.data.id);
    };
    void this.ask({ ask: "load", x: points.x, y: points.y });
  }

  /** Heed only these points; null for all. */
  show(shown: Uint8Array | null): void {
    void this.ask({ ask: "show", shown });
  }

  /** The nearest point within a radius; null where there is none. */
  async nearest([x, y]: Spot, radius: number): Promise<number | null> {
    const found = await this.ask({ ask: "nearest", x, y, radius });
    return typeof found === "number" && found >= 0 ? found : null;
  }

  /** The points inside an outline, in order. */
  async inside(outline: readonly Spot[]): Promise<Uint32Array> {
    const found = await this.ask({ ask: "inside", outline: Float64Array.from(outline.flat()) });
    return found instanceof Uint32Array ? found : new Uint32Array();
  }

  /** Points by their numbers. */
  async sorted(points: Uint32Array, numbers: Float32Array, descending: boolean): Promise<Uint32Array> {
    const found = await this.ask({ ask: "sort", points, numbers, descending });
    return found instanceof Uint32Array ? found : points;
  }

  end(): void {
    this.worker.terminate();
  }

  private ask(question: Question): Promise<Answered["answer"]> {
    const id = this.asked++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.worker.postMessage({ id, question } satisfies Asked);
    });
  }
}
