const LOOK: Record<string, string> = {
  global: "good",
  dataset: "accent",
  local: "danger",
  unexplained: "warning",
  none: "",
};

/** The verdict on a direction: the two that carry over are calm, the two kinds of illusion are not. */
export function VerdictBadge({ verdict }: { verdict: string | null }) {
  return <span class={`badge ${LOOK[verdict ?? ""] ?? ""}`}>{verdict ?? "one corpus only"}</span>;
}
