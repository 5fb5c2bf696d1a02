import type { Series } from "../../api/layers";
import { useAddress } from "../../lib/address";
import { categorical } from "../../lib/colours";

/** Everything that can be selected on the page; lists are joined by commas. */
const DEFAULTS = {
  measure: "self_similarity_adjusted",
  hidden: "",
  with: "",
  word: "",
  round: "isoscore",
  layer: "",
  space: "",
};

export type Selected = typeof DEFAULTS;
export type Change = (patch: Partial<Selected>, how?: "push" | "replace") => void;

export function useSelected(): [Selected, Change] {
  return useAddress(DEFAULTS);
}

export function listed(text: string): string[] {
  return text.split(",").filter(Boolean);
}

/** The same list with one thing put in, or taken out. */
export function toggled(text: string, one: string): string {
  const there = listed(text);
  return (there.includes(one) ? there.filter((other) => other !== one) : [...there, one]).join(",");
}

/** How encoders are told apart where corpora have the colours: whole, dashed, dotted. */
const DASHES = ["", "7 4", "2 3", "10 3 2 3", "1 5"] as const;

/** The corpora and surveys of a page, in one order for every chart on it. */
export interface Key {
  corpora: string[];
  surveys: string[];
  colour: (corpus: string) => string;
  dash: (survey: string) => string;
  encoder: (survey: string) => string;
}

type Placed = Pick<Series, "survey" | "encoder" | "corpus">;

export function keyOf(all: readonly Placed[]): Key {
  const corpora = [...new Set(all.map((one) => one.corpus))];
  const surveys = [...new Set(all.map((one) => one.survey))];
  const encoders = new Map(all.map((one) => [one.survey, one.encoder]));
  const names = [...encoders.values()];
  return {
    corpora,
    surveys,
    colour: (corpus) => categorical(corpora.indexOf(corpus)),
    dash: (survey) => DASHES[surveys.indexOf(survey) % DASHES.length] ?? "",
    // Two surveys of one encoder are told apart by their own names.
    encoder: (survey) => {
      const name = encoders.get(survey) ?? survey;
      return names.filter((other) => other === name).length > 1 ? `${name} (${survey})` : name;
    },
  };
}
