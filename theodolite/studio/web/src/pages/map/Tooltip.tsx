import type { PointText } from "../../api/map";
import { number } from "../../lib/format";
import { type Size, toScreen, type View } from "./view";

const WIDE = 340;
const GAP = 14;

/** The text of the point under the mouse, on the side where there is room. */
export function Tooltip({ size, view, text }: { size: Size; view: View; text: PointText }) {
  const [x, y] = toScreen(view, size, [text.x, text.y]);
  const width = Math.min(WIDE, size.width - 2 * GAP);
  const left = Math.min(Math.max(x + GAP + width > size.width ? x - GAP - width : x + GAP, GAP), size.width - width - GAP);
  const below = y < size.height / 2;
  return (
    <div
      class="map-tooltip"
      role="tooltip"
      style={{ left: `${left}px`, width: `${width}px`, ...(below ? { top: `${y + GAP}px` } : { bottom: `${size.height - y + GAP}px` }) }}
    >
      <p class="map-tooltip-text" dir="auto">
        {text.text ?? "The text is no longer at hand."}
        {text.text !== null && text.length > text.text.length && "…"}
      </p>
      <p class="muted small">{[text.corpus, `row ${number(text.row)}`, ...Object.values(text.values)].join(" · ")}</p>
    </div>
  );
}
