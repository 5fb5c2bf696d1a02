import type { Kind } from "../../api/studies";

export const KIND_TITLES: Record<Kind, string> = {
  annotation: "Annotation",
  rating: "Rating",
  rationale: "Rationale",
};

export const KIND_NOTES: Record<Kind, string> = {
  annotation: "Sets of ten sentences: is there a pattern, what is it, which sentences show it?",
  rating: "Explanations of why two texts are alike, by different methods, judged from one to five.",
  rationale: "Misclassified texts with their neighbours: do they explain the mistake, and how?",
};
