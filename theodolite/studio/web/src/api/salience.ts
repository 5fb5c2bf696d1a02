import { getJson, postJson } from "../lib/api";

export interface Span {
  text: string;
  weight: number;
}

export interface HeatMap {
  method: string;
  spans: Span[];
}

export interface Answer {
  name: string;
  probability: number;
}

/** Over all labelled texts of a corpus (`name` is "all"), or over those of one class. */
export interface Scores {
  corpus: string;
  name: string;
  texts: number;
  predicted: number;
  accuracy: number | null;
  accuracy_low: number | null;
  accuracy_high: number | null;
  baseline: number | null;
  correlation: number | null;
  correlation_low: number | null;
  correlation_high: number | null;
  squared_error: number | null;
}

export interface About {
  available: boolean;
  why: string;
  commands: string[];
  readings: string[];
  model: string;
  classes: string[];
  corpora: { name: string; texts: number; why_no_texts: string | null }[];
  scores: Scores[];
  methods: string[];
  representations: string[];
  /** Those that can be made from the maps in the store. */
  further_representations: string[];
  among: string | null;
  marker: string | null;
  live: boolean;
  why_not_live: string;
  findings: string[];
}

export interface ClusterCard {
  corpus: string;
  method: string;
  representation: string;
  predicted: string;
  id: number;
  rank: number;
  size: number;
  share: number;
  suspicion: number;
  purity: number;
  concentration: number;
  distinctness: number;
  accuracy: number | null;
  true: string[];
  terms: { term: string; value: number }[];
  marker: { precision: number; recall: number; marked: number } | null;
}

export interface TextRow {
  corpus: string;
  row: number;
  label: string | null;
  answer: string;
  wrong: boolean;
  probability: number | null;
  text: string | null;
  cut: boolean;
}

export interface Texts {
  total: number;
  offset: number;
  rows: TextRow[];
  note: string;
}

export interface ClusterView {
  card: ClusterCard;
  examples: (TextRow & { spans: Span[] })[];
}

export interface TextView {
  corpus: string;
  row: number;
  label: string | null;
  answer: string;
  wrong: boolean;
  cluster: number | null;
  text: string | null;
  text_b: string | null;
  answers: Answer[];
  maps: HeatMap[];
  source: string;
  note: string;
}

export interface Neighbour {
  corpus: string;
  row: number;
  rank: number;
  cosine: number;
  shared_terms: string[];
  label: string | null;
  answer: string;
  wrong: boolean;
  text: string;
  spans: Span[];
}

export interface NeighbourView {
  method: string;
  source: string;
  representations: { representation: string; rows: Neighbour[] }[];
  note: string;
}

export interface NeighboursAsked {
  corpus: string;
  row: number;
  method: string;
  among: string;
  representation: string;
}

export interface TryRequest {
  text: string;
  text_b: string | null;
  methods: string[];
  target: string;
}

export interface Tried {
  answer: string;
  target: string;
  answers: Answer[];
  maps: HeatMap[];
  said: string[];
  seconds: number;
}

export interface Change {
  mean: number | null;
  low: number | null;
  high: number | null;
  texts: number;
}

export interface TermChange {
  term: string;
  insertion: Change;
  masking: Change;
  count: number;
}

export interface ListChange extends TermChange {
  terms: string[];
}

export interface TermResult {
  corpus: string;
  toward: string;
  asked: TermChange;
  baseline: ListChange | null;
  searched: number;
  of: number;
}

export interface FaithfulnessRow {
  corpus: string;
  method: string;
  k: number;
  comprehensiveness: number | null;
  comprehensiveness_low: number | null;
  comprehensiveness_high: number | null;
  sufficiency: number | null;
  sufficiency_low: number | null;
  sufficiency_high: number | null;
  n: number;
}

export interface PositionRow {
  corpus: string;
  method: string;
  part: string;
  salience: number | null;
  low: number | null;
  high: number | null;
  tokens: number | null;
  texts: number;
}

export interface Measured {
  toward: string | null;
  lists: ListChange[];
  terms: TermChange[];
  faithfulness: FaithfulnessRow[];
  positions: PositionRow[];
}

/** Which clustering. */
export interface Grouped {
  corpus: string;
  method: string;
  representation: string;
  predicted: string;
}

export interface TextFilter {
  corpus: string;
  label: string;
  answer: string;
  wrong: boolean;
  word: string;
  order: string;
  offset: number;
}

/** The longest text that may be tried. */
export const LONGEST_TEXT = 10_000;
export const PAGE_SIZE = 20;

/** The calls of one reading of one survey. */
export class SalienceApi {
  private readonly base: string;

  constructor(
    slug: string,
    readonly reading: string,
  ) {
    this.base = `/api/surveys/${encodeURIComponent(slug)}/salience`;
  }

  /** Tells the answers of this reading from those of others. */
  key(...parts: unknown[]): string {
    return JSON.stringify([this.base, this.reading, ...parts]);
  }

  about(signal?: AbortSignal): Promise<About> {
    return getJson(this.base, { reading: this.reading }, signal);
  }

  clusters(asked: Partial<Grouped>, signal?: AbortSignal): Promise<ClusterCard[]> {
    return getJson(`${this.base}/clusters`, { reading: this.reading, ...asked }, signal);
  }

  cluster(grouped: Grouped, id: number, signal?: AbortSignal): Promise<ClusterView> {
    return getJson(`${this.base}/cluster`, { reading: this.reading, ...grouped, id }, signal);
  }

  members(grouped: Grouped, id: number, wrong: boolean, offset: number, signal?: AbortSignal): Promise<Texts> {
    const page = { wrong, offset, limit: PAGE_SIZE };
    return getJson(`${this.base}/members`, { reading: this.reading, ...grouped, id, ...page }, signal);
  }

  texts(asked: TextFilter, signal?: AbortSignal): Promise<Texts> {
    return getJson(`${this.base}/texts`, { reading: this.reading, ...asked, limit: PAGE_SIZE }, signal);
  }

  text(corpus: string, row: number, signal?: AbortSignal): Promise<TextView> {
    return getJson(`${this.base}/text`, { reading: this.reading, corpus, row }, signal);
  }

  /** By one representation, or by all of the reading's where it is empty. */
  neighbours(asked: NeighboursAsked, signal?: AbortSignal): Promise<NeighbourView> {
    return getJson(`${this.base}/neighbours`, { reading: this.reading, ...asked }, signal);
  }

  measured(signal?: AbortSignal): Promise<Measured> {
    return getJson(`${this.base}/measured`, { reading: this.reading }, signal);
  }

  tried(asked: TryRequest, signal?: AbortSignal): Promise<Tried> {
    return postJson(`${this.base}/try?${new URLSearchParams({ reading: this.reading })}`, asked, signal);
  }

  /** Starts a job whose result is a `TermResult`. */
  sensitivity(term: string, corpus: string, toward: string, texts: number): Promise<{ id: string }> {
    const query = new URLSearchParams({ reading: this.reading });
    return postJson(`${this.base}/sensitivity?${query}`, { term, corpus, toward, texts });
  }
}
