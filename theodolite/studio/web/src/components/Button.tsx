import type { ComponentChildren, Ref } from "preact";

interface ButtonProps {
  children: ComponentChildren;
  onClick?: (event: MouseEvent) => void;
  kind?: "plain" | "primary" | "quiet" | "danger";
  compact?: boolean;
  disabled?: boolean;
  /** For a button that stays down. */
  pressed?: boolean;
  expanded?: boolean;
  type?: "button" | "submit";
  /** What it is called, when its content does not say. */
  label?: string;
  title?: string;
  class?: string;
  innerRef?: Ref<HTMLButtonElement>;
}

export function Button(props: ButtonProps) {
  const { children, onClick, kind = "plain", compact, disabled, pressed, expanded, type = "button" } = props;
  const names = ["button", kind === "plain" ? "" : kind, compact ? "compact" : "", props.class ?? ""];
  return (
    <button
      ref={props.innerRef}
      type={type}
      class={names.filter(Boolean).join(" ")}
      disabled={disabled}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-label={props.label}
      title={props.title}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
