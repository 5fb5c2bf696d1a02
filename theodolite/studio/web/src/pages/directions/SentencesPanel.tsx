import type { Direction, InCorpus, Overview, Pattern } from "../../api/directions";
import { Clamped } from "../../components/Clamped";
import { Panel } from "../../components/Panel";
import { Tabs } from "../../components/Tabs";
import { categorical } from "../../lib/colours";
import { number } from "../../lib/format";
import { SentenceItem } from "./SentenceItem";

interface SentencesProps {
  found: Direction;
  overview: Overview;
  end: string;
  onEnd: (end: string) => void;
}

/** The sentences at one end of a direction, corpora side by side. */
export function SentencesPanel({ found, overview, end, onEnd }: SentencesProps) {
  const things = overview.unit === "token" ? "tokens" : "sentences";
  const which = end === "bottom" ? "bottom" : "top";
  return (
    <Panel
      title="The same direction, corpus by corpus"
      note={`The ${overview.top} ${things} at each end, with their projection in standard deviations from the corpus's mean. Words of the pattern are marked.`}
    >
      <Tabs
        label="End of the direction"
        value={which}
        onChange={onEnd}
        tabs={[
          { id: "top", title: `Top ${things}` },
          { id: "bottom", title: `Bottom ${things}` },
        ]}
      >
        <div class="corpora-columns">
          {found.corpora.map((one, i) => (
            <Column key={one.corpus} one={one} number={i} end={which} />
          ))}
        </div>
      </Tabs>
    </Panel>
  );
}

function Column({ one, number: place, end }: { one: InCorpus; number: number; end: "top" | "bottom" }) {
  return (
    <section class="corpus-column" aria-label={one.corpus}>
      <h3 class="corpus-name">
        <span class="legend-swatch" aria-hidden="true" style={{ backgroundColor: categorical(place) }} />
        {one.corpus}
      </h3>
      {end === "top" ? <Patterns patterns={one.patterns} of={one.top.length} /> : <div />}
      <ol class="sentences">
        {one[end].map((sentence, i) => (
          <SentenceItem key={`${sentence.row} ${i}`} sentence={sentence} patterns={end === "top" ? one.patterns : []} />
        ))}
      </ol>
    </section>
  );
}

function small(p: number): string {
  return p < 0.001 ? "< 0.001" : number(p, 3);
}

function Patterns({ patterns, of }: { patterns: readonly Pattern[]; of: number }) {
  if (!patterns.length) return <p class="pattern-none muted small">No pattern.</p>;
  return (
    <ul class="patterns" aria-label="Patterns">
      {patterns.map((one) => (
        <li key={one.pattern}>
          <Clamped text={one.pattern} lines={2} />
          <span class="muted small numbers">
            {one.hits} of {of}, adjusted p {small(one.p_adjusted)}
          </span>
        </li>
      ))}
    </ul>
  );
}
