import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface PanelProps {
  title?: string;
  /** What it shows and against which baseline. */
  note?: ComponentChildren;
  actions?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

/** One thing of a page, with a heading. */
export function Panel({ title, note, actions, class: name, children }: PanelProps) {
  const id = useId();
  return (
    <section class={name ? `panel ${name}` : "panel"} aria-labelledby={title ? id : undefined}>
      {(title || note || actions) && (
        <header class="panel-head">
          <div>
            {title && <h2 id={id}>{title}</h2>}
            {note && <div class="panel-note">{note}</div>}
          </div>
          {actions && <div class="row">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
