import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

interface LinesProps {
  /** What the words are in: each has the pairs it belongs to as `data-pairs`, `a0 a3` or `b0`. */
  box: RefObject<HTMLDivElement | null>;
  pairs: number;
  shown: number | null;
}

/** Lines from word to word, where the texts stand side by side. */
export function Lines({ box, pairs, shown }: LinesProps) {
  const [paths, setPaths] = useState<(string | null)[]>([]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const next = Array.from({ length: pairs }, (_, i) => pathOf(element, i));
      // Drawing does not move the words, so that equal paths end it.
      setPaths((before) => (before.join() === next.join() ? before : next));
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    for (const text of element.querySelectorAll(".study-text-card")) watcher.observe(text);
    return () => watcher.disconnect();
  }, [box, pairs]);
  return (
    <svg class="study-lines" aria-hidden="true">
      {paths.map((path, i) => path && <path key={i} d={path} class={shown === i ? "pointed" : undefined} />)}
    </svg>
  );
}

/** Under the first word to its text's edge, across the gap, and under the second word: never through other words. */
function pathOf(box: HTMLElement, pair: number): string | null {
  const [from, to] = ["a", "b"].map((side) => endOf(box, `${side}${pair}`));
  if (!from || !to || to.edge.left < from.edge.right) return null;
  const origin = box.getBoundingClientRect();
  const at = (x: number, y: number) => `${(x - origin.left).toFixed(1)} ${(y - origin.top).toFixed(1)}`;
  const [out, into] = [from.edge.right, to.edge.left];
  const middle = (out + into) / 2;
  const [low, high] = [from.word.bottom, to.word.bottom];
  return `M${at(from.word.right, low)}L${at(out, low)}C${at(middle, low)} ${at(middle, high)} ${at(into, high)}L${at(to.word.left, high)}`;
}

function endOf(box: HTMLElement, pair: string): { word: DOMRect; edge: DOMRect } | null {
  const word = box.querySelector(`[data-pairs~="${pair}"]`);
  const text = word?.closest(".study-text-card");
  return word && text ? { word: word.getBoundingClientRect(), edge: text.getBoundingClientRect() } : null;
}
