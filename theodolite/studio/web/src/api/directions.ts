import { getJson, postJson } from "../lib/api";
import type { Job } from "../lib/jobs";

export interface Rate {
  kind: string;
  directions: number;
  with_pattern: number;
  rate: number | null;
  low: number | null;
  high: number | null;
  random_sets: number | null;
  random_sets_low: number | null;
  random_sets_high: number | null;
}

export interface VerdictCount {
  verdict: string;
  meaning: string;
  directions: number;
}

export interface Overview {
  corpora: string[];
  unit: string;
  top: number;
  layer: number;
  pooling: string;
  seed: number;
  dim: number | null;
  kinds: string[];
  verdicts: VerdictCount[];
  rates: Rate[];
  /** Directions that the reading's report tells about. */
  shown: string[];
}

export interface Listed {
  name: string;
  kind: string;
  verdict: string | null;
  /** The strongest pattern of each corpus that has one. */
  patterns: { corpus: string; pattern: string; hits: number }[];
  different_patterns: number;
  locality: number | null;
  locality_control: number | null;
  p: number | null;
}

export interface Listing {
  total: number;
  offset: number;
  directions: Listed[];
}

export interface Sentence {
  row: number;
  score: number;
  /** In standard deviations from the mean of its corpus. */
  deviations: number;
  spans: { text: string; marked: boolean }[];
  /** Whether the text goes on. */
  cut: boolean;
  /** Which of the corpus's patterns it shows, by their place. */
  shows: number[];
}

export interface Pattern {
  pattern: string;
  kind: string;
  hits: number;
  p_adjusted: number;
}

export interface InCorpus {
  corpus: string;
  patterns: Pattern[];
  top: Sentence[];
  bottom: Sentence[];
  locality: number | null;
  control: number | null;
}

export interface Separator {
  title: string;
  texts: string[];
  others: string[];
  accuracy: number;
  low: number;
  high: number;
  guessing: number;
  stability: number;
  in_corpora: number;
}

export interface Direction {
  name: string;
  kind: string;
  verdict: string | null;
  meaning: string | null;
  pattern: string | null;
  pattern_of: string | null;
  carried_to: string[];
  different_patterns: number;
  locality: number | null;
  locality_control: number | null;
  corpora: InCorpus[];
  /** Measured now, and not in the reading. */
  live: boolean;
  separator: Separator | null;
  false_positives: { share: number; low: number; high: number; sets: number } | null;
  before: string | null;
  after: string | null;
}

export interface Curve {
  corpus: string;
  label: string;
  kind: "token" | "word";
  counts: number[];
  change: number;
}

export interface Histogram {
  corpus: string;
  low: number;
  high: number;
  nearest: number[];
  top: number[];
  random: number[];
  locality: number;
  control: number;
}

export interface Curves {
  name: string;
  common_tokens: number;
  min_count: number;
  curves: Curve[];
  histograms: Histogram[];
}

export interface LiveState {
  ready: boolean;
  stored: boolean;
  texts: number;
  reason: string | null;
  job: string | null;
}

export interface ListAsked {
  kind: string;
  verdict: string;
  word: string;
  sort: string;
  descending: boolean;
  offset: number;
  limit: number;
}

const base = (slug: string) => `/api/surveys/${encodeURIComponent(slug)}/directions`;
const reading = (name: string) => (name ? `?reading=${encodeURIComponent(name)}` : "");

export function overview(slug: string, name: string, signal: AbortSignal): Promise<Overview> {
  return getJson(`${base(slug)}/overview`, { reading: name }, signal);
}

export function listing(slug: string, name: string, asked: ListAsked, signal: AbortSignal): Promise<Listing> {
  return getJson(base(slug), { reading: name, ...asked }, signal);
}

/** A direction's page; null where it can be measured only once the vectors were read. */
export function direction(slug: string, name: string, which: string, signal: AbortSignal): Promise<Direction | null> {
  return getJson(`${base(slug)}/one`, { reading: name, name: which }, signal);
}

/** To be asked for once the vectors were read. */
export function curves(slug: string, name: string, which: string, signal: AbortSignal): Promise<Curves> {
  return getJson(`${base(slug)}/curves`, { reading: name, name: which }, signal);
}

export function liveState(slug: string, name: string, signal: AbortSignal): Promise<LiveState> {
  return getJson(`${base(slug)}/live`, { reading: name }, signal);
}

export function startLive(slug: string, name: string): Promise<Job> {
  return postJson(`${base(slug)}/live${reading(name)}`, {});
}

export interface ConceptAsked {
  title: string;
  texts: string[];
  others: string[];
}

export function learnConcept(slug: string, name: string, asked: ConceptAsked): Promise<Job<{ name: string }>> {
  return postJson(`${base(slug)}/concepts${reading(name)}`, asked);
}
