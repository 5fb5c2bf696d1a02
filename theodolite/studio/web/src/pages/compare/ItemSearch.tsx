import { useState } from "preact/hooks";
import { catalogueItems } from "../../api/compare";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { TextField } from "../../components/TextField";
import { useAddress } from "../../lib/address";
import { number } from "../../lib/format";
import { useQuery } from "../../lib/query";

interface ItemSearchProps {
  slug: string;
  catalogue: string;
  chosen: string;
  onChoose: (item: string) => void;
}

const A_PAGE = 10;

/** The items of a catalogue, by what their titles or ids contain. */
export function ItemSearch({ slug, catalogue, chosen, onChoose }: ItemSearchProps) {
  const [address, go] = useAddress({ q: "", start: "0" });
  const [typed, setTyped] = useState(address.q);
  const start = Math.max(0, Math.floor(Number(address.start)) || 0);
  const asked = { q: address.q, start, limit: A_PAGE };
  const found = useQuery(
    JSON.stringify(["items", slug, catalogue, asked]),
    (signal) => catalogueItems(slug, catalogue, asked, signal),
    { keep: true },
  );
  const search = () => go({ q: typed, start: "0" }, "replace");
  const turn = (to: number) => go({ start: String(Math.max(0, to)) }, "replace");
  return (
    <Panel title="Items">
      <div class="stack">
        <div class="compare-search">
          <TextField label="Title or id contains" type="search" value={typed} onChange={setTyped} onEnter={search} maxLength={200} />
          <Button onClick={search}>Search</Button>
        </div>
        {found.loading && !found.data && <Loading what="Looking for items" />}
        {found.fault && <Fault message={found.fault} again={found.again} />}
        {found.data?.found === 0 && <p class="muted">No title or id contains that.</p>}
        <ul class="compare-items">
          {found.data?.items.map((item) => (
            <li key={item.id}>
              <button
                type="button"
                class="compare-item"
                aria-pressed={item.id === chosen}
                disabled={item.empty}
                onClick={() => onChoose(item.id)}
              >
                <bdi>{item.title || "Without a title"}</bdi>
                <span class="muted small">
                  {item.id}
                  {item.empty ? " · no description" : ""}
                </span>
              </button>
            </li>
          ))}
        </ul>
        {found.data && found.data.found > A_PAGE && (
          <div class="row row-centre">
            <Button compact disabled={start === 0} onClick={() => turn(start - A_PAGE)}>
              Before
            </Button>
            <span class="muted small numbers">
              {number(start + 1)} to {number(Math.min(start + A_PAGE, found.data.found))} of {number(found.data.found)}
            </span>
            <Button compact disabled={start + A_PAGE >= found.data.found} onClick={() => turn(start + A_PAGE)}>
              Next
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}
