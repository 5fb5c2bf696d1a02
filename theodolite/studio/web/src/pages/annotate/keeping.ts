import type { Answer, Submission } from "../../api/annotate";

/** What outlives a reload: an answer on its way, and drafts of items. A browser may forbid storage. */
export class Kept {
  constructor(private readonly token: string) {}

  get pending(): Submission | null {
    return this.read<Submission>("pending");
  }

  set pending(submission: Submission | null) {
    this.write("pending", submission);
  }

  draft(assignment: string): Answer | null {
    return this.read<Answer>(`draft ${assignment}`);
  }

  keepDraft(assignment: string, answer: Answer | null): void {
    this.write(`draft ${assignment}`, answer);
  }

  get begun(): boolean {
    return this.read<boolean>("begun") ?? false;
  }

  set begun(value: boolean) {
    this.write("begun", value);
  }

  private read<T>(name: string): T | null {
    try {
      const text = sessionStorage.getItem(`study ${this.token} ${name}`);
      return text === null ? null : (JSON.parse(text) as T);
    } catch {
      return null;
    }
  }

  private write(name: string, value: unknown): void {
    try {
      if (value === null) sessionStorage.removeItem(`study ${this.token} ${name}`);
      else sessionStorage.setItem(`study ${this.token} ${name}`, JSON.stringify(value));
    } catch {
      // The answer is in memory still.
    }
  }
}

/** A key of its own for every answer. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
