import { OTHER, sequentialHex } from "../../lib/colours";
import { number } from "../../lib/format";

const STOPS = 12;

/** What the colours of numbers mean. */
export function ScoreLegend({ low, high, median }: { low: number; high: number; median?: number }) {
  const stops = Array.from({ length: STOPS + 1 }, (_, i) => `${sequentialHex(i / STOPS)} ${(100 * i) / STOPS}%`);
  const share = median === undefined ? null : Math.min(Math.max((median - low) / (high - low || 1), 0), 1);
  return (
    <div class="map-scores">
      <div class="map-ramp" style={{ backgroundImage: `linear-gradient(to right, ${stops.join(", ")})` }}>
        {share !== null && <span class="map-median" style={{ left: `${100 * share}%` }} />}
      </div>
      <div class="map-ramp-ends">
        <span>{number(low)}</span>
        {median !== undefined && <span>median {number(median)}</span>}
        <span>{number(high)}</span>
      </div>
      <p class="muted small">
        From the lowest to the highest hundredth of the texts; what is beyond has the colour of the end.{" "}
        <span class="legend-swatch" aria-hidden="true" style={{ backgroundColor: OTHER }} /> has no value.
      </p>
    </div>
  );
}
