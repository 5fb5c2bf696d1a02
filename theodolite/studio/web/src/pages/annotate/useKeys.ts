import { useLayoutEffect, useRef, useState } from "preact/hooks";

export type Keys = Record<string, (() => void) | undefined>;

const SWITCH = "study shortcuts";

/** Single keys, unless a person is typing or has switched them off. Letters are given in lower case. */
export function useKeys(keys: Keys, on: boolean): void {
  const latest = useRef(keys);
  latest.current = keys;
  // Not a frame after what is to be seen: keys pressed meanwhile would be lost.
  useLayoutEffect(() => {
    if (!on) return;
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const target = event.target instanceof Element ? event.target : null;
      if (target?.closest("input[type=text], textarea, select, dialog")) return;
      if (event.key === "Enter" && target?.closest("button, a, summary")) return;
      const action = latest.current[event.key.toLowerCase()];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [on]);
}

/** Whether single keys act: a screen reader or a voice may need them for itself. */
export function useShortcuts(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => {
    try {
      return localStorage.getItem(SWITCH) !== "off";
    } catch {
      return true;
    }
  });
  const change = (wanted: boolean) => {
    setOn(wanted);
    try {
      localStorage.setItem(SWITCH, wanted ? "on" : "off");
    } catch {
      // Then it is for this page only.
    }
  };
  return [on, change];
}
