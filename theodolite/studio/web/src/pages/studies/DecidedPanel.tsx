import type { Merges, NamedPattern } from "../../api/studies";
import { Button } from "../../components/Button";
import { Clamped } from "../../components/Clamped";
import { Panel } from "../../components/Panel";

interface DecidedPanelProps {
  state: Merges;
  busy: boolean;
  onTakeBack: (a: NamedPattern, b: NamedPattern) => void;
}

/** What was decided, the newest first, each to be taken back; and the groups that came of it. */
export function DecidedPanel({ state, busy, onTakeBack }: DecidedPanelProps) {
  const groups = state.groups.filter((group) => new Set(group.patterns.map((one) => one.name)).size > 1);
  return (
    <>
      {state.decided.length > 0 && (
        <Panel title="Decided">
          <ul class="studies-decided">
            {state.decided.map((one) => (
              <li key={`${one.a.answer}.${one.a.place} ${one.b.answer}.${one.b.place}`}>
                <span>
                  <bdi>{one.a.name}</bdi> {one.same ? "is the same as" : "differs from"} <bdi>{one.b.name}</bdi>
                  {one.contradicted && <span class="badge warning">but they are one by way of others</span>}
                </span>
                <Button compact disabled={busy} onClick={() => onTakeBack(one.a, one.b)} label={`Take back: ${one.a.name}, ${one.b.name}`}>
                  Take back
                </Button>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {groups.length > 0 && (
        <Panel title="Groups of several names">
          <ul class="studies-groups">
            {groups.map((group) => (
              <li key={group.name}>
                <Clamped text={[...new Set(group.patterns.map((one) => one.name))].join(" = ")} lines={3} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}
