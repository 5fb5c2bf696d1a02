import type { MapApi } from "../../api/map";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { number } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { TextCard } from "./TextCard";

const PAGE = 50;
const CHARACTERS = 1000;

interface TextListProps {
  api: MapApi;
  /** In the order of the list. */
  listed: Uint32Array;
  page: number;
  onPage: (page: number) => void;
  colourAt: (point: number) => string;
  scoreAt: (point: number) => number | undefined;
  pin: number | null;
  onPin: (point: number | null) => void;
}

/** Texts, a page at a time. */
export function TextList({ api, listed, page, onPage, colourAt, scoreAt, pin, onPin }: TextListProps) {
  const pages = Math.max(Math.ceil(listed.length / PAGE), 1);
  const here = Math.min(Math.max(page, 1), pages);
  const first = (here - 1) * PAGE;
  const wanted = [...listed.subarray(first, first + PAGE)];
  const texts = useQuery(
    wanted.length ? api.key(`texts ${wanted.join(" ")}`) : null,
    (signal) => api.texts(wanted, CHARACTERS, signal),
    { keep: true },
  );
  if (texts.fault) return <Fault message={texts.fault} again={texts.again} />;
  if (!wanted.length) return <p class="muted">No text is there.</p>;
  if (!texts.data) return <Loading what="Fetching the texts" />;
  return (
    <>
      <ol class="map-texts" aria-busy={texts.loading} aria-label="Texts" start={first + 1}>
        {texts.data.map((text) => (
          <TextCard
            key={text.point}
            text={text}
            colour={colourAt(text.point)}
            score={scoreAt(text.point)}
            pinned={pin === text.point}
            onPin={onPin}
          />
        ))}
      </ol>
      {pages > 1 && (
        <nav class="map-pager" aria-label="Pages of texts">
          <Button compact disabled={here === 1} onClick={() => onPage(here - 1)}>
            Previous
          </Button>
          <span class="small muted">
            {number(first + 1)} to {number(Math.min(first + PAGE, listed.length))} of {number(listed.length)}
          </span>
          <Button compact disabled={here === pages} onClick={() => onPage(here + 1)}>
            Next
          </Button>
        </nav>
      )}
    </>
  );
}
