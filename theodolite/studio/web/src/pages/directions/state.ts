import { useAddress } from "../../lib/address";

/** Everything that can be selected on the page. */
const DEFAULTS = {
  direction: "",
  kind: "",
  verdict: "",
  word: "",
  sort: "name",
  offset: "0",
  end: "top",
  reading: "",
  concept: "",
};

export type Selected = typeof DEFAULTS;
export type Select = (patch: Partial<Selected>, how?: "push" | "replace") => void;

export function useSelected(): [Selected, Select] {
  return useAddress(DEFAULTS);
}

/** The address of the same page with something else selected. */
export function addressOf(patch: Partial<Selected>): string {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(patch)) {
    if (value === DEFAULTS[key as keyof Selected]) query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  return location.pathname + (text ? `?${text}` : "");
}

const KINDS: Record<string, [string, string]> = {
  neuron: ["neuron", "neurons"],
  random: ["random direction", "random directions"],
  pca: ["principal component", "principal components"],
  concept: ["concept", "concepts"],
  file: ["given direction", "given directions"],
};

export function kindName(kind: string, several = false): string {
  return KINDS[kind]?.[several ? 1 : 0] ?? kind;
}
