import { getJson, postJson } from "../lib/api";

export type Kind = "annotation" | "rating" | "rationale";

/** One option of a draw, as JSON Schema. */
export interface OptionSchema {
  title?: string;
  description?: string;
  type?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
}

export interface StudyForm {
  kind: Kind;
  instrument: string;
  title: string;
  instructions: string;
  options: { properties: Record<string, OptionSchema> };
  sources: { survey: string; title: string; reading: string }[];
}

export interface NewStudy {
  kind: Kind;
  name: string;
  survey: string;
  reading: string | null;
  options: Record<string, unknown>;
  annotators: number;
  seed: number;
  title: string;
  instructions: string;
}

export interface AnnotatorInfo {
  id: number;
  name: string;
  answered: number;
  in_hand: number;
  seen_at: string | null;
}

export interface StudyProgress {
  items: number;
  wanted: number;
  answered: number;
  in_hand: number;
  finished_items: number;
  annotators: AnnotatorInfo[];
}

export interface StudyInfo {
  id: number;
  name: string;
  kind: Kind;
  title: string;
  instructions: string;
  annotators_per_item: number;
  /** Minutes. */
  release_after: number;
  seed: number;
  source: { survey?: string; reading?: string; slug?: string; draw?: Record<string, unknown> };
  created_at: string;
  closed_at: string | null;
  progress: StudyProgress;
}

export interface Invitation {
  name: string;
  token: string;
  path: string;
}

export interface ItemsAnswered {
  answers: number;
  items: number;
}

/** A number, or null where it cannot be told. */
export type Told = number | null;

interface Difference {
  against: string;
  difference: Told;
  low: Told;
  high: Told;
  p: Told;
  p_adjusted: Told;
}

export interface AgreementRow {
  measure: string;
  level: string;
  among: string;
  items: number;
  value: Told;
  low: Told;
  high: Told;
  why: string;
}

export interface ConditionRow {
  condition: string;
  corpus: string;
  sets: number;
  yes: number;
  no: number;
  conflicting: number;
  yes_share: Told;
  yes_low: Told;
  yes_high: Told;
  same_pattern: number;
  waiting: number;
}

export interface MeanRow {
  condition: string;
  mean: Told;
  low: Told;
  high: Told;
}

export interface MethodRow {
  method: string;
  pairs: number;
  ratings: number;
  mean: Told;
  low: Told;
  high: Told;
  deviation: Told;
  deviation_of_annotators: Told;
}

export interface RepresentationRow {
  representation: string;
  answers: number;
  share: Told;
  low: Told;
  high: Told;
  texts: number;
  explained_by_all: number;
  explained_by_none: number;
  conflicting: number;
  waiting: number;
}

export interface PatternRow {
  condition: string;
  direction: string | null;
  corpus: string;
  annotator: string;
  pattern: string;
  group: string;
  positives: number;
}

/** The tables of all kinds; a study has those of its own kind that have rows. */
export interface ResultTables {
  agreement?: AgreementRow[];
  annotators?: Record<string, Told | string>[];
  conditions?: ConditionRow[];
  differences?: (Difference & { condition?: string; corpus?: string; method?: string; representation?: string })[];
  patterns_per_direction?: (MeanRow & { directions: number; corpora_each: Told; most: number })[];
  positives?: (MeanRow & { patterns: number; deviation: Told })[];
  patterns?: PatternRow[];
  locality?: { corpus: string; sets_meaningful: number; sets_meaningless: number; meaningful: Told; meaningless: Told; p: Told }[];
  machine?: { direction: string; corpus: string; people: boolean; machine: boolean; people_named: string[]; machine_named: string[] }[];
  methods?: MethodRow[];
  scores?: { method: string; score: number; count: number; of: number }[];
  deletion?: { corpus: string; method: string; opinion: Told; opinion_rank: number; deletion_area: Told; deletion_over_random: Told; deletion_rank: number }[];
  representations?: RepresentationRow[];
  ways?: { representation: string; way: string; count: number }[];
}

export interface Results {
  kind: Kind;
  findings: string[];
  tables: ResultTables;
  manifest: { hash: string; seed: number; answers: number; name: string };
}

export interface PatternKey {
  answer: number;
  place: number;
}

export interface NamedPattern extends PatternKey {
  name: string;
  group: string;
  annotator: string;
  corpus: string;
  item: string;
  sentences: string[];
}

export interface ProposedMerge {
  a: NamedPattern;
  b: NamedPattern;
  likeness: number;
  letters: number;
  shared: number;
  cosine: number | null;
}

export interface Merges {
  patterns: number;
  live: boolean;
  groups: { name: string; patterns: NamedPattern[] }[];
  decided: { a: NamedPattern; b: NamedPattern; same: boolean; contradicted: boolean }[];
  proposals: ProposedMerge[];
  left: number;
}

const ROOT = "/api/studies";

export const studies = (signal?: AbortSignal) => getJson<StudyInfo[]>(ROOT, {}, signal);
export const studyForms = (signal?: AbortSignal) => getJson<StudyForm[]>(`${ROOT}/forms`, {}, signal);
export const createStudy = (asked: NewStudy) => postJson<StudyInfo>(ROOT, asked);
export const study = (id: number, signal?: AbortSignal) => getJson<StudyInfo>(`${ROOT}/${id}`, {}, signal);
export const invite = (id: number, names: string[]) => postJson<Invitation[]>(`${ROOT}/${id}/invite`, { names });
export const newLink = (id: number, annotator: number) =>
  postJson<Invitation>(`${ROOT}/${id}/annotators/${annotator}/link`, {});
export const release = (id: number, annotator: number | null) =>
  postJson<{ released: number }>(`${ROOT}/${id}/release`, { annotator });
export const closeStudy = (id: number) => postJson<StudyInfo>(`${ROOT}/${id}/close`, {});
export const reopenStudy = (id: number) => postJson<StudyInfo>(`${ROOT}/${id}/reopen`, {});
export const itemsAnswered = (id: number, signal?: AbortSignal) =>
  getJson<ItemsAnswered[]>(`${ROOT}/${id}/items`, {}, signal);
export const results = (id: number, signal?: AbortSignal) => getJson<Results>(`${ROOT}/${id}/results`, {}, signal);
export const exportPath = (id: number, form: "csv" | "parquet") => `${ROOT}/${id}/export.${form}`;
export const merges = (id: number, signal?: AbortSignal) => getJson<Merges>(`${ROOT}/${id}/merges`, {}, signal);
export const decideMerge = (id: number, a: PatternKey, b: PatternKey, same: boolean | null) =>
  postJson<Merges>(`${ROOT}/${id}/merges`, { a: keyOf(a), b: keyOf(b), same });

function keyOf({ answer, place }: PatternKey): PatternKey {
  return { answer, place };
}
