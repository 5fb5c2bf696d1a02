/** Stands for a number that is missing. */
export const MISSING = "–";

type Maybe = number | null | undefined;

/** Counts in full with separators, other numbers with `digits` after the point. */
export function number(value: Maybe, digits?: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  if (digits === undefined) {
    if (Number.isInteger(value)) return signed(value.toLocaleString("en"));
    return signed(value.toLocaleString("en", { maximumSignificantDigits: 3 }));
  }
  return signed(value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

/** A share as a percentage. */
export function percent(share: Maybe, digits = 0): string {
  return share === null || share === undefined || !Number.isFinite(share) ? MISSING : `${number(share * 100, digits)}%`;
}

/** Both ends of an interval. */
export function interval(low: Maybe, high: Maybe, digits = 2): string {
  const ends = [number(low, digits), number(high, digits)];
  return ends.includes(MISSING) ? MISSING : `${ends[0]} to ${ends[1]}`;
}

/** `1 text`, `2,000 texts`. */
export function count(value: number, one: string, several = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : several}`;
}

/** `mean_cosine` as people say it. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

export function capital(sentence: string): string {
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}

/** A day as people read it. */
export function day(iso: string | null | undefined): string {
  const date = iso ? new Date(iso) : null;
  if (!date || Number.isNaN(date.getTime())) return MISSING;
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
}

/** A true minus sign, as wide as a digit. */
function signed(text: string): string {
  return text.replace("-", "−");
}
