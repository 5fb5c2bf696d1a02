import type { Answer } from "../../api/annotate";

/** What every kind of item is given. */
export interface Judging<Content, Said extends Answer> {
  content: Content;
  /** What was said of it before, if anything. */
  draft: Said | null;
  /** An answer is on its way. */
  busy: boolean;
  shortcuts: boolean;
  onDraft: (answer: Said) => void;
  onSubmit: (answer: Said) => void;
}
