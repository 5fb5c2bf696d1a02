import { useMemo, useState } from "preact/hooks";
import type { ByMethod, Compared } from "../../api/compare";
import { count, number } from "../../lib/format";
import { Joined } from "./Joined";
import { PairTable } from "./PairTable";
import { joinedPairs } from "./words";

interface OneMethodProps {
  found: Compared;
  name: string;
  about: string;
  by: ByMethod;
}

/** The explanation by one method: both texts with the pairs joined, and the pairs as a table. */
export function OneMethod({ found, name, about, by }: OneMethodProps) {
  const pairs = useMemo(() => joinedPairs(by), [by]);
  const [lit, setLit] = useState<readonly number[]>([]);
  return (
    <div class="stack">
      <p class="muted small">
        A word's saliency by {name}: {about}. {count(by.chosen, "pair")} of {number(by.matched)}{" "}
        {by.chosen === 1 ? "is" : "are"} chosen
        {by.chosen > pairs.length ? `; the ${number(pairs.length)} highest are joined` : ""}.
      </p>
      <Joined key={name} found={found} by={by} pairs={pairs} lit={lit} onLight={setLit} />
      <PairTable found={found} by={by} joined={pairs.length} onLight={setLit} />
    </div>
  );
}
