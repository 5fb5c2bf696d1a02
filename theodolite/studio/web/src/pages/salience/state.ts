import type { About, SalienceApi } from "../../api/salience";

/** Everything that can be selected, as the address has it; empty means the first there is. */
export const DEFAULTS = {
  reading: "",
  view: "overview",
  corpus: "",
  method: "",
  representation: "",
  /** The predicted class whose clusters are shown. */
  class: "",
  /** The opened cluster: the class it is within, and its number. */
  within: "",
  cluster: "",
  members: "all",
  /** Where the page of a list begins. */
  from: "0",
  texts: "wrong",
  label: "",
  answer: "",
  word: "",
  order: "surest",
  row: "",
  /** A further representation by which neighbours are looked for. */
  also: "",
  text: "",
  second: "",
  original: "",
  original_second: "",
  target: "predicted",
  methods: "",
  term: "",
  toward: "",
  size: "100",
  jobs: "",
};

export type At = typeof DEFAULTS;
export type View = "overview" | "clusters" | "texts" | "try" | "terms";

/** What every part of the page is given. */
export interface Here {
  api: SalienceApi;
  about: About;
  at: At;
  go: (patch: Partial<At>, how?: "push" | "replace") => void;
  corpus: string;
  method: string;
  representation: string;
}

/** The address of this page with something else selected. */
export function addressWith(patch: Partial<At>): string {
  const next = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || value === DEFAULTS[key as keyof At]) next.delete(key);
    else next.set(key, value);
  }
  const text = next.toString();
  return location.pathname + (text ? `?${text}` : "");
}

/** A choice of the address, or the first there is where that is none of them. */
export function oneOf(choice: string, choices: readonly string[]): string {
  return choices.includes(choice) ? choice : (choices[0] ?? "");
}

/** How methods and representations are called beside their names. */
export const MEANING: Record<string, string> = {
  "grad-l2": "how strongly each token moves the answer",
  "grad-x-input": "gradient times embedding: for the answer, or against it",
  "integrated-gradients": "from an empty text to this one: for the answer, or against it",
  "salience-vocab": "the same words are looked at",
  "salience-embedding": "words of like meaning are looked at",
  "salience-bigrams": "the same words, in the same order, are looked at",
  pmi: "the same words that go with the answer occur (no gradient)",
  "average-embedding": "the words are alike on the whole (no gradient)",
  cls: "the last layer's vectors are alike (no gradient)",
};
