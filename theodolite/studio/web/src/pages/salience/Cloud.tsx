import { number } from "../../lib/format";

const SMALLEST = 0.85;
const LARGEST = 2;

interface CloudProps {
  terms: readonly { term: string; value: number }[];
  /** The value of the largest size, so that clouds side by side are on one scale. */
  largest: number;
  label: string;
}

/** The terms of a cluster, each as large as it weighs, the heaviest first: a list that looks like a cloud. */
export function Cloud({ terms, largest, label }: CloudProps) {
  if (!terms.length) return <p class="muted small">No term stands out.</p>;
  return (
    <ul class="sal-cloud" aria-label={label}>
      {terms.map(({ term, value }) => {
        // Areas, not heights, are what the eye compares.
        const share = Math.sqrt(Math.min(Math.max(value, 0) / largest, 1));
        return (
          <li
            key={term}
            title={`mean value ${number(value, 3)}`}
            style={{ fontSize: `${(SMALLEST + (LARGEST - SMALLEST) * share).toFixed(3)}rem` }}
          >
            {term}
          </li>
        );
      })}
    </ul>
  );
}
