import { useMemo } from "preact/hooks";
import type { WordedText, WordPair } from "../../api/compare";
import { number } from "../../lib/format";
import { pairsByWord, pieces, shares, short, type Side } from "./words";

/** Weights under this stay uncoloured: a page of pale tints says nothing. */
const FAINT = 0.04;
/** The deepest tint under which text stays legible. */
const DEEPEST = 0.62;

interface ParagraphProps {
  side: Side;
  of: WordedText;
  saliency: readonly number[];
  pairs: readonly WordPair[];
  /** The words of the other text. */
  partners: readonly string[];
  longest: number;
  lit: readonly number[];
  onLight: (pairs: readonly number[]) => void;
}

/** A text whose words are coloured by their saliency; those that are joined can be pointed at and reached by keyboard. */
export function Paragraph({ side, of, saliency, pairs, partners, longest, lit, onLight }: ParagraphProps) {
  const cut = useMemo(() => pieces(of, longest), [of, longest]);
  const strengths = useMemo(() => shares(saliency), [saliency]);
  const joined = useMemo(() => pairsByWord(pairs, side), [pairs, side]);
  const other = side === "a" ? "b" : "a";
  const bright = new Set(lit.map((number) => pairs[number]?.[side]));
  return (
    <p class="passage compare-paragraph" dir="auto" data-side={side} role="group" aria-label={side === "a" ? "First text" : "Second text"}>
      {cut.map(({ text, word }, i) => {
        if (word === null) return text;
        const strength = strengths[word] ?? 0;
        const style = strength < FAINT ? undefined : { "--strength": (strength * DEEPEST).toFixed(3) };
        const title = `saliency ${number(saliency[word], 2)}`;
        const numbers = joined.get(word);
        if (!numbers) {
          return (
            <span key={i} class="compare-word" style={style} title={title}>
              {text}
            </span>
          );
        }
        const with_ = numbers.map((n) => partners[pairs[n]?.[other] ?? -1] ?? "").join(", ");
        return (
          <span
            key={i}
            class={bright.has(word) ? "compare-word joined lit" : "compare-word joined"}
            style={style}
            title={title}
            data-word={word}
            data-numbers={numbers.map((n) => n + 1).join(",")}
            role="button"
            tabIndex={0}
            aria-label={`${short(text)}, joined with ${with_}`}
            onMouseEnter={() => onLight(numbers)}
            onMouseLeave={() => onLight([])}
            onFocus={() => onLight(numbers)}
            onBlur={() => onLight([])}
            onClick={() => onLight(numbers)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== " ") return;
              event.preventDefault();
              onLight(numbers);
            }}
          >
            {text}
          </span>
        );
      })}
      {(of.ends[of.ends.length - 1] ?? 0) > longest ? "…" : ""}
    </p>
  );
}
