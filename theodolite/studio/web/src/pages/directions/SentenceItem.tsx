import { useState } from "preact/hooks";
import type { Pattern, Sentence } from "../../api/directions";
import { number } from "../../lib/format";

/** Characters shown before a person asks for more. */
const FIRST = 320;

/** One sentence: how far out it lies, and the pattern's words marked in it. */
export function SentenceItem({ sentence, patterns }: { sentence: Sentence; patterns: readonly Pattern[] }) {
  const [open, setOpen] = useState(false);
  const short = open ? sentence.spans : firstOf(sentence.spans);
  const long = firstOf(sentence.spans).length !== sentence.spans.length || shorter(sentence);
  const shown = sentence.shows.map((i) => patterns[i]?.pattern).filter((one) => one !== undefined);
  return (
    <li class={shown.length ? "shows" : undefined}>
      <span
        class="deviations numbers"
        title={`projection ${number(sentence.score, 3)}, ${number(sentence.deviations, 1)} standard deviations from the mean`}
      >
        {number(sentence.deviations, 1)}
      </span>
      <div class="sentence-text" dir="auto">
        {short.map((span, i) => (span.marked ? <mark key={i}>{span.text}</mark> : <span key={i}>{span.text}</span>))}
        {!open && long ? "…" : sentence.cut ? " …" : ""}
        {long && (
          <>
            {" "}
            <button type="button" class="link-button small" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "show less" : "show more"}
            </button>
          </>
        )}
        {shown.length > 0 && <span class="hidden-visually"> Shows {shown.join("; ")}.</span>}
      </div>
    </li>
  );
}

type Spans = Sentence["spans"];

function shorter(sentence: Sentence): boolean {
  return sentence.spans.reduce((sum, span) => sum + span.text.length, 0) > FIRST;
}

function firstOf(spans: Spans): Spans {
  const found: Spans = [];
  let room = FIRST;
  for (const span of spans) {
    if (room <= 0) break;
    found.push(span.text.length > room ? { ...span, text: span.text.slice(0, room) } : span);
    room -= span.text.length;
  }
  return found;
}
