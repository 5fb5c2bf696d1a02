import type { Points } from "../../api/map";
import { type Size, type Spot, toScreen, type View } from "./view";

interface OverlayProps {
  size: Size;
  view: View;
  lasso: readonly Spot[] | null;
  /** The selection being drawn, in pixels. */
  path: readonly Spot[];
  spots: { pin: number | null; over: number | null };
  points: Points;
}

/** What is drawn over the points: the selection, and rings around the points that are meant. */
export function Overlay({ size, view, lasso, path, spots, points }: OverlayProps) {
  const ring = (point: number | null, name: string) => {
    if (point === null) return null;
    const [x, y] = toScreen(view, size, [points.x[point] ?? 0, points.y[point] ?? 0]);
    return <circle class={name} cx={x} cy={y} r={8} />;
  };
  return (
    <svg class="map-overlay" width={size.width} height={size.height} aria-hidden="true">
      {lasso && path.length === 0 && (
        <polygon class="map-lasso" points={written(lasso.map((spot) => toScreen(view, size, spot)))} />
      )}
      {path.length > 1 && <polygon class="map-lasso drawing" points={written(path)} />}
      {ring(spots.over, "map-ring")}
      {ring(spots.pin, "map-ring pinned")}
    </svg>
  );
}

function written(spots: readonly Spot[]): string {
  return spots.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}
