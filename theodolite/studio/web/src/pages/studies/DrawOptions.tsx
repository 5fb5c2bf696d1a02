import type { OptionSchema, StudyForm } from "../../api/studies";
import { TextField } from "../../components/TextField";
import { capital, words } from "../../lib/format";

interface DrawOptionsProps {
  form: StudyForm;
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
}

/** A field for each option of the draw, from its own declaration. */
export function DrawOptions({ form, values, onChange }: DrawOptionsProps) {
  return (
    <>
      {Object.entries(form.options.properties).map(([name, schema]) => (
        <TextField
          key={name}
          label={capital(words(schema.title ?? name))}
          note={schema.description}
          type={isNumber(schema) ? "number" : "text"}
          min={schema.minimum}
          max={schema.maximum}
          placeholder={isNumber(schema) ? undefined : "one, another"}
          required={isNumber(schema)}
          value={values[name] ?? usual(schema)}
          onChange={(value) => onChange({ ...values, [name]: value })}
        />
      ))}
    </>
  );
}

/** What was typed, as the options' own types: numbers, or lists of names. */
export function optionValues(form: StudyForm, values: Record<string, string>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(form.options.properties)) {
    const text = values[name] ?? usual(schema);
    if (isNumber(schema)) found[name] = Number(text);
    else if (schema.type === "array") found[name] = text.split(",").map((one) => one.trim()).filter(Boolean);
    else found[name] = text;
  }
  return found;
}

function isNumber(schema: OptionSchema): boolean {
  return schema.type === "integer" || schema.type === "number";
}

function usual(schema: OptionSchema): string {
  const value = schema.default;
  return Array.isArray(value) ? value.join(", ") : value === undefined || value === null ? "" : String(value);
}
