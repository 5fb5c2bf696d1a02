import type { Answer } from "../../api/salience";
import { number } from "../../lib/format";

interface ProbabilitiesProps {
  answers: readonly Answer[];
  /** The true class, marked where it is known. */
  label?: string | null;
  /** What the answers were before an edit. */
  before?: readonly Answer[];
  regression: boolean;
}

/** The probability of every class as a bar, with how it changed where there is a before. */
export function Probabilities({ answers, label, before, regression }: ProbabilitiesProps) {
  if (!answers.length) return null;
  return (
    <table class="sal-answers">
      <caption class="hidden-visually">{regression ? "The answer" : "Probabilities of the classes"}</caption>
      <thead class={before ? undefined : "hidden-visually"}>
        <tr>
          <th scope="col">{regression ? "answer" : "class"}</th>
          <th scope="col">
            <span class="hidden-visually">bar</span>
          </th>
          <th scope="col">{before ? "now" : "probability"}</th>
          {before && <th scope="col">original</th>}
          {before && <th scope="col">change</th>}
        </tr>
      </thead>
      <tbody>
        {answers.map((answer) => {
          const was = before?.find((one) => one.name === answer.name)?.probability;
          return (
            <tr key={answer.name}>
              <th scope="row">
                {answer.name}
                {answer.name === label && <span class="badge good">its label</span>}
              </th>
              <td class="sal-bar-cell">{!regression && <Bar share={answer.probability} was={was} />}</td>
              <td class="numbers">{number(answer.probability, 3)}</td>
              {before && <td class="numbers muted">{number(was, 3)}</td>}
              {before && <td class="numbers">{was === undefined ? "–" : change(answer.probability - was)}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Bar({ share, was }: { share: number; was?: number }) {
  return (
    <span class="sal-bar" aria-hidden="true">
      <span class="sal-bar-fill" style={{ width: `${100 * share}%` }} />
      {was !== undefined && <span class="sal-bar-was" style={{ left: `${100 * was}%` }} />}
    </span>
  );
}

function change(value: number): string {
  return `${value > 0 ? "+" : ""}${number(value, 3)}`;
}
