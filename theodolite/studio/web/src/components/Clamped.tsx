import { useEffect, useRef, useState } from "preact/hooks";

/** Longest part of a text that is laid out before a person asks for more. */
const FIRST = 3000;

/** A text cut to some lines, with a button for the rest where there is more. */
export function Clamped({ text, lines = 3 }: { text: string; lines?: number }) {
  const [open, setOpen] = useState(false);
  const [cut, setCut] = useState(text.length > FIRST);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element || open) return;
    const measure = () => setCut(text.length > FIRST || element.scrollHeight > element.clientHeight + 1);
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    measure();
    return () => watcher.disconnect();
  }, [text, lines, open]);
  return (
    <div>
      <div
        ref={box}
        dir="auto"
        class={open ? "clamped-text" : "clamped-text clamped"}
        style={{ "--lines": String(lines) }}
      >
        {open ? text : text.slice(0, FIRST)}
      </div>
      {cut && (
        <button type="button" class="link-button small" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "show less" : "show more"}
        </button>
      )}
    </div>
  );
}
