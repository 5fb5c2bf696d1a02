import type { Direction, Overview, Rate } from "../../api/directions";
import { Panel } from "../../components/Panel";
import { Link } from "../../lib/address";
import { capital, number, percent } from "../../lib/format";
import { addressOf, kindName } from "./state";
import { VerdictBadge } from "./VerdictBadge";

/** The verdict in words, and how often that verdict falls on directions of any kind. */
export function VerdictPanel({ found, overview }: { found: Direction; overview: Overview }) {
  return (
    <Panel title={titleOf(found)} actions={<Neighbours found={found} />}>
      <div class="stack">
        <p class="verdict-line">
          <VerdictBadge verdict={found.verdict} /> <span>{saying(found)}</span>
        </p>
        <dl class="facts">
          <div>
            <dt>Different patterns</dt>
            <dd>{number(found.different_patterns)}</dd>
          </div>
          <div>
            <dt>Locality</dt>
            <dd>
              {number(found.locality, 3)} <span class="muted small">control {number(found.locality_control, 3)}</span>
            </dd>
          </div>
          {found.false_positives && (
            <div>
              <dt>Random sets with a pattern</dt>
              <dd>
                {percent(found.false_positives.share, 1)}{" "}
                <span class="muted small">
                  {percent(found.false_positives.low, 1)} to {percent(found.false_positives.high, 1)}
                </span>
              </dd>
            </div>
          )}
        </dl>
        {overview.rates.length > 0 && (
          <div class="rates">
            <h3>How much a pattern is worth here: the illusion rate</h3>
            <ul>
              {overview.rates.map((rate) => (
                <RateLine key={rate.kind} rate={rate} />
              ))}
              <ChanceLine rate={overview.rates[0]} size={overview.top} />
            </ul>
          </div>
        )}
        {found.live && (
          <p class="small muted">
            Measured now: this direction is not in the reading. Its p-values are adjusted over its own sets of top
            sentences alone, those of the reading over all of its directions.
          </p>
        )}
      </div>
    </Panel>
  );
}

function RateLine({ rate }: { rate: Rate }) {
  return (
    <li>
      Of {number(rate.with_pattern)} {kindName(rate.kind, true)} with a pattern, <strong>{percent(rate.rate)}</strong>{" "}
      <span class="muted">
        ({percent(rate.low)} to {percent(rate.high)})
      </span>{" "}
      carry it to no other corpus.
    </li>
  );
}

function ChanceLine({ rate, size }: { rate: Rate | undefined; size: number }) {
  if (!rate) return null;
  return (
    <li>
      By chance: {percent(rate.random_sets, 1)}{" "}
      <span class="muted">
        ({percent(rate.random_sets_low, 1)} to {percent(rate.random_sets_high, 1)})
      </span>{" "}
      of random sets of {size} show a pattern.
    </li>
  );
}

function Neighbours({ found }: { found: Direction }) {
  return (
    <>
      {found.before && (
        <Link class="button compact" to={addressOf({ direction: found.before })} label={`Before: ${found.before}`}>
          ← {found.before}
        </Link>
      )}
      {found.after && (
        <Link class="button compact" to={addressOf({ direction: found.after })} label={`After: ${found.after}`}>
          {found.after} →
        </Link>
      )}
    </>
  );
}

function titleOf(found: Direction): string {
  return found.separator ? `Concept: ${found.separator.title}` : capital(found.name);
}

/** The two verdicts of illusion, in more words than a legend has room for. */
const SAYING: Record<string, string> = {
  local: "Its patterns are met in no other corpus, and its top sentences are neighbours, which explains them.",
  unexplained: "Its patterns are met in no other corpus, and its top sentences are no neighbours either.",
  none: "No pattern in any corpus.",
};

function saying(found: Direction): string {
  if (found.verdict === null) return "A single corpus cannot tell whether a meaning carries over.";
  if (!found.pattern || !found.pattern_of) return SAYING[found.verdict] ?? `${capital(found.meaning ?? "")}.`;
  const where = found.carried_to.join(", ");
  return `${capital(found.meaning ?? "")}: “${found.pattern}”, found in ${found.pattern_of}, is met again in ${where}.`;
}
