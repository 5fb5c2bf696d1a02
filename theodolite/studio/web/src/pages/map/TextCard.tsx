import type { PointText } from "../../api/map";
import { Clamped } from "../../components/Clamped";
import { count, number } from "../../lib/format";

interface TextCardProps {
  text: PointText;
  colour: string;
  /** Its number under the colouring, where that is by numbers. */
  score?: number;
  pinned: boolean;
  onPin: (point: number | null) => void;
}

/** One text of the list. */
export function TextCard({ text, colour, score, pinned, onPin }: TextCardProps) {
  const rest = text.text === null ? 0 : text.length - text.text.length;
  const said = [
    text.corpus,
    `row ${number(text.row)}`,
    ...(text.position === null ? [] : [`token ${number(text.position)}`]),
    ...Object.values(text.values),
    ...(score === undefined || Number.isNaN(score) ? [] : [`score ${number(score, 3)}`]),
  ];
  return (
    <li class={pinned ? "map-text pinned" : "map-text"}>
      {text.text === null ? <p class="muted">The text is no longer at hand.</p> : <Clamped text={text.text} lines={pinned ? 12 : 3} />}
      {rest > 0 && <p class="muted small">{pinned ? `and ${count(rest, "character")} more` : "pin it to read on"}</p>}
      <div class="map-text-foot">
        <span class="muted small">
          <span class="legend-swatch" aria-hidden="true" style={{ backgroundColor: colour }} /> {said.join(" · ")}
        </span>
        <button
          type="button"
          class="link-button small"
          aria-pressed={pinned}
          aria-label={`${pinned ? "Unpin" : "Pin"} row ${text.row} of ${text.corpus}`}
          onClick={() => onPin(pinned ? null : text.point)}
        >
          {pinned ? "unpin" : "pin"}
        </button>
      </div>
    </li>
  );
}
