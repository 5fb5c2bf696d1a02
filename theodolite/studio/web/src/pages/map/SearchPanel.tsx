import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { TextField } from "../../components/TextField";
import { count } from "../../lib/format";
import type { Query } from "../../lib/query";

interface SearchPanelProps {
  q: string;
  hits: Query<Uint32Array>;
  onSearch: (q: string) => void;
}

/** Words sought in all texts. */
export function SearchPanel({ q, hits, onSearch }: SearchPanelProps) {
  const [typed, setTyped] = useState(q);
  useEffect(() => setTyped(q), [q]);
  const search = () => onSearch(typed.trim());
  return (
    <div class="map-search">
      <form
        role="search"
        class="map-search-row"
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <TextField label="Search the texts" type="search" maxLength={200} placeholder="a word or a phrase" value={typed} onChange={setTyped} />
        <Button type="submit">Search</Button>
        {q && (
          <Button kind="quiet" onClick={() => onSearch("")}>
            Clear
          </Button>
        )}
      </form>
      {q && hits.fault && <Fault message={hits.fault} again={hits.again} />}
      <p class="muted small" role="status">
        {q && (hits.loading ? "Searching…" : hits.data ? `${count(hits.data.length, "text")} with “${q}”` : "")}
      </p>
    </div>
  );
}
