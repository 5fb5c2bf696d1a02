import { useMemo, useRef, useState } from "preact/hooks";
import type { ByMethod, Compared, WordPair } from "../../api/compare";
import { Button } from "../../components/Button";
import { number } from "../../lib/format";
import { Curves } from "./Curves";
import { Paragraph } from "./Paragraph";
import { FIRST, short, wordsOf } from "./words";

interface JoinedProps {
  found: Compared;
  by: ByMethod;
  /** The pairs that are joined. */
  pairs: readonly WordPair[];
  /** The numbers of the pairs that are lit. */
  lit: readonly number[];
  onLight: (pairs: readonly number[]) => void;
}

/** Both paragraphs side by side, their words coloured, and the chosen pairs joined across the gutter. */
export function Joined({ found, by, pairs, lit, onLight }: JoinedProps) {
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const long = Math.max(found.a.text.length, found.b.text.length) > FIRST;
  const words = useMemo(() => ({ a: wordsOf(found.a).map(short), b: wordsOf(found.b).map(short) }), [found.a, found.b]);
  const longest = open ? Number.POSITIVE_INFINITY : FIRST;
  const side = (name: "a" | "b") => (
    <Paragraph
      side={name}
      of={found[name]}
      saliency={by[name]}
      pairs={pairs}
      partners={words[name === "a" ? "b" : "a"]}
      longest={longest}
      lit={lit}
      onLight={onLight}
    />
  );
  return (
    <div class="stack">
      <div class={lit.length ? "compare-joined some-lit" : "compare-joined"} ref={box} data-testid="joined">
        {side("a")}
        {side("b")}
        <Curves box={box} pairs={pairs} lit={lit} again={`${open}`} />
      </div>
      {long && (
        <div>
          <Button compact kind="quiet" expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Show the beginnings only" : "Show the whole texts"}
          </Button>
        </div>
      )}
      <ol class="compare-chips" aria-label="Chosen pairs">
        {pairs.map((pair, i) => (
          <li key={i}>
            <button
              type="button"
              class={lit.includes(i) ? "compare-chip lit" : "compare-chip"}
              aria-pressed={lit.includes(i)}
              onClick={() => onLight(lit.includes(i) ? [] : [i])}
            >
              <span class="compare-number">{i + 1}</span>
              <span>
                <bdi>{words.a[pair.a]}</bdi> – <bdi>{words.b[pair.b]}</bdi>
              </span>
              <span class="muted numbers">{number(pair.score, 2)}</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
