import type { NamedPattern, ProposedMerge } from "../../api/studies";
import { Clamped } from "../../components/Clamped";
import { number } from "../../lib/format";

/** Two patterns side by side with the sentences that show them. */
export function MergePair({ pair }: { pair: ProposedMerge }) {
  const parts = [`letters ${number(pair.letters, 2)}`, `sentences ${number(pair.shared, 2)}`];
  if (pair.cosine !== null) parts.push(`meaning ${number(pair.cosine, 2)}`);
  return (
    <div>
      <div class="columns">
        <PatternSide pattern={pair.a} />
        <PatternSide pattern={pair.b} />
      </div>
      <p class="muted small studies-likeness">How alike, from 0 to 1: {parts.join(", ")}</p>
    </div>
  );
}

function PatternSide({ pattern }: { pattern: NamedPattern }) {
  return (
    <section class="studies-pattern" aria-label={`Pattern: ${pattern.name}`}>
      <h3>
        <Clamped text={pattern.name} lines={3} />
      </h3>
      <p class="muted small">
        <bdi>{pattern.annotator}</bdi>, in <bdi>{pattern.corpus}</bdi>
        {pattern.group !== pattern.name && (
          <>
            ; one with <bdi>{pattern.group}</bdi>
          </>
        )}
      </p>
      <ul>
        {pattern.sentences.map((sentence, i) => (
          <li key={i}>
            <Clamped text={sentence} lines={2} />
          </li>
        ))}
      </ul>
    </section>
  );
}
