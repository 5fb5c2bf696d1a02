import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface TabsProps<Id extends string> {
  /** What the tabs are about, for screen readers. */
  label: string;
  tabs: readonly { id: Id; title: string }[];
  value: Id;
  onChange: (id: Id) => void;
  /** What is under the chosen tab. */
  children: ComponentChildren;
}

/** Tabs by mouse, and by arrow keys, Home and End. */
export function Tabs<Id extends string>({ label, tabs, value, onChange, children }: TabsProps<Id>) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const tabOf = (id: Id) => list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(id)}"]`);
  useEffect(() => {
    // In a narrow window the strip scrolls; only sideways, so that the page stays where it is.
    const strip = list.current;
    const chosen = tabOf(value)?.getBoundingClientRect();
    if (!strip || !chosen) return;
    strip.scrollLeft += chosen.left - strip.getBoundingClientRect().left - (strip.clientWidth - chosen.width) / 2;
  }, [value]);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.id === value);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    const wanted = steps[event.key];
    const next = wanted === undefined ? undefined : tabs[(wanted + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    onChange(next.id);
    tabOf(next.id)?.focus();
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            class="tab"
            id={`${base}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={tab.id === value}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === value ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${value}`}>
        {children}
      </div>
    </div>
  );
}
