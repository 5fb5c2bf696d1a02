import type { Separator } from "../../api/directions";
import { Clamped } from "../../components/Clamped";
import { Panel } from "../../components/Panel";
import { count, number, percent } from "../../lib/format";

/** What a typed concept was learned from, and how well its direction tells the two lists apart. */
export function ConceptPanel({ separator }: { separator: Separator }) {
  const { texts, others, accuracy, low, high, guessing, stability, in_corpora } = separator;
  return (
    <Panel title="Does the direction hold the concept?">
      <div class="stack">
        <dl class="facts">
          <div>
            <dt>Accuracy on held-out texts</dt>
            <dd>
              {percent(accuracy)}{" "}
              <span class="muted small">
                {percent(low)} to {percent(high)}
              </span>
            </dd>
          </div>
          <div>
            <dt>Guessing</dt>
            <dd>{percent(guessing)}</dd>
          </div>
          <div>
            <dt>Stability</dt>
            <dd>
              {number(stability, 2)} <span class="muted small">cosine of two resamples</span>
            </dd>
          </div>
        </dl>
        <p class="small muted">
          The direction is fitted on all {texts.length + others.length} typed texts; the accuracy is the mean of five
          folds, each judged on texts that it was not fitted on. Patterns and verdict come from the corpora.{" "}
          {in_corpora
            ? `${count(in_corpora, "of the typed texts is", "of the typed texts are")} also in the corpora, word for word: there the direction was fitted on what it is judged on.`
            : "None of the typed texts is in them."}
        </p>
        <details>
          <summary class="small">
            The {texts.length} texts with it and the {others.length} without
          </summary>
          <div class="columns typed-texts">
            <TypedTexts title="With it" texts={texts} />
            <TypedTexts title="Without" texts={others} />
          </div>
        </details>
      </div>
    </Panel>
  );
}

function TypedTexts({ title, texts }: { title: string; texts: readonly string[] }) {
  return (
    <div>
      <h3>{title}</h3>
      <ul class="small">
        {texts.map((text) => (
          <li key={text}>
            <Clamped text={text} lines={3} />
          </li>
        ))}
      </ul>
    </div>
  );
}
