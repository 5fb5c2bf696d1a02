import { PAGE_SIZE } from "../../api/salience";
import { Button } from "../../components/Button";
import { number } from "../../lib/format";

/** To and fro in a list. */
export function Pager({ total, from, onMove }: { total: number; from: number; onMove: (from: number) => void }) {
  if (total <= PAGE_SIZE && from === 0) return null;
  const last = Math.min(from + PAGE_SIZE, total);
  return (
    <nav class="row row-centre sal-pager" aria-label="Pages of the list">
      <Button compact disabled={from === 0} onClick={() => onMove(Math.max(0, from - PAGE_SIZE))}>
        Previous
      </Button>
      <span class="small numbers">
        {number(Math.min(from + 1, total))} to {number(last)} of {number(total)}
      </span>
      <Button compact disabled={last >= total} onClick={() => onMove(from + PAGE_SIZE)}>
        Next
      </Button>
    </nav>
  );
}
