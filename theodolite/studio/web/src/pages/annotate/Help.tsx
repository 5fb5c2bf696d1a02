import { useEffect, useRef } from "preact/hooks";
import type { About, Kind } from "../../api/annotate";

interface HelpProps {
  about: About;
  open: boolean;
  shortcuts: boolean;
  onShortcuts: (on: boolean) => void;
  onClose: () => void;
}

/** The instructions and the keys, in a dialog. */
export function Help({ about, open, shortcuts, onShortcuts, onClose }: HelpProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (open && element && !element.open) element.showModal();
    else if (!open && element?.open) element.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="study-help" aria-labelledby="study-help-title" onClose={onClose}>
      <h2 id="study-help-title">What to do</h2>
      <p class="study-instructions">{about.instructions}</p>
      <Shortcuts kind={about.kind} />
      <label class="checkbox">
        <input type="checkbox" checked={shortcuts} onChange={(event) => onShortcuts(event.currentTarget.checked)} />
        <span>Single keys act. Switch this off if your screen reader or voice control needs them.</span>
      </label>
      <button type="button" class="button primary study-button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}

const KEYS: Record<Kind, readonly (readonly [string, string])[]> = {
  annotation: [
    ["Y / N", "there is a pattern, there is none"],
    ["1 … 9, 0", "tick or untick a sentence"],
    ["T", "type the pattern’s name; Esc leaves the field"],
    ["P", "another pattern"],
  ],
  rating: [["1 … 5", "choose"]],
  rationale: [
    ["Y / N", "they explain it, they do not"],
    ["T", "type the reason; Esc leaves the field, Ctrl+Enter submits"],
  ],
};

const ALWAYS = [
  ["Enter", "submit"],
  ["U", "take back the last answer"],
  ["?", "this help"],
] as const;

/** The keys of a kind of study. */
export function Shortcuts({ kind }: { kind: Kind }) {
  return (
    <dl class="study-keys">
      {[...KEYS[kind], ...ALWAYS].map(([key, meaning]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
