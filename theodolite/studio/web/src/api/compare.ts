import { getJson, postJson } from "../lib/api";

export interface Method {
  name: string;
  about: string;
  slow: boolean;
}

export interface RandomPairs {
  mean: number | null;
  low: number | null;
  high: number | null;
  pairs: number;
}

export interface Standing extends RandomPairs {
  /** The share of random pairs that are less alike. */
  share: number | null;
  share_low: number | null;
  share_high: number | null;
  /** What the pairs were drawn from. */
  texts: string;
}

export interface CatalogueInfo {
  slug: string;
  name: string;
  items: number;
  descriptions: number;
  encoder: string;
  why: string;
  random_pairs: RandomPairs;
}

export interface About {
  encoder: string;
  why: string;
  methods: Method[];
  default: string;
  longest: number;
  corpora: { name: string; rows: number; readable: boolean }[];
  catalogues: CatalogueInfo[];
}

/** Offsets count Unicode characters, not UTF-16 units. */
export interface WordedText {
  text: string;
  starts: number[];
  ends: number[];
}

export interface WordPair {
  a: number;
  b: number;
  cosine: number;
  score: number;
  cluster: number;
  chosen: boolean;
}

export interface ByMethod {
  a: number[];
  b: number[];
  pairs: WordPair[];
  matched: number;
  chosen: number;
}

export interface Compared {
  a: WordedText;
  b: WordedText;
  cosine: number;
  cosine_own: number;
  pooling: string;
  same: boolean;
  completeness_error: number | null;
  methods: Record<string, ByMethod>;
  notes: { methods: string[]; text: string }[];
  standing: Standing | null;
}

export interface PickedText {
  corpus: string;
  row: number;
  text: string;
  cut: boolean;
}

export interface Item {
  id: string;
  title: string;
  description: string;
  empty: boolean;
}

export interface Neighbour {
  id: string;
  title: string;
  description: string;
  cosine: number;
  same: boolean;
  share: number | null;
  share_low: number | null;
  share_high: number | null;
}

export interface RandomisedRow {
  method: string;
  change: string;
  layers: number;
  correlation: number | null;
  correlation_low: number | null;
  correlation_high: number | null;
  overlap: number | null;
  overlap_low: number | null;
  overlap_high: number | null;
}

export interface DeletedRow {
  method: string;
  rank: number;
  area: number;
  area_low: number | null;
  area_high: number | null;
  over_random: number | null;
  over_random_low: number | null;
  over_random_high: number | null;
}

export interface DeletedPoint {
  method: string;
  fraction: number;
  fall: number;
  low: number | null;
  high: number | null;
}

export interface Truth {
  seeds: number;
  orders: number;
  whole: number;
  randomisation: RandomisedRow[];
  deletion: DeletedRow[];
  curves: DeletedPoint[];
  findings: string[];
}

/** Two texts, or two items of a catalogue. */
export type Pair = { kind: "texts"; a: string; b: string } | { kind: "items"; catalogue: string; item: string; other: string };

function place(slug: string): string {
  return `/api/surveys/${encodeURIComponent(slug)}/compare`;
}

function question(slug: string, pair: Pair, methods: readonly string[]): [string, unknown] {
  if (pair.kind === "texts") return [place(slug), { a: pair.a, b: pair.b, methods }];
  const { catalogue, item, other } = pair;
  return [`${place(slug)}/catalogues/${encodeURIComponent(catalogue)}`, { item, other, methods }];
}

export function about(slug: string, signal: AbortSignal): Promise<About> {
  return getJson(place(slug), {}, signal);
}

export function ready(slug: string, signal: AbortSignal): Promise<{ classifier: boolean }> {
  return getJson(`${place(slug)}/ready`, {}, signal);
}

export function explain(slug: string, pair: Pair, methods: readonly string[], signal: AbortSignal): Promise<Compared> {
  const [where, body] = question(slug, pair, methods);
  return postJson(`${where}/explain`, body, signal);
}

export function startTruth(slug: string, pair: Pair, methods: readonly string[]): Promise<{ id: string }> {
  const [where, body] = question(slug, pair, methods);
  return postJson(`${where}/truth`, body);
}

export function standing(slug: string, cosine: number, signal: AbortSignal): Promise<Standing> {
  return getJson(`${place(slug)}/standing`, { cosine }, signal);
}

export function corpusTexts(
  slug: string,
  asked: { corpus: string; q: string; seed: number },
  signal: AbortSignal,
): Promise<{ texts: PickedText[]; found: number }> {
  return getJson(`${place(slug)}/texts`, asked, signal);
}

export function catalogueItems(
  slug: string,
  catalogue: string,
  asked: { q: string; start: number; limit: number },
  signal: AbortSignal,
): Promise<{ items: Item[]; found: number }> {
  return getJson(`${place(slug)}/catalogues/${encodeURIComponent(catalogue)}/items`, asked, signal);
}

export function neighbours(
  slug: string,
  catalogue: string,
  item: string,
  signal: AbortSignal,
): Promise<{ item: Item; neighbours: Neighbour[]; random_pairs: RandomPairs }> {
  return getJson(`${place(slug)}/catalogues/${encodeURIComponent(catalogue)}/similar`, { item }, signal);
}
