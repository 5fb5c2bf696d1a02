import type { Roundness } from "../../api/layers";
import { interval } from "../../lib/format";

/** The baseline: a cloud of as many vectors that is as round as chance allows. */
export const CLOUD = "round cloud";

export function methodName(method: string): string {
  return method === "none" ? "as it is" : method;
}

export function ends(one: Roundness, measure: string): string {
  const found = one.measures[measure];
  return interval(found?.[1], found?.[2], 3);
}
