import type { ByMethod, Compared, Method, WordedText } from "../../api/compare";
import { Loading } from "../../components/Loading";
import { Passage, type Span } from "../../components/Passage";
import { number } from "../../lib/format";
import { joinedPairs, pieces, shares, short, wordsOf } from "./words";

const NAMED = 6;

/** Every method's explanation, small, side by side. */
export function AllMethods({ found, methods, waiting }: { found: Compared; methods: readonly Method[]; waiting: boolean }) {
  const words = { a: wordsOf(found.a).map(short), b: wordsOf(found.b).map(short) };
  return (
    <div class="compare-all" data-testid="all-methods">
      {methods.map((method) => {
        const by = found.methods[method.name];
        return (
          <section key={method.name} class="compare-small" aria-label={method.name}>
            <h3>{method.name}</h3>
            <p class="muted small">{method.about}</p>
            {by ? (
              <>
                <div class="compare-small-texts">
                  <Passage spans={spans(found.a, by.a)} label="First text" />
                  <Passage spans={spans(found.b, by.b)} label="Second text" />
                </div>
                <Named by={by} words={words} />
              </>
            ) : (
              waiting && <Loading what="Many passes" />
            )}
          </section>
        );
      })}
    </div>
  );
}

function Named({ by, words }: { by: ByMethod; words: { a: string[]; b: string[] } }) {
  const pairs = joinedPairs(by);
  return (
    <ol class="compare-named" aria-label="Highest chosen pairs">
      {pairs.slice(0, NAMED).map((pair, i) => (
        <li key={i}>
          <bdi>{words.a[pair.a]}</bdi> – <bdi>{words.b[pair.b]}</bdi>{" "}
          <span class="muted numbers">{number(pair.score, 2)}</span>
        </li>
      ))}
      {by.chosen > NAMED && <li class="muted">and {number(by.chosen - NAMED)} more</li>}
    </ol>
  );
}

function spans(of: WordedText, saliency: readonly number[]): Span[] {
  const strengths = shares(saliency);
  return pieces(of).map(({ text, word }) => ({ text, weight: word === null ? 0 : (strengths[word] ?? 0) }));
}
