import type { Compared, Standing } from "../../api/compare";
import { Panel } from "../../components/Panel";
import { interval, number, percent } from "../../lib/format";

interface ScoreProps {
  found: Compared;
  standing?: Standing | undefined;
  fault?: string | undefined;
  looking: boolean;
}

/** The cosine, and what it is worth beside random pairs. */
export function Score({ found, standing, fault, looking }: ScoreProps) {
  return (
    <Panel class="compare-score">
      <div class="compare-cosine">
        <span class="compare-figure numbers" data-testid="cosine">
          {number(found.cosine, 3)}
        </span>
        <span class="muted small">cosine</span>
      </div>
      <div class="compare-worth">
        {standing && <Scale cosine={found.cosine} standing={standing} />}
        {standing && <p data-testid="baseline">{worth(standing)}</p>}
        {!standing && looking && <p class="muted">Beside it, the cosines of random pairs are being looked at…</p>}
        {!standing && fault && <p class="muted">There is no baseline: {fault}.</p>}
        <p class="muted small">
          Explained are the vectors under {found.pooling} pooling; under the model's own, which an index holds, the cosine
          is {number(found.cosine_own, 3)}.
        </p>
      </div>
    </Panel>
  );
}

function worth(standing: Standing): string {
  const { mean, low, high, pairs, share, share_low, share_high, texts } = standing;
  const random = `Two random ${texts} have ${number(mean, 3)} on average (${interval(low, high, 3)}; ${number(pairs)} pairs).`;
  // Of many pairs, the last part of a percent still tells.
  const digits = (share_low ?? 0) > 0.99 ? 2 : 1;
  const ends = `${percent(share_low, digits)} to ${percent(share_high, digits)}`;
  return `${random} Of such pairs, ${percent(share, digits)} (${ends}) are less alike than these two.`;
}

/** A line from −1 to 1 with both marked; the sentence beside it says the same. */
function Scale({ cosine, standing }: { cosine: number; standing: Standing }) {
  const at = (value: number) => 150 * (Math.min(Math.max(value, -1), 1) + 1);
  const random = standing.mean ?? 0;
  return (
    <svg class="compare-scale" viewBox="-20 0 340 28" aria-hidden="true">
      <text x="-6" y="12" text-anchor="end">
        −1
      </text>
      <text x="306" y="12">
        1
      </text>
      <text x={at(random)} y="26" text-anchor="middle">
        random
      </text>
      <line x1="0" x2="300" y1="9" y2="9" class="compare-axis" />
      <line x1={at(random)} x2={at(cosine)} y1="9" y2="9" class="compare-reach" />
      <line x1={at(random)} x2={at(random)} y1="3" y2="15" class="compare-random" />
      <circle cx={at(cosine)} cy="9" r="5" class="compare-here" />
    </svg>
  );
}
