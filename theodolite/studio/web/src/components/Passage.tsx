import { useState } from "preact/hooks";

export interface Span {
  text: string;
  /** −1 to 1. */
  weight: number;
}

/** Weights under this stay uncoloured: a page of pale tints says nothing. */
const FAINT = 0.04;
/** The deepest tint under which text stays legible. */
const DEEPEST = 0.62;
/** Characters shown before a person asks for more. */
const FIRST = 1500;

/** A text whose pieces are coloured by their weight: orange for, blue (dotted) against, the stronger the deeper. */
export function Passage({ spans, label }: { spans: readonly Span[]; label?: string }) {
  const [open, setOpen] = useState(false);
  const shown = open ? spans : firstOf(spans);
  const more = firstOf(spans) !== spans;
  return (
    <div>
      <p class="passage" dir="auto" aria-label={label} role={label ? "group" : undefined}>
        {shown.map((span, i) => (
          <Piece key={i} span={span} />
        ))}
        {more && !open ? "…" : ""}
      </p>
      {more && (
        <button type="button" class="link-button small" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "show less" : "show more"}
        </button>
      )}
    </div>
  );
}

function Piece({ span }: { span: Span }) {
  const strength = Math.min(Math.abs(span.weight), 1);
  if (!(strength >= FAINT)) return <>{span.text}</>;
  const name = span.weight > 0 ? "for" : "against";
  return (
    <mark class={name} style={{ "--strength": (strength * DEEPEST).toFixed(3) }} title={said(span.weight)}>
      {span.text}
    </mark>
  );
}

function said(weight: number): string {
  return weight.toFixed(2).replace("-", "−");
}

function firstOf(spans: readonly Span[]): readonly Span[] {
  let length = 0;
  const end = spans.findIndex((span) => {
    length += span.text.length;
    return length > FIRST;
  });
  if (end < 0) return spans;
  const long = spans[0];
  // A single piece may itself be very long.
  return end > 0 || !long ? spans.slice(0, end) : [{ ...long, text: long.text.slice(0, FIRST) }];
}
