import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Puts the focus into a field now, or as soon as it is there.
 *
 * Not a frame later: letters typed meanwhile would be lost, or taken for shortcuts.
 */
export function useFocus(field: (place: number) => HTMLElement | null | undefined): (place: number) => void {
  const wanted = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const element = field(wanted.current);
    if (!element) return;
    wanted.current = null;
    element.focus();
  });
  return (place) => {
    const element = field(place);
    if (element) element.focus();
    else wanted.current = place;
  };
}
