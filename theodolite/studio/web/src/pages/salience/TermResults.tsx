import type { ListChange, TermChange, TermResult } from "../../api/salience";
import { number } from "../../lib/format";
import { ChangesCharts } from "./ChangesCharts";
import { ChangesTable } from "./ChangesTable";

interface TermResultsProps {
  results: readonly TermResult[];
  corpus: string;
  toward: string;
}

/** The terms tried on one corpus and class, the newest first, and ordinary words beneath them. */
export function TermResults({ results, corpus, toward }: TermResultsProps) {
  const mine = results.filter((one) => one.corpus === corpus && one.toward === toward).reverse();
  const asked = unique(mine.map((one) => one.asked));
  // That over the most texts is the best known.
  const baseline = mine
    .flatMap((one) => (one.baseline ? [one.baseline] : []))
    .reduce<ListChange | undefined>((best, one) => (best && best.insertion.texts >= one.insertion.texts ? best : one), undefined);
  if (!asked.length) return null;
  const rows = [...asked.map((one) => ({ ...one, baseline: false })), ...(baseline ? [{ ...baseline, baseline: true }] : [])];
  const newest = mine[0];
  return (
    <div class="stack" aria-live="polite">
      <ChangesCharts rows={rows} toward={toward} name={`terms-${toward}`} />
      <ChangesTable rows={rows} caption={`Change of p(${toward})`} />
      <p class="muted small">
        {baseline && `Ordinary words, drawn at random from ${corpus}: ${baseline.terms.join(", ")}. `}
        {newest &&
          `“${newest.asked.term}” was looked for in ${number(newest.searched)} of the ${number(newest.of)} texts answered ${toward}.`}
      </p>
    </div>
  );
}

/** A term tried twice is shown as it came out last. */
function unique(changes: readonly TermChange[]): TermChange[] {
  return [...new Map([...changes].reverse().map((one) => [one.term, one])).values()].reverse();
}
