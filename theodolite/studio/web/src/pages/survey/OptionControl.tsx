import type { OptionSchema } from "../../api/survey";
import { Checkbox } from "../../components/Checkbox";
import { Select } from "../../components/Select";
import { TextArea } from "../../components/TextArea";
import { TextField } from "../../components/TextField";
import { capital, words } from "../../lib/format";
import { lines } from "./options";

interface OptionControlProps {
  name: string;
  schema: OptionSchema;
  value: string | boolean;
  fault?: string;
  onChange: (value: string | boolean) => void;
}

/** The control that fits an option's declaration. */
export function OptionControl({ name, schema, value, fault, onChange }: OptionControlProps) {
  const label = capital(words(name));
  const said = { label, note: schema.description, fault };
  if (typeof value === "boolean") {
    return <Checkbox label={label} note={schema.description} checked={value} onChange={onChange} />;
  }
  if (schema.enum) return <Select {...said} value={value} options={schema.enum} onChange={onChange} />;
  if (schema.items?.enum) {
    return <Several label={label} schema={schema} offered={schema.items.enum} value={value} onChange={onChange} />;
  }
  if (schema.type === "array") {
    return <TextArea {...said} note={`${schema.description} One a line.`} rows={2} value={value} onChange={onChange} />;
  }
  const numeric = schema.type === "integer" || schema.type === "number";
  return (
    <TextField
      {...said}
      type={numeric ? "number" : "text"}
      step={schema.type === "integer" ? 1 : "any"}
      min={schema.minimum}
      value={value}
      onChange={onChange}
    />
  );
}

interface SeveralProps {
  label: string;
  schema: OptionSchema;
  offered: readonly string[];
  value: string;
  onChange: (value: string) => void;
}

/** Any of some words. */
function Several({ label, schema, offered, value, onChange }: SeveralProps) {
  const chosen = lines(value);
  const change = (word: string, on: boolean) =>
    onChange(offered.filter((one) => (one === word ? on : chosen.includes(one))).join("\n"));
  return (
    <fieldset class="several">
      <legend>{label}</legend>
      <p class="field-note">{schema.description}</p>
      {offered.map((word) => (
        <Checkbox key={word} label={word} checked={chosen.includes(word)} onChange={(on) => change(word, on)} />
      ))}
    </fieldset>
  );
}
