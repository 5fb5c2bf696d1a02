import { useState } from "preact/hooks";
import type { WeighedWord } from "../../api/annotate";

interface WordTextProps {
  title: string;
  side: "a" | "b";
  text: string;
  words: WeighedWord[];
  /** The pairs that each word is in, from 0. */
  numbers: Map<number, number[]>;
  /** The pair that is pointed at. */
  shown: number | null;
}

const FIRST = 2500;

/** A text whose words are the darker the more they count, with small numbers where they are joined. */
export function WordText({ title, side, text, words, numbers, shown }: WordTextProps) {
  const [open, setOpen] = useState(false);
  const long = text.length > FIRST * 1.2;
  const end = long && !open ? FIRST : text.length;
  const spans = [];
  let done = 0;
  for (const [i, word] of words.entries()) {
    if (word.start < done || word.end > end || word.end < word.start) continue;
    if (word.start > done) spans.push(text.slice(done, word.start));
    const pairs = numbers.get(i) ?? [];
    const pointed = shown !== null && pairs.includes(shown);
    spans.push(
      <mark
        key={i}
        class={pointed ? "study-word pointed" : "study-word"}
        data-pairs={pairs.length ? pairs.map((pair) => `${side}${pair}`).join(" ") : undefined}
        style={{ "--strength": String(Math.min(Math.max(word.weight, 0), 1)) }}
      >
        {text.slice(word.start, word.end)}
        {pairs.length > 0 && <sup>{pairs.map((pair) => pair + 1).join(",")}</sup>}
      </mark>,
    );
    done = word.end;
  }
  if (done < end) spans.push(text.slice(done, end));
  return (
    <div class="study-text-card">
      <h2 class="study-label">{title}</h2>
      <p dir="auto" class="study-words">
        {spans}
        {end < text.length && "…"}
      </p>
      {long && (
        <button type="button" class="link-button study-more" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
        </button>
      )}
    </div>
  );
}
