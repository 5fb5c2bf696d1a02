import type { ByMethod, WordedText, WordPair } from "../../api/compare";

export type Side = "a" | "b";

/** A run of characters: a word by its number, or what stands between words. */
export interface Piece {
  text: string;
  word: number | null;
}

/** Pairs that are joined by curves; more would be a thicket. */
const MOST_JOINED = 40;
const LONGEST = 40;
/** Characters of a paragraph that are shown before a person asks for more. */
export const FIRST = 2500;

/** A text cut into its words and what stands between them; only up to `longest` characters, at a word's end. */
export function pieces(of: WordedText, longest = Number.POSITIVE_INFINITY): Piece[] {
  const letters = Array.from(of.text);
  const found: Piece[] = [];
  let at = 0;
  for (const [word, start] of of.starts.entries()) {
    const end = of.ends[word] ?? start;
    if (end > longest && found.length) break;
    if (start > at) found.push({ text: letters.slice(at, start).join(""), word: null });
    found.push({ text: letters.slice(start, end).join(""), word });
    at = end;
  }
  if (at < letters.length && letters.length <= longest) found.push({ text: letters.slice(at).join(""), word: null });
  return found;
}

/** The words of a text, by number. */
export function wordsOf(of: WordedText): string[] {
  const letters = Array.from(of.text);
  return of.starts.map((start, word) => letters.slice(start, of.ends[word]).join(""));
}

/** A word as a table or a label has it: one may be as long as its text. */
export function short(word: string | undefined): string {
  const letters = Array.from(word ?? "");
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : letters.join("");
}

/** The pairs that are the explanation, the highest first. */
export function joinedPairs(method: ByMethod): WordPair[] {
  return method.pairs.filter((pair) => pair.chosen).slice(0, MOST_JOINED);
}

/** Saliencies as shares of the text's highest: methods have scales of their own. */
export function shares(saliencies: readonly number[]): number[] {
  const highest = Math.max(...saliencies, 0);
  return saliencies.map((value) => (highest > 0 ? Math.max(value, 0) / highest : 0));
}

/** For each word of one side, the numbers of the pairs it is in. */
export function pairsByWord(pairs: readonly WordPair[], side: Side): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [number, pair] of pairs.entries()) {
    const word = pair[side];
    found.set(word, [...(found.get(word) ?? []), number]);
  }
  return found;
}
