import { listing, type Listed } from "../../api/directions";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Link } from "../../lib/address";
import { number } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { addressOf, type Select, type Selected } from "./state";
import { VerdictBadge } from "./VerdictBadge";

const LIMIT = 40;

interface ListProps {
  slug: string;
  selected: Selected;
  select: Select;
  shown: string;
}

/** The directions of the reading that the filters leave, a page at a time. */
export function DirectionList({ slug, selected, select, shown }: ListProps) {
  const { reading, kind, verdict, word, sort } = selected;
  const offset = Math.max(0, Number(selected.offset) || 0);
  const asked = { kind, verdict, word, sort, descending: sort === "locality" || sort === "patterns", offset, limit: LIMIT };
  const { data, fault, again } = useQuery(
    `list ${slug} ${reading} ${JSON.stringify(asked)}`,
    (signal) => listing(slug, reading, asked, signal),
    { keep: true },
  );
  if (fault) return <Fault message={fault} again={again} />;
  if (!data) return <Loading />;
  if (!data.total) return <Empty title="No direction is like that." />;
  const last = Math.min(data.offset + data.directions.length, data.total);
  return (
    <div class="direction-list-box">
      <ul class="direction-list" aria-label="Directions">
        {data.directions.map((one) => (
          <Entry key={one.name} one={one} current={one.name === shown} />
        ))}
      </ul>
      <div class="pager">
        <Button compact disabled={offset === 0} onClick={() => select({ offset: String(Math.max(0, offset - LIMIT)) })}>
          Before
        </Button>
        <span class="small muted numbers" role="status">
          {number(data.offset + 1)} to {number(last)} of {number(data.total)}
        </span>
        <Button compact disabled={last >= data.total} onClick={() => select({ offset: String(offset + LIMIT) })}>
          Next
        </Button>
      </div>
    </div>
  );
}

function Entry({ one, current }: { one: Listed; current: boolean }) {
  const [first, ...others] = one.patterns;
  return (
    <li>
      <Link to={addressOf({ direction: one.name, concept: "" })} class="direction-entry" current={current}>
        <span class="direction-line">
          <strong>{one.name}</strong>
          <VerdictBadge verdict={one.verdict} />
        </span>
        {first && (
          <span class="small muted direction-patterns">
            {first.corpus}: {first.pattern}
            {others.length > 0 && `, and in ${others.length} more`}
          </span>
        )}
      </Link>
    </li>
  );
}
