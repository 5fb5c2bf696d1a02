import { direction, type Direction, type Overview } from "../../api/directions";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { useQuery } from "../../lib/query";
import { ConceptPanel } from "./ConceptPanel";
import { CurvesPanel } from "./CurvesPanel";
import { LiveGate } from "./LiveGate";
import { SentencesPanel } from "./SentencesPanel";
import type { Select, Selected } from "./state";
import type { Live } from "./useLive";
import { VerdictPanel } from "./VerdictPanel";

interface DetailProps {
  slug: string;
  name: string;
  overview: Overview;
  selected: Selected;
  select: Select;
  live: Live;
}

/** One direction: the verdict, its sentences in every corpus, and what it rests on. */
export function Detail(props: DetailProps) {
  const { slug, name, selected, live } = props;
  // Once vectors can be read, what could not be measured before can.
  const { data, fault, again } = useQuery(`direction ${slug} ${selected.reading} ${name} ${live.ready}`, (signal) =>
    direction(slug, selected.reading, name, signal),
  );
  if (fault) return <Fault message={fault} again={again} />;
  if (data === undefined) return <Loading what={`Loading ${name}`} />;
  if (data === null)
    return (
      <Panel title={name}>
        <LiveGate live={live} what="A direction that is not in the reading" />
      </Panel>
    );
  return <Found {...props} found={data} />;
}

function Found({ slug, overview, selected, select, live, found }: DetailProps & { found: Direction }) {
  return (
    <div class="stack">
      <VerdictPanel found={found} overview={overview} />
      {found.separator && <ConceptPanel separator={found.separator} />}
      <SentencesPanel found={found} overview={overview} end={selected.end} onEnd={(end) => select({ end }, "replace")} />
      <CurvesPanel slug={slug} reading={selected.reading} name={found.name} live={live} />
    </div>
  );
}
