import { useState } from "preact/hooks";
import type { Finding } from "../../api/survey";

/** The most telling come first; this many are shown at once. */
const FIRST = 4;

export function Findings({ findings }: { findings: readonly Finding[] }) {
  const [all, setAll] = useState(false);
  if (!findings.length) return <p class="muted">Nothing was clear enough to put into a sentence.</p>;
  const shown = all ? findings : findings.slice(0, FIRST);
  return (
    <div class="stack">
      {grouped(shown).map(([about, sentences], i) => (
        <div key={`${about} ${i}`}>
          {about && <h3 class="finding-about">{about}</h3>}
          <ul class="findings">
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      ))}
      {findings.length > FIRST && (
        <div>
          <button type="button" class="link-button small" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "show the main findings only" : `show all ${findings.length} findings`}
          </button>
        </div>
      )}
    </div>
  );
}

/** Sentences under what they were measured on, in the order in which each first comes. */
function grouped(findings: readonly Finding[]): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { about, sentence } of findings) found.set(about, [...(found.get(about) ?? []), sentence]);
  return [...found];
}
