import { words } from "../../lib/format";

/** With which options a reading was made. */
export function Options({ options }: { options: Record<string, unknown> }) {
  return (
    <dl class="facts">
      {Object.entries(options).map(([name, value]) => (
        <div key={name}>
          <dt>{words(name)}</dt>
          <dd>{said(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function said(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length ? value.map(String).join(", ") : "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
