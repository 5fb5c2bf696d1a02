import type { OptionSchema } from "../../api/survey";

/** What a form holds of each option: text as typed, or whether it is ticked. */
export type Typed = Record<string, string | boolean>;

export interface Wanted {
  /** Values that are not the default. */
  options: Record<string, unknown>;
  /** What is wrong with what was typed, by option. */
  faults: Record<string, string>;
}

/** How a form shows an option's default. */
export function shownDefault(schema: OptionSchema): string | boolean {
  if (schema.type === "boolean") return schema.default === true;
  if (Array.isArray(schema.default)) return schema.default.join("\n");
  return schema.default === null ? "" : String(schema.default);
}

/** What was typed, as the server wants it. */
export function wanted(properties: Record<string, OptionSchema>, typed: Typed): Wanted {
  const options: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const said = typed[name];
    if (said === undefined || said === shownDefault(schema)) continue;
    if (typeof said === "boolean") options[name] = said;
    else if (schema.type === "array") options[name] = lines(said);
    else if (schema.type === "string") options[name] = said;
    else {
      const value = Number(said);
      const fault = numberFault(schema, said, value);
      if (fault) faults[name] = fault;
      else options[name] = value;
    }
  }
  return { options, faults };
}

export function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function numberFault(schema: OptionSchema, said: string, value: number): string | undefined {
  if (!said.trim() || !Number.isFinite(value)) return "A number is wanted.";
  if (schema.type === "integer" && !Number.isInteger(value)) return "A whole number is wanted.";
  if (schema.minimum !== undefined && value < schema.minimum) return `It must be at least ${schema.minimum}.`;
  return undefined;
}
