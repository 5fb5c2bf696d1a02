import { useRef, useState } from "preact/hooks";
import type { RatingContent } from "../../api/annotate";
import { Lines } from "./Lines";
import { WordText } from "./WordText";

/** Two texts with their words marked by weight, and the words that belong together joined. */
export function Joined({ content }: { content: RatingContent }) {
  const box = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<number | null>(null);
  const pairs = content.pairs.filter((one) => content.words_a[one.index_a] && content.words_b[one.index_b]);
  const numbers = (side: "index_a" | "index_b") => {
    const found = new Map<number, number[]>();
    pairs.forEach((pair, i) => found.set(pair[side], [...(found.get(pair[side]) ?? []), i]));
    return found;
  };
  return (
    <section aria-label="The two texts" class="study-joined" ref={box}>
      <Lines box={box} pairs={pairs.length} shown={shown} />
      <WordText title="First text" side="a" text={content.text_a} words={content.words_a} numbers={numbers("index_a")} shown={shown} />
      <WordText title="Second text" side="b" text={content.text_b} words={content.words_b} numbers={numbers("index_b")} shown={shown} />
      <div class="study-pairs">
        <h2 class="study-label">Joined words</h2>
        {pairs.length === 0 ? (
          <p class="muted">No words are joined.</p>
        ) : (
          <ul>
            {pairs.map((pair, i) => (
              <li key={i} onMouseEnter={() => setShown(i)} onMouseLeave={() => setShown(null)}>
                <span class="study-pair-number">{i + 1}</span> <bdi>{content.words_a[pair.index_a]?.word}</bdi> –{" "}
                <bdi>{content.words_b[pair.index_b]?.word}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
