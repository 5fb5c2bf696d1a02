import { useEffect, useState } from "preact/hooks";
import type { WordPair } from "../../api/compare";

interface CurvesProps {
  box: { current: HTMLElement | null };
  pairs: readonly WordPair[];
  lit: readonly number[];
  /** Changes whenever the paragraphs show other words. */
  again: string;
}

interface Curve {
  pair: number;
  /** Under both words, and across the gutter. */
  ends: string;
  bridge: string;
  /** Between the words and the gutter. */
  run: string;
  share: number;
}

/** A curve for each pair: along the line below its first word, across the gutter, and along that of its second. */
export function Curves({ box, pairs, lit, again }: CurvesProps) {
  const [curves, setCurves] = useState<Curve[]>([]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let frame = 0;
    const measure = () => setCurves(measured(element, pairs));
    const watcher = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(measure);
    });
    watcher.observe(element);
    for (const paragraph of element.querySelectorAll(".compare-paragraph")) watcher.observe(paragraph);
    measure();
    return () => {
      cancelAnimationFrame(frame);
      watcher.disconnect();
    };
  }, [box, pairs, again]);
  return (
    <svg class="compare-curves" aria-hidden="true" data-testid="curves">
      {curves.map(({ pair, ends, bridge, run, share }) => (
        <g key={pair} class={lit.includes(pair) ? "lit" : undefined} opacity={(0.4 + 0.5 * share).toFixed(2)}>
          <path class="run" d={run} />
          <path d={`${ends}${bridge}`} stroke-width={(1 + 2 * share).toFixed(2)} />
        </g>
      ))}
    </svg>
  );
}

function measured(box: HTMLElement, pairs: readonly WordPair[]): Curve[] {
  const [first, second] = [...box.querySelectorAll<HTMLElement>(".compare-paragraph")];
  if (!first || !second) return [];
  const origin = box.getBoundingClientRect();
  const [left, right] = [first.getBoundingClientRect().right - origin.left, second.getBoundingClientRect().left - origin.left];
  // Below one another there is no gutter to cross; numbers join the words instead.
  if (right <= left) return [];
  const strongest = Math.max(...pairs.map((pair) => Math.abs(pair.score)), 0) || 1;
  const found: Curve[] = [];
  for (const [number, pair] of pairs.entries()) {
    const [from, to] = [boxOf(first, pair.a), boxOf(second, pair.b)];
    if (!from || !to) continue;
    // Pairs on one line run a little below one another.
    const shift = 2 + (number % 5) * 2;
    const [y1, y2] = [from.bottom - origin.top + shift, to.bottom - origin.top + shift];
    const middle = (left + right) / 2;
    const [fromLeft, fromRight, toLeft, toRight] = [from.left, from.right, to.left, to.right].map((x) => x - origin.left);
    found.push({
      pair: number,
      ends: `M${fromLeft} ${y1}H${fromRight}M${toLeft} ${y2}H${toRight}`,
      bridge: `M${left} ${y1}C${middle} ${y1} ${middle} ${y2} ${right} ${y2}`,
      run: `M${fromRight} ${y1}H${left}M${right} ${y2}H${toLeft}`,
      share: Math.abs(pair.score) / strongest,
    });
  }
  return found;
}

/** Where a word stands; of one that is broken over lines, its first part. */
function boxOf(paragraph: HTMLElement, word: number): DOMRect | undefined {
  return paragraph.querySelector(`[data-word="${word}"]`)?.getClientRects()[0];
}
