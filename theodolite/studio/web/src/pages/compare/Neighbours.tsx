import { useState } from "preact/hooks";
import { neighbours } from "../../api/compare";
import { Button } from "../../components/Button";
import { Clamped } from "../../components/Clamped";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { number, percent } from "../../lib/format";
import { useQuery } from "../../lib/query";

interface NeighboursProps {
  slug: string;
  catalogue: string;
  item: string;
  chosen: string;
  /** Explain this one beside the item. */
  onChoose: (other: string) => void;
  /** Go on from this one. */
  onFollow: (item: string) => void;
}

const FEW = 5;

/** An item and those most like it. */
export function Neighbours({ slug, catalogue, item, chosen, onChoose, onFollow }: NeighboursProps) {
  const found = useQuery(JSON.stringify(["similar", slug, catalogue, item]), (signal) =>
    neighbours(slug, catalogue, item, signal),
  );
  const [more, setMore] = useState(false);
  if (found.fault) return <Fault message={found.fault} again={found.again} />;
  if (!found.data) return <Loading what="Looking for similar items" />;
  const { item: self, neighbours: all } = found.data;
  const others = more || all.findIndex((one) => one.id === chosen) >= FEW ? all : all.slice(0, FEW);
  return (
    <Panel title={self.title || self.id}>
      <div class="stack">
        <Clamped text={self.description} lines={4} />
        <h3>Most like it</h3>
        <ol class="compare-neighbours" data-testid="neighbours">
          {others.map((one) => (
            <li key={one.id} class={one.id === chosen ? "chosen" : undefined}>
              <div class="compare-neighbour-head">
                <strong>
                  <bdi>{one.title || one.id}</bdi>
                </strong>
                <span
                  class="numbers"
                  title={`${percent(one.share, 2)} (${percent(one.share_low, 2)} to ${percent(one.share_high, 2)}) of random pairs are less alike`}
                >
                  {number(one.cosine, 3)}
                </span>
              </div>
              <Clamped text={one.description} lines={2} />
              <div class="row row-centre">
                <span class="muted small">
                  {one.same ? "The very same description." : `${percent(one.share, 2)} of random pairs are less alike.`}
                </span>
                <Button compact pressed={one.id === chosen} onClick={() => onChoose(one.id)} label={`Explain: ${one.title || one.id}`}>
                  Explain
                </Button>
                <Button compact kind="quiet" onClick={() => onFollow(one.id)} label={`Its neighbours: ${one.title || one.id}`}>
                  Its neighbours
                </Button>
              </div>
            </li>
          ))}
        </ol>
        {others.length < all.length && (
          <div>
            <Button compact kind="quiet" onClick={() => setMore(true)}>
              Show {all.length - others.length} more
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}
