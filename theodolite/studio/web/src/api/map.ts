import { ApiFault, getBytes, getJson, postJson, withParams } from "../lib/api";
import type { Job } from "../lib/jobs";

export interface Category {
  name: string;
  count: number;
}

export interface Colouring {
  id: string;
  title: string;
  kind: "categories" | "numbers";
  /** By code. */
  categories: Category[];
  low: number | null;
  high: number | null;
}

export interface Bounds {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

export interface AboutMap {
  reading: string;
  readings: string[];
  unit: "text" | "token";
  count: number;
  bounds: Bounds;
  colourings: Colouring[];
  vectors: { possible: boolean; reason: string | null; dim: number | null; seed: number };
  without_texts: string[];
}

export interface Points {
  count: number;
  x: Float32Array;
  y: Float32Array;
  corpus: Uint16Array;
}

export interface ScoresAbout {
  name: string;
  title: string;
  low: number;
  median: number;
  high: number;
  scored: number;
}

export interface VectorsState {
  stored: boolean;
  texts: number;
  reason: string | null;
  job: string | null;
}

export interface PointText {
  point: number;
  corpus: string;
  row: number;
  position: number | null;
  x: number;
  y: number;
  text: string | null;
  length: number;
  values: Record<string, string>;
}

export type FileKind = "csv" | "jsonl" | "parquet";

/** The code of a point that is in no category. */
export const NO_CATEGORY = 65535;
/** Bytes of a point: two float32 and a uint16. */
const POINT_BYTES = 10;

/** The map of one reading of a survey. */
export class MapApi {
  constructor(
    readonly slug: string,
    readonly reading: string,
  ) {}

  key(what: string): string {
    return `map ${this.slug} ${this.reading} ${what}`;
  }

  about(signal: AbortSignal): Promise<AboutMap> {
    return getJson(this.path(), this.of(), signal);
  }

  async points(signal: AbortSignal): Promise<Points> {
    const bytes = await getBytes(this.path("/points"), this.of(), signal);
    const count = bytes.byteLength / POINT_BYTES;
    return {
      count,
      x: new Float32Array(bytes, 0, count),
      y: new Float32Array(bytes, 4 * count, count),
      corpus: new Uint16Array(bytes, 8 * count, count),
    };
  }

  async codes(id: string, signal: AbortSignal): Promise<Uint16Array> {
    return new Uint16Array(await this.colours(id, signal));
  }

  async numbers(id: string, signal: AbortSignal): Promise<Float32Array> {
    return new Float32Array(await this.colours(id, signal));
  }

  async scores(direction: string, signal: AbortSignal): Promise<Float32Array> {
    return new Float32Array(await getBytes(this.path("/scores"), { ...this.of(), direction }, signal));
  }

  scoresAbout(direction: string, signal: AbortSignal): Promise<ScoresAbout> {
    return getJson(this.path("/scores/about"), { ...this.of(), direction }, signal);
  }

  vectors(signal: AbortSignal): Promise<VectorsState> {
    return getJson(this.path("/vectors"), this.of(), signal);
  }

  computeVectors(): Promise<Job> {
    return postJson(withParams(this.path("/vectors"), this.of()), {});
  }

  learnConcept(texts: readonly string[], others: readonly string[]): Promise<Job<{ name: string }>> {
    return postJson(withParams(this.path("/concepts"), this.of()), { texts, others });
  }

  texts(points: readonly number[], longest: number, signal?: AbortSignal): Promise<PointText[]> {
    return postJson(withParams(this.path("/texts"), this.of()), { points, longest }, signal);
  }

  async search(q: string, signal: AbortSignal): Promise<Uint32Array> {
    return new Uint32Array(await getBytes(this.path("/search"), { ...this.of(), q }, signal));
  }

  /** A selection, a bit a point, as a file. */
  async export(bits: Uint8Array<ArrayBuffer>, format: FileKind, direction: string): Promise<Blob> {
    const path = withParams(this.path("/export"), { ...this.of(), format, direction: direction || undefined });
    const headers = { "Content-Type": "application/octet-stream" };
    const answer = await fetch(path, { method: "POST", headers, body: bits, credentials: "same-origin" });
    if (!answer.ok) throw new ApiFault(answer.status, `The file could not be made (${answer.status}).`);
    return answer.blob();
  }

  private colours(id: string, signal: AbortSignal): Promise<ArrayBuffer> {
    return getBytes(this.path(`/colours/${encodeURIComponent(id)}`), this.of(), signal);
  }

  private path(rest = ""): string {
    return `/api/surveys/${encodeURIComponent(this.slug)}/map${rest}`;
  }

  private of() {
    return { reading: this.reading || undefined };
  }
}
