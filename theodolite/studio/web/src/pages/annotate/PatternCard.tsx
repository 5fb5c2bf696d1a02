import { useId } from "preact/hooks";
import type { NamedPattern } from "../../api/annotate";
import { LEAST, LONGEST_NAME } from "./patterns";

interface PatternCardProps {
  place: number;
  pattern: NamedPattern;
  active: boolean;
  several: boolean;
  disabled: boolean;
  innerRef: (element: HTMLInputElement | null) => void;
  onActivate: () => void;
  onName: (name: string) => void;
  onRemove: () => void;
  onEnter: () => void;
}

/** One named pattern: its name, how many sentences show it. The active one is what ticks are for. */
export function PatternCard(props: PatternCardProps) {
  const { pattern, place, active, several, disabled } = props;
  const id = useId();
  const count = pattern.sentences.length;
  return (
    <div class={active && several ? "study-pattern active" : "study-pattern"}>
      <label for={id}>{several ? `Name of pattern ${place + 1}` : "Name of the pattern"}</label>
      <input
        id={id}
        ref={props.innerRef}
        type="text"
        class="input"
        dir="auto"
        value={pattern.name}
        maxLength={LONGEST_NAME}
        disabled={disabled}
        autocomplete="off"
        aria-describedby={`${id}-count`}
        placeholder="in your own words"
        onFocus={props.onActivate}
        onInput={(event) => props.onName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Enter") {
            event.preventDefault();
            props.onEnter();
          } else if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <div class="study-pattern-foot">
        <span id={`${id}-count`} class={count < LEAST ? "muted" : ""}>
          {count} {count === 1 ? "sentence" : "sentences"}
          {count < LEAST ? `, at least ${LEAST}` : ""}
        </span>
        {several && (
          <span class="study-pattern-actions">
            <button
              type="button"
              class="link-button"
              aria-pressed={active}
              disabled={disabled}
              onClick={props.onActivate}
            >
              {active ? "Ticks are for this one" : "Tick for this one"}
            </button>
            <button type="button" class="link-button" disabled={disabled} onClick={props.onRemove}>
              Remove<span class="hidden-visually"> pattern {place + 1}</span>
            </button>
          </span>
        )}
      </div>
    </div>
  );
}
