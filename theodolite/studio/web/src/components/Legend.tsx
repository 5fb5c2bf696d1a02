import { number } from "../lib/format";

export interface LegendItem {
  id?: string;
  label: string;
  colour: string;
  count?: number;
  /** For legends that can be switched: whether it is shown. */
  on?: boolean;
}

interface LegendProps {
  items: readonly LegendItem[];
  label?: string;
  /** Makes each item a switch. */
  onToggle?: (id: string) => void;
}

export function Legend({ items, label = "Legend", onToggle }: LegendProps) {
  return (
    <ul class="legend" aria-label={label}>
      {items.map((item) => {
        const id = item.id ?? item.label;
        const inside = (
          <>
            <span class="legend-swatch" aria-hidden="true" style={{ backgroundColor: item.colour }} />
            <span>{item.label}</span>
            {item.count !== undefined && <span class="legend-count">{number(item.count)}</span>}
          </>
        );
        return (
          <li key={id}>
            {onToggle ? (
              <button type="button" class="legend-item" aria-pressed={item.on !== false} onClick={() => onToggle(id)}>
                {inside}
              </button>
            ) : (
              <span class="legend-item">{inside}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
