import { useEffect, useState } from "preact/hooks";

/**
 * Okabe and Ito's palette as in the report's figures (yellow and black left out), then three more found by search: any
 * two stay apart under the common colour blindnesses, and all can be told from the light and from the dark ground.
 */
const CATEGORICAL = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#56b4e9",
  "#e69f00",
  "#955cff",
  "#866131",
  "#9b9b59",
] as const;

/** What is in no category. */
export const OTHER = "#8a8f98";

export function categorical(i: number): string {
  const n = CATEGORICAL.length;
  return CATEGORICAL[((i % n) + n) % n] ?? OTHER;
}

/** For and against: orange for, blue against, as everywhere in Theodolite. */
export const FOR = "#d55e00";
export const AGAINST = "#0072b2";

/** `#rrggbb` as three numbers from 0 to 255, for WebGL. */
export function rgb(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** A score from 0 to 1 as three numbers: dark blue over green to yellow, growing in lightness all the way. */
export function sequential(share: number): [number, number, number] {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  const [a, b] = [RAMP[low] ?? FIRST, RAMP[low + 1] ?? FIRST];
  return [0, 1, 2].map((c) => Math.round((a[c] ?? 0) + (at - low) * ((b[c] ?? 0) - (a[c] ?? 0)))) as [
    number,
    number,
    number,
  ];
}

/** The same as `#rrggbb`. */
export function sequentialHex(share: number): string {
  return `#${sequential(share)
    .map((c) => c.toString(16).padStart(2, "0"))
    .join("")}`;
}

const FIRST = [68, 57, 131] as const;
const RAMP = [FIRST, [49, 104, 142], [33, 145, 140], [53, 183, 121], [144, 200, 70], [230, 205, 60]] as const;

export type Theme = "light" | "dark";

/** Which theme is shown now; what draws on a canvas must know. */
export function useTheme(): Theme {
  const [theme, setTheme] = useState<Theme>(shown);
  useEffect(() => {
    const watcher = new MutationObserver(() => setTheme(shown()));
    watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => watcher.disconnect();
  }, []);
  return theme;
}

function shown(): Theme {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

/** The value of a CSS variable such as `--text` under the theme shown now. */
export function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
