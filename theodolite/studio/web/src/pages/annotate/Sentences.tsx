import type { NamedPattern } from "../../api/annotate";
import { LongText } from "./LongText";

interface SentencesProps {
  sentences: string[];
  /** None while nobody said that there is a pattern. */
  patterns: NamedPattern[];
  active: number;
  disabled: boolean;
  onTick: (sentence: number) => void;
}

/** The sentences, to be ticked for the active pattern; ticking one says that there is a pattern. */
export function Sentences({ sentences, patterns, active, disabled, onTick }: SentencesProps) {
  const several = patterns.length > 1;
  return (
    <ol class="study-sentences" aria-label={several ? `Sentences that show pattern ${active + 1}` : "Sentences that show it"}>
      {sentences.map((text, i) => {
        const ticked = patterns[active]?.sentences.includes(i) ?? false;
        const others = patterns.flatMap((one, p) => (p !== active && one.sentences.includes(i) ? [p + 1] : []));
        return (
          <li key={i}>
            <label class={ticked ? "study-sentence ticked" : "study-sentence"}>
              <input type="checkbox" checked={ticked} disabled={disabled} onChange={() => onTick(i)} />
              <span class="study-number" aria-hidden="true">
                {i < 10 ? (i + 1) % 10 : ""}
              </span>
              <span class="study-sentence-text">
                <LongText text={text} />
                {others.length > 0 && <span class="study-also">also in pattern {others.join(", ")}</span>}
              </span>
            </label>
          </li>
        );
      })}
    </ol>
  );
}
