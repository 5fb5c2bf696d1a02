import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { cameFromWithin } from "../lib/address";

interface PageProps {
  title: string;
  /** A sentence under the title. */
  lead?: ComponentChildren;
  /** What can be done here, beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A whole page: names the window, and takes the focus when one comes from another page. */
export function Page({ title, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Theodolite`;
  }, [title]);
  useEffect(() => {
    if (cameFromWithin()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p class="page-lead">{lead}</p>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
