import { useLayoutEffect, useState } from "preact/hooks";
import { decideMerge, type Merges, merges as askMerges, type ProposedMerge } from "../../api/studies";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { faultText } from "../../lib/api";
import { count, number } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { DecidedPanel } from "./DecidedPanel";
import { MergePair } from "./MergePair";

/** Patterns that may mean the same, two at a time: a person decides. */
export function MergingTab({ id }: { id: number }) {
  const found = useQuery(`merges ${id}`, (signal) => askMerges(id, signal));
  const [newer, setNewer] = useState<Merges>();
  const [skipped, setSkipped] = useState<readonly string[]>([]);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const state = newer ?? found.data;
  const open = state?.proposals.filter((one) => !skipped.includes(nameOf(one))) ?? [];
  const pair = open[0];

  const decide = async (a: ProposedMerge["a"], b: ProposedMerge["b"], same: boolean | null) => {
    if (busy) return;
    setBusy(true);
    setFault(undefined);
    try {
      setNewer(await decideMerge(id, a, b, same));
    } catch (error) {
      setFault(faultText(error));
    } finally {
      setBusy(false);
    }
  };
  const skip = () => pair && setSkipped([...skipped, nameOf(pair)]);
  const undo = () => {
    const last = state?.decided[0];
    if (last) void decide(last.a, last.b, null);
  };
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
      const key = event.key.toLowerCase();
      if (key === "u") undo();
      else if (pair && key === "s") void decide(pair.a, pair.b, true);
      else if (pair && key === "d") void decide(pair.a, pair.b, false);
      else if (pair && key === "k") skip();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  });

  if (!state) return found.fault ? <Fault message={found.fault} again={found.again} /> : <Loading />;
  return (
    <div class="stack">
      <Panel
        title="Do these two mean the same?"
        note={
          <>
            {count(state.patterns, "pattern")} named so far, {number(state.groups.length)} different.{" "}
            {state.live
              ? "Pairs come by their names’ letters, their shared sentences, and the encoder’s view of the names."
              : "Pairs come by their names’ letters and their shared sentences; with the study’s encoder at hand, by their meaning too."}
          </>
        }
      >
        {fault && <Fault message={fault} />}
        {pair ? (
          <>
            <MergePair pair={pair} />
            <div class="row studies-decide">
              <Button kind="primary" disabled={busy} onClick={() => void decide(pair.a, pair.b, true)}>
                Same <kbd aria-hidden="true">S</kbd>
              </Button>
              <Button disabled={busy} onClick={() => void decide(pair.a, pair.b, false)}>
                Different <kbd aria-hidden="true">D</kbd>
              </Button>
              <Button kind="quiet" disabled={busy} onClick={skip}>
                Skip <kbd aria-hidden="true">K</kbd>
              </Button>
              <Button kind="quiet" disabled={busy || !state.decided.length} onClick={undo}>
                Undo <kbd aria-hidden="true">U</kbd>
              </Button>
              <span class="muted small" role="status">
                {count(state.left - skipped.length > 0 ? state.left - skipped.length : open.length, "pair")} left
              </span>
            </div>
          </>
        ) : (
          <Empty title={state.patterns < 2 ? "Fewer than two patterns are named so far" : "Nothing more to compare"}>
            {skipped.length > 0 && (
              <Button onClick={() => setSkipped([])}>Look again at {count(skipped.length, "skipped pair")}</Button>
            )}
          </Empty>
        )}
      </Panel>
      <DecidedPanel state={state} busy={busy} onTakeBack={(a, b) => void decide(a, b, null)} />
    </div>
  );
}

function nameOf({ a, b }: ProposedMerge): string {
  return [a, b].map((one) => `${one.answer}.${one.place}`).join(" ");
}
