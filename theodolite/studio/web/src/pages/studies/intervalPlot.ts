import * as Plot from "@observablehq/plot";
import type { Told } from "../../api/studies";
import { categorical } from "../../lib/colours";

export interface IntervalRow {
  name: string;
  value: Told;
  low: Told;
  high: Told;
}

/** Dots with their intervals, one below another; `base` is the baseline's line. */
export function intervalPlot(
  rows: readonly IntervalRow[],
  { unit, domain, base, percent = false }: { unit: string; domain?: [number, number]; base?: number; percent?: boolean },
) {
  const known = rows.filter((row) => row.value !== null);
  return (width: number): Plot.PlotOptions => ({
    height: 72 + 30 * known.length,
    marginLeft: Math.min(0.42 * width, 24 + 6.6 * Math.max(4, ...known.map((row) => short(row.name).length))),
    marginRight: 20,
    marginBottom: 42,
    x: { labelAnchor: "center", labelArrow: "none", label: unit, domain, grid: true, percent, ticks: width < 500 ? 4 : 8 },
    y: { label: null, domain: known.map((row) => row.name), tickFormat: short, tickSize: 0 },
    marks: [
      base === undefined ? null : Plot.ruleX([base], { stroke: "var(--line-strong)", strokeDasharray: "4 3" }),
      Plot.ruleY(known.filter((row) => row.low !== null), {
        y: "name",
        x1: "low",
        x2: "high",
        stroke: categorical(0),
        strokeWidth: 2,
      }),
      Plot.dot(known, { y: "name", x: "value", fill: categorical(0), r: 5 }),
    ],
  });
}

/** A name that fits beside a chart. */
export function short(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}]/gu, "");
  return plain.length > 34 ? `${plain.slice(0, 33)}…` : plain;
}
