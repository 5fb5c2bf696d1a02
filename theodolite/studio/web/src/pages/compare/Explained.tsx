import { type About, type Compared, explain, type Pair, standing } from "../../api/compare";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Tabs } from "../../components/Tabs";
import { useAddress } from "../../lib/address";
import { capital } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { AllMethods } from "./AllMethods";
import { OneMethod } from "./OneMethod";
import { Score } from "./Score";
import { TruthPanel } from "./TruthPanel";

const ALL = "all";

interface ExplainedProps {
  slug: string;
  about: About;
  pair: Pair;
  /** Why what is shown is not of what stands above. */
  stale?: string;
}

/** Why a pair is alike: its score, the words by each method, and whether that is true. */
export function Explained({ slug, about, pair, stale = "" }: ExplainedProps) {
  const [{ method }, go] = useAddress({ method: about.default });
  const key = JSON.stringify([slug, pair]);
  const quick = about.methods.filter((one) => !one.slow).map((one) => one.name);
  const slow = about.methods.filter((one) => one.slow).map((one) => one.name);
  const first = useQuery(`explain ${key}`, (signal) => explain(slug, pair, quick, signal));
  const wanted = method === ALL || slow.includes(method);
  const later = useQuery(first.data && wanted ? `explain slowly ${key}` : null, (signal) => explain(slug, pair, slow, signal));
  // Only once the explanation is there: random pairs are many texts, and the model answers one question at a time.
  const cosine = first.data && !first.data.standing ? first.data.cosine : null;
  const random = useQuery(cosine === null ? null : `standing ${slug} ${cosine}`, (signal) =>
    standing(slug, cosine ?? 0, signal),
  );

  if (first.fault) return <Fault message={`${capital(first.fault)}.`} again={first.again} />;
  if (!first.data) return <Loading what="Asking the encoder" />;
  const found = merged(first.data, later.data);
  const tabs = [...about.methods.map((one) => ({ id: one.name, title: one.name })), { id: ALL, title: "All side by side" }];
  const value = tabs.some((tab) => tab.id === method) ? method : about.default;
  const by = found.methods[value];
  const notes = found.notes.filter((note) => value === ALL || note.methods.includes(value));
  return (
    <div class="stack">
      {stale && (
        <p class="compare-hint" role="status">
          {stale}
        </p>
      )}
      <Score found={found} standing={first.data.standing ?? random.data} fault={random.fault} looking={random.loading} />
      <Panel
        title="The words that carry it"
        note="The deeper the colour, the more the cosine rests on the word; joined are the chosen pairs. Point at a word, or reach it with Tab, to see its partner."
      >
        <Tabs label="Method" tabs={tabs} value={value} onChange={(next) => go({ method: next }, "replace")}>
          {value === ALL ? (
            <AllMethods found={found} methods={about.methods} waiting={later.loading} />
          ) : by ? (
            <OneMethod found={found} name={value} about={about.methods.find((one) => one.name === value)?.about ?? ""} by={by} />
          ) : (
            <Loading what={`Asking by ${value}, which takes many passes`} />
          )}
          {later.fault && <Fault message={later.fault} again={later.again} />}
        </Tabs>
        {notes.length > 0 && (
          <ul class="compare-notes">
            {notes.map((note) => (
              <li key={note.text}>{value === ALL ? `${note.methods.join(", ")}: ${note.text}` : note.text}</li>
            ))}
          </ul>
        )}
      </Panel>
      <TruthPanel key={key} slug={slug} pair={pair} methods={about.methods} />
    </div>
  );
}

/** One explanation by the quick methods and, once they are there, the slow ones. */
function merged(first: Compared, later: Compared | undefined): Compared {
  if (!later) return first;
  return {
    ...first,
    completeness_error: later.completeness_error,
    methods: { ...first.methods, ...later.methods },
    notes: [...first.notes, ...later.notes],
  };
}
