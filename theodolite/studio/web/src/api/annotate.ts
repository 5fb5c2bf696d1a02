/** What an annotator's page asks and is told. Nothing here knows where an item came from. */

export type Kind = "annotation" | "rating" | "rationale";

export interface Progress {
  answered: number;
  left: number;
  /** The item whose answer an undo would take back. */
  undo: string | null;
}

export interface About {
  title: string;
  instructions: string;
  kind: Kind;
  closed: boolean;
  progress: Progress;
}

export interface AnnotationContent {
  kind: "annotation";
  corpus: string;
  sentences: string[];
}

export interface WeighedWord {
  word: string;
  start: number;
  end: number;
  weight: number;
}

export interface RatingContent {
  kind: "rating";
  text_a: string;
  text_b: string;
  words_a: WeighedWord[];
  words_b: WeighedWord[];
  pairs: { index_a: number; index_b: number }[];
}

export interface Neighbour {
  text: string;
  label: string | null;
  answer: string | null;
}

export interface RationaleContent {
  kind: "rationale";
  text: string;
  label: string;
  answer: string;
  neighbours: Neighbour[];
}

export type Content = AnnotationContent | RatingContent | RationaleContent;

export interface NamedPattern {
  name: string;
  sentences: number[];
}

export interface AnnotationAnswer {
  kind: "annotation";
  pattern: boolean;
  patterns: NamedPattern[];
}

export interface RatingAnswer {
  kind: "rating";
  rating: number;
}

export interface RationaleAnswer {
  kind: "rationale";
  explains: boolean;
  rationale: string;
}

export type Answer = AnnotationAnswer | RatingAnswer | RationaleAnswer;

export interface Item {
  assignment: string;
  content: Content;
  /** One's own answer that was taken back. */
  previous: Answer | null;
}

export interface Next {
  state: "item" | "done" | "waiting" | "closed";
  item: Item | null;
  progress: Progress;
}

export interface Submission {
  assignment: string;
  answer: Answer;
  /** The same when an answer has to be sent again, so that it counts once. */
  key: string;
}

export interface Saved {
  assignment: string;
  repeated: boolean;
  progress: Progress;
}

/** The server answered, and it was no. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "Refusal";
  }
}

/** Nothing was answered, or nothing final: it may be asked again. */
export class Unreached extends Error {}

export class AnnotatorApi {
  constructor(private readonly token: string) {}

  about(): Promise<About> {
    return this.ask("about");
  }

  next(): Promise<Next> {
    return this.ask("next", {});
  }

  submit(submission: Submission): Promise<Saved> {
    return this.ask("answers", submission);
  }

  undo(assignment: string): Promise<Next> {
    return this.ask("undo", { assignment });
  }

  private async ask<T>(what: string, body?: unknown): Promise<T> {
    const path = `/api/annotate/${encodeURIComponent(this.token)}/${what}`;
    const init: RequestInit =
      body === undefined
        ? {}
        : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    let answer: Response;
    try {
      answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(20_000), ...init });
    } catch {
      throw new Unreached("There is no connection.");
    }
    if (answer.status >= 500 || answer.status === 408 || answer.status === 429) {
      throw new Unreached("The study's server is not ready.");
    }
    let told: unknown;
    try {
      told = await answer.json();
    } catch {
      throw new Unreached("The study's server broke off.");
    }
    if (!answer.ok) {
      const detail = (told as { detail?: unknown }).detail;
      throw new Refusal(answer.status, typeof detail === "string" ? detail : "The study does not accept this.");
    }
    return told as T;
  }
}
