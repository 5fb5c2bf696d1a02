import type { FunctionComponent } from "preact";
import type { SurveyInfo } from "../api/survey";

export type SurveyPageComponent = FunctionComponent<{ survey: SurveyInfo }>;

export interface SurveyRoute {
  id: string;
  title: string;
  load: () => Promise<SurveyPageComponent>;
}

/** The pages of a survey, each loaded when first opened. */
export const SURVEY_ROUTES: readonly SurveyRoute[] = [
  { id: "survey", title: "Survey", load: async () => (await import("../pages/SurveyPage")).SurveyPage },
  { id: "map", title: "Map", load: async () => (await import("../pages/MapPage")).MapPage },
  { id: "directions", title: "Directions", load: async () => (await import("../pages/DirectionsPage")).DirectionsPage },
  { id: "layers", title: "Layers", load: async () => (await import("../pages/LayersPage")).LayersPage },
  { id: "compare", title: "Compare", load: async () => (await import("../pages/ComparePage")).ComparePage },
  { id: "salience", title: "Salience", load: async () => (await import("../pages/SaliencePage")).SaliencePage },
];

export const loadStudies = async (): Promise<FunctionComponent> => (await import("../pages/StudiesPage")).StudiesPage;

export type Place =
  | { at: "home" }
  | { at: "survey"; slug: string; page: string }
  | { at: "studies" }
  | { at: "nowhere" };

export function placeOf(path: string): Place {
  const parts = path.split("/").filter(Boolean).map(decode);
  const [first, slug, page] = parts;
  if (first === undefined) return { at: "home" };
  if (first === "studies") return { at: "studies" };
  if (first === "s" && slug !== undefined && parts.length <= 3) return { at: "survey", slug, page: page ?? "survey" };
  return { at: "nowhere" };
}

export function surveyPath(slug: string, page: string): string {
  return `/s/${encodeURIComponent(slug)}/${page}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
