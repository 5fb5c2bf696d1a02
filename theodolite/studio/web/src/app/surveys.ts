import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { SurveyInfo } from "../api/survey";

export interface Surveys {
  surveys: readonly SurveyInfo[];
  /** Ask again: a survey has a new reading. */
  refresh: () => void;
}

export const SurveysContext = createContext<Surveys>({ surveys: [], refresh: () => {} });

export function useSurveys(): Surveys {
  return useContext(SurveysContext);
}
