import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";

const CHANGED = "address";
let moved = false;

/** Whether a page was reached from within the studio: its heading then takes the focus. */
export function cameFromWithin(): boolean {
  return moved;
}

/** Go to another address of the studio. */
export function navigate(to: string, how: "push" | "replace" = "push"): void {
  const before = location.pathname;
  if (how === "push") history.pushState(null, "", to);
  else history.replaceState(null, "", to);
  if (location.pathname !== before) {
    moved = true;
    scrollTo(0, 0);
  }
  dispatchEvent(new Event(CHANGED));
}

/** The path and the query string, kept up to date. */
export function useLocation(): { path: string; search: string } {
  const [here, setHere] = useState(() => ({ path: location.pathname, search: location.search }));
  useEffect(() => {
    const look = () =>
      setHere((before) =>
        before.path === location.pathname && before.search === location.search
          ? before
          : { path: location.pathname, search: location.search },
      );
    look();
    addEventListener("popstate", look);
    addEventListener(CHANGED, look);
    return () => {
      removeEventListener("popstate", look);
      removeEventListener(CHANGED, look);
    };
  }, []);
  return here;
}

/** What is selected, held in the query string: a value that is its default is left out of the address. */
export function useAddress<T extends Record<string, string>>(
  defaults: T,
): [T, (patch: Partial<T>, how?: "push" | "replace") => void] {
  const { search } = useLocation();
  const fixed = JSON.stringify(defaults);
  const values = useMemo(() => {
    const given = new URLSearchParams(search);
    const found: Record<string, string> = {};
    for (const [key, value] of Object.entries(JSON.parse(fixed) as T)) found[key] = given.get(key) ?? value;
    return found as T;
  }, [search, fixed]);
  const change = useCallback(
    (patch: Partial<T>, how: "push" | "replace" = "push") => {
      const usual = JSON.parse(fixed) as T;
      const next = new URLSearchParams(location.search);
      for (const [key, value] of Object.entries(patch)) {
        if (value === undefined || value === usual[key]) next.delete(key);
        else next.set(key, value);
      }
      const text = next.toString();
      navigate(location.pathname + (text ? `?${text}` : ""), how);
    },
    [fixed],
  );
  return [values, change];
}

interface LinkProps {
  to: string;
  class?: string;
  current?: boolean;
  label?: string;
  title?: string;
  children: ComponentChildren;
}

/** A link within the studio: plain clicks stay on the page, every other kind is the browser's. */
export function Link({ to, class: name, current, label, title, children }: LinkProps) {
  const go = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a href={to} class={name} aria-current={current ? "page" : undefined} aria-label={label} title={title} onClick={go}>
      {children}
    </a>
  );
}
