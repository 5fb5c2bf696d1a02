import { Legend } from "../../components/Legend";
import type { Key } from "./state";

interface KeyProps {
  legend: Key;
  hidden?: readonly string[];
  onToggle?: (corpus: string) => void;
  baseline?: string | null;
}

/** What the colours, the dashes and the thin dots mean. */
export function KeyLegend({ legend, hidden = [], onToggle, baseline }: KeyProps) {
  return (
    <div class="key-legend">
      <Legend
        label="Corpora"
        items={legend.corpora.map((corpus) => ({ label: corpus, colour: legend.colour(corpus), on: !hidden.includes(corpus) }))}
        onToggle={onToggle}
      />
      {(legend.surveys.length > 1 || baseline) && (
        <ul class="legend" aria-label="Lines">
          {legend.surveys.length > 1 &&
            legend.surveys.map((survey) => <Sample key={survey} dash={legend.dash(survey)} width={2} label={legend.encoder(survey)} />)}
          {baseline && <Sample dash="1 3" width={1.4} label={`baseline: ${baseline}`} />}
        </ul>
      )}
    </div>
  );
}

function Sample({ dash, width, label }: { dash: string; width: number; label: string }) {
  return (
    <li class="legend-item">
      <svg class="line-sample" viewBox="0 0 28 8" aria-hidden="true">
        <line x1="0" x2="28" y1="4" y2="4" stroke="currentColor" stroke-width={width} stroke-dasharray={dash || undefined} />
      </svg>
      <span>{label}</span>
    </li>
  );
}
