import type { WholeSurvey } from "../../api/survey";
import { Panel } from "../../components/Panel";

/** What somebody else needs to get the same figures. */
export function RepeatPanel({ survey }: { survey: WholeSurvey }) {
  const facts: [string, string][] = [
    ["Theodolite", survey.theodolite ?? "–"],
    ...Object.entries(survey.versions),
    ...survey.corpora.map((corpus): [string, string] => [`${corpus.name} (hash)`, corpus.hash?.slice(0, 12) ?? "–"]),
  ];
  return (
    <Panel title="How to repeat it" note="Each reading's options and seed are under its own heading.">
      <div class="stack">
        {survey.command ? (
          <pre tabIndex={0} aria-label="Command">
            <code>{survey.command}</code>
          </pre>
        ) : (
          <p>It was run from Python.</p>
        )}
        <dl class="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Panel>
  );
}
