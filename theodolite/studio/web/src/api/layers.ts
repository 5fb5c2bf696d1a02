import { getJson, postJson } from "../lib/api";
import type { Job } from "../lib/jobs";

export interface Measure {
  name: string;
  title: string;
  unit: string;
  baseline: string | null;
  baseline_title: string | null;
  explanation: string;
}

type Values = (number | null)[];

export interface Band {
  value: Values;
  low: Values;
  high: Values;
}

export interface Series {
  survey: string;
  title: string;
  encoder: string;
  corpus: string;
  corpus_hash: string | null;
  layers: number[];
  texts: number;
  words: number;
  occurrences: number;
  measures: Record<string, Band>;
}

export interface Roundness {
  survey: string;
  encoder: string;
  corpus: string;
  space: string;
  layer: number;
  method: string;
  fitted_on: string | null;
  vectors: number;
  dim: number;
  reason: string | null;
  /** Value and the two ends of its interval. */
  measures: Record<string, [number | null, number | null, number | null]>;
}

export interface Layers {
  measures: Measure[];
  series: Series[];
  roundness_measures: Measure[];
  roundness: Roundness[];
  layers: Record<string, number>;
}

export interface Sibling {
  survey: string;
  title: string;
  encoder: string;
  corpora: string[];
  shared: string[];
}

export interface Vocabulary {
  total: number;
  words: { word: string; occurrences: number; corpora: number }[];
}

export interface WordSeries {
  survey: string;
  encoder: string;
  corpus: string;
  contexts: number;
  occurrences: number;
  live: boolean;
  measures: Record<string, Values>;
}

export interface Word {
  word: string;
  measured: boolean;
  series: WordSeries[];
  missing: string[];
  /** It was sought in all corpora: where it is missing, it occurs less than twice. */
  sought: boolean;
  reason: string | null;
  job: string | null;
}

const base = (slug: string) => `/api/surveys/${encodeURIComponent(slug)}/layers`;

export function layers(slug: string, beside: readonly string[], signal: AbortSignal): Promise<Layers> {
  return getJson(base(slug), { with: beside }, signal);
}

export function siblings(slug: string, signal: AbortSignal): Promise<Sibling[]> {
  return getJson(`${base(slug)}/others`, {}, signal);
}

export function vocabulary(slug: string, prefix: string, signal: AbortSignal): Promise<Vocabulary> {
  return getJson(`${base(slug)}/words`, { prefix, limit: 20 }, signal);
}

export function wordCurves(slug: string, word: string, beside: readonly string[], signal: AbortSignal): Promise<Word> {
  return getJson(`${base(slug)}/word`, { word, with: beside }, signal);
}

export function measureWord(slug: string, word: string): Promise<Job<{ word: string }>> {
  return postJson(`${base(slug)}/word`, { word });
}
