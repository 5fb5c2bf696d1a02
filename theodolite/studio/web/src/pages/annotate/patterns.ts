import type { AnnotationAnswer, NamedPattern } from "../../api/annotate";

export const LEAST = 3;
export const MOST = 10;
export const LONGEST_NAME = 500;
export const NEW: NamedPattern = { name: "", sentences: [] };

/** The patterns with a sentence put into one of them, or taken out of it. */
export function toggled(patterns: NamedPattern[], place: number, sentence: number): NamedPattern[] {
  return patterns.map((pattern, i) => {
    if (i !== place) return pattern;
    const there = pattern.sentences.includes(sentence);
    const sentences = there ? pattern.sentences.filter((one) => one !== sentence) : [...pattern.sentences, sentence];
    return { ...pattern, sentences: sentences.sort((a, b) => a - b) };
  });
}

/** What is still to be done before the answer is whole. */
export function missingOf(verdict: "yes" | "no" | null, patterns: NamedPattern[]): string | null {
  if (verdict === null) return "Say whether there is a pattern.";
  if (verdict === "no") return null;
  for (const [i, pattern] of patterns.entries()) {
    const which = patterns.length > 1 ? ` of pattern ${i + 1}` : "";
    const lacking = LEAST - pattern.sentences.length;
    if (lacking > 0) return `Tick ${lacking} more ${lacking === 1 ? "sentence" : "sentences"}${which}.`;
    if (!pattern.name.trim()) return `Give a name to ${patterns.length > 1 ? `pattern ${i + 1}` : "the pattern"}.`;
  }
  return null;
}

export function said(pattern: boolean, patterns: NamedPattern[]): AnnotationAnswer {
  const named = patterns.map((one) => ({ name: one.name.trim(), sentences: one.sentences }));
  return { kind: "annotation", pattern, patterns: pattern ? named : [] };
}
