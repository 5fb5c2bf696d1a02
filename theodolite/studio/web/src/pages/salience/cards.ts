import type { ClusterCard } from "../../api/salience";
import type { At } from "./state";

/** What is selected when a cluster is open. */
export function openedCluster(card: ClusterCard): Partial<At> {
  return {
    view: "clusters",
    corpus: card.corpus,
    method: card.method,
    representation: card.representation,
    within: card.predicted,
    cluster: String(card.id),
    members: "all",
    from: "0",
  };
}

/** What is selected when a text is open. */
export function openedText(corpus: string, row: number): Partial<At> {
  return { view: "texts", corpus, row: String(row) };
}

/** What is selected when a text is tried and edited. */
export function triedText(text: string, second: string | null): Partial<At> {
  return { view: "try", text, original: text, second: second ?? "", original_second: second ?? "", target: "predicted" };
}
