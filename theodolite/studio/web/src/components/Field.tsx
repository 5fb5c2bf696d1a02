import type { ComponentChildren } from "preact";

export interface FieldProps {
  label: string;
  /** A sentence that explains it. */
  note?: string;
  fault?: string;
  /** Keep the label for screen readers only. */
  hideLabel?: boolean;
}

/** A label, its control, and what is said about it. */
export function Field({ id, label, note, fault, hideLabel, children }: FieldProps & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id} class={hideLabel ? "hidden-visually" : undefined}>
        {label}
      </label>
      {children}
      {note && (
        <span class="field-note" id={`${id}-note`}>
          {note}
        </span>
      )}
      {fault && (
        <span class="field-fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}

/** The attributes that tie a control to its note and its fault. */
export function described(id: string, { note, fault }: FieldProps) {
  const ids = [note ? `${id}-note` : "", fault ? `${id}-fault` : ""].filter(Boolean).join(" ");
  return { "aria-describedby": ids || undefined, "aria-invalid": fault ? ("true" as const) : undefined };
}
