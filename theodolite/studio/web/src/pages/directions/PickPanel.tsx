import { useEffect, useState } from "preact/hooks";
import type { Overview } from "../../api/directions";
import { Button } from "../../components/Button";
import { Panel } from "../../components/Panel";
import { Select as SelectField } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { DirectionList } from "./DirectionList";
import { kindName, type Select, type Selected } from "./state";

interface PickProps {
  slug: string;
  overview: Overview;
  selected: Selected;
  select: Select;
  shown: string;
}

const FORMS = [
  { value: "neuron", label: "Neuron" },
  { value: "random", label: "Random direction" },
  { value: "pc", label: "Principal component" },
];

/** Pick a direction by its number, or out of the list. */
export function PickPanel({ slug, overview, selected, select, shown }: PickProps) {
  return (
    <Panel title="Pick a direction" class="pick">
      <div class="stack">
        <ByNumber overview={overview} select={select} shown={shown} />
        <Button onClick={() => select({ concept: "new" })} pressed={selected.concept === "new"}>
          Type a concept
        </Button>
        <Filters overview={overview} selected={selected} select={select} />
        <DirectionList slug={slug} selected={selected} select={select} shown={shown} />
      </div>
    </Panel>
  );
}

function ByNumber({ overview, select, shown }: Pick<PickProps, "overview" | "select" | "shown">) {
  const [kind, setKind] = useState("neuron");
  const [number, setNumber] = useState("");
  useEffect(() => {
    const parts = /^(neuron|random|pc) (\d+)$/.exec(shown);
    if (parts) {
      setKind(parts[1] ?? "neuron");
      setNumber(parts[2] ?? "");
    }
  }, [shown]);
  const dim = overview.dim ?? 1;
  const [least, most] = kind === "random" ? [0, 9999] : kind === "pc" ? [1, dim] : [0, dim - 1];
  const value = Number(number);
  const valid = /^\d+$/.test(number) && value >= least && value <= most;
  const go = () => valid && select({ direction: `${kind} ${value}`, concept: "" });
  return (
    <div class="by-number">
      <SelectField label="Kind" value={kind} options={FORMS} onChange={setKind} />
      <TextField
        label={`Number, ${least} to ${most}`}
        type="number"
        min={least}
        max={most}
        step={1}
        value={number}
        onChange={setNumber}
        onEnter={go}
        fault={number && !valid ? `from ${least} to ${most}` : undefined}
      />
      <Button kind="primary" onClick={go} disabled={!valid}>
        Show
      </Button>
    </div>
  );
}

function Filters({ overview, selected, select }: Pick<PickProps, "overview" | "selected" | "select">) {
  const [word, setWord] = useState(selected.word);
  useEffect(() => setWord(selected.word), [selected.word]);
  useEffect(() => {
    if (word === selected.word) return;
    const timer = setTimeout(() => select({ word, offset: "0" }, "replace"), 250);
    return () => clearTimeout(timer);
  }, [word]);
  const verdicts = overview.verdicts.map((one) => ({
    value: one.verdict,
    label: `${one.verdict} (${one.directions})`,
    disabled: one.directions === 0,
  }));
  const kinds = overview.kinds.map((one) => ({ value: one, label: kindName(one, true) }));
  return (
    <div class="filters">
      <SelectField
        label="Verdict"
        value={selected.verdict}
        options={[{ value: "", label: "any" }, ...verdicts]}
        onChange={(verdict) => select({ verdict, offset: "0" })}
      />
      <SelectField
        label="Of kind"
        value={selected.kind}
        options={[{ value: "", label: "any" }, ...kinds]}
        onChange={(kind) => select({ kind, offset: "0" })}
      />
      <SelectField
        label="In order of"
        value={selected.sort}
        options={[
          { value: "name", label: "number" },
          { value: "pattern", label: "clearest pattern" },
          { value: "patterns", label: "most different patterns" },
          { value: "locality", label: "locality" },
        ]}
        onChange={(sort) => select({ sort, offset: "0" })}
      />
      <TextField label="Word in a pattern" type="search" maxLength={100} value={word} onChange={setWord} />
    </div>
  );
}
