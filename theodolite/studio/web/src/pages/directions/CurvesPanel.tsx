import { curves } from "../../api/directions";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { useQuery } from "../../lib/query";
import { DistanceChart } from "./DistanceChart";
import { LiveGate } from "./LiveGate";
import { QuintileChart } from "./QuintileChart";
import type { Live } from "./useLive";

interface CurvesProps {
  slug: string;
  reading: string;
  name: string;
  live: Live;
}

/** Tokens along the direction, and how close its top sentences lie: measured now, from the texts' vectors. */
export function CurvesPanel({ slug, reading, name, live }: CurvesProps) {
  const key = live.ready ? `curves ${slug} ${reading} ${name}` : null;
  const { data, fault, again } = useQuery(key, (signal) => curves(slug, reading, name, signal));
  if (!live.ready)
    return (
      <Panel title="Tokens and distances along the direction">
        <LiveGate live={live} what="Tokens and distances of a direction" />
      </Panel>
    );
  if (fault)
    return (
      <Panel title="Tokens and distances along the direction">
        <Fault message={fault} again={again} />
      </Panel>
    );
  if (!data) return <Loading what="Measuring tokens and distances" />;
  const words = data.curves.filter((one) => one.kind === "word");
  const tokens = data.curves.filter((one) => one.kind === "token");
  return (
    <>
      <Panel title="Along the direction, in five steps">
        <div class="stack">
          {words.length > 0 && (
            <QuintileChart
              curves={words}
              name={`${name}-words`}
              title="The patterns' words"
              description="Each corpus is cut into five equal parts, from the lowest projection to the highest; shown is the share of a word's texts in each. The dotted line is 0.2, a word that does not care. Filled marks rise or fall all the way, which is what carries a pattern over; faint lines are of fewer than ten texts."
            />
          )}
          {tokens.length > 0 ? (
            <QuintileChart
              curves={tokens}
              name={`${name}-tokens`}
              title="Frequent tokens"
              description={`The four of ${data.common_tokens} tokens (at least ${data.min_count} times in every corpus) that change most steadily: the share of a token's occurrences in each fifth. The dotted line is 0.2. Filled marks rise or fall all the way.`}
            />
          ) : (
            <p class="muted">
              No token occurs {data.min_count} times in every corpus, so none can be followed. Fewer are asked for with
              min count.
            </p>
          )}
        </div>
      </Panel>
      <Panel title="How close the top sentences lie">
        <DistanceChart histograms={data.histograms} name={`${name}-distances`} />
      </Panel>
    </>
  );
}
