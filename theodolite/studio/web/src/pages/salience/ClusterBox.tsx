import type { ClusterCard } from "../../api/salience";
import { Link } from "../../lib/address";
import { number, percent } from "../../lib/format";
import { openedCluster } from "./cards";
import { Cloud } from "./Cloud";
import { addressWith } from "./state";

/** A cluster as a card: its words, how suspicious it is, how many texts it has. */
export function ClusterBox({ card, largest }: { card: ClusterCard; largest: number }) {
  return (
    <article class="panel sal-card sal-linked">
      <h3>
        <Link to={addressWith(openedCluster(card))}>
          {card.predicted}, cluster {card.id}
        </Link>
      </h3>
      <Cloud terms={card.terms} largest={largest} label={`Terms of cluster ${card.id} of ${card.predicted}`} />
      <ClusterFacts card={card} />
    </article>
  );
}

/** Suspicion with its three parts, size and accuracy; how well it gathers the marked texts where it does best. */
export function ClusterFacts({ card }: { card: ClusterCard }) {
  return (
    <div class="sal-card-facts">
      <p class="numbers">
        <strong>suspicion {number(card.suspicion, 2)}</strong>{" "}
        <span class="muted">
          = purity {number(card.purity, 2)} × concentration {number(card.concentration, 2)} × distinctness{" "}
          {number(card.distinctness, 2)}
        </span>
      </p>
      <p class="muted">
        {number(card.size)} texts, {percent(card.share)} of those answered {card.predicted}
        {card.accuracy !== null && `; ${percent(card.accuracy)} of them rightly`}
        {card.true.length > 0 && ` (labels: ${card.true.join(", ")})`}
      </p>
      {card.marker && (
        <p>
          <span class="badge accent">
            gathers the marked texts best: precision {number(card.marker.precision, 2)}, recall{" "}
            {number(card.marker.recall, 2)} of {number(card.marker.marked)}
          </span>
        </p>
      )}
    </div>
  );
}
