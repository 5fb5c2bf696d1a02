import { getJson, postJson } from "../lib/api";
import type { Job } from "../lib/jobs";

export interface EncoderInfo {
  name: string;
  hash: string;
  tokenizer_hash: string;
  layers: number;
  dim: number;
  /** Tokens a window, and by how many the next begins later: `256/128`. */
  window: string;
  transform: string | null;
}

export interface CorpusInfo {
  name: string;
  source: string | null;
  hash: string | null;
  texts: number | null;
  tokens: number | null;
  empty: number | null;
  duplicate: number | null;
  without_tokens: number | null;
  windowed: number | null;
}

interface SurveyOutline {
  slug: string;
  title: string;
  encoder: EncoderInfo;
  corpora: CorpusInfo[];
  made: string | null;
  /** Whether the encoder can be asked live. */
  live: boolean;
  model: string | null;
}

/** What every page knows of its survey. */
export interface SurveyInfo extends SurveyOutline {
  /** The names of its readings, and the instrument of each. */
  readings: string[];
  instruments: string[];
}

export interface Finding {
  /** What it was measured on; empty where the sentence says so itself. */
  about: string;
  sentence: string;
}

export interface TableInfo {
  name: string;
  rows: number;
  columns: string[];
}

export interface FigureInfo {
  name: string;
  title: string;
  caption: string;
}

export interface ReadingInfo {
  name: string;
  instrument: string;
  question: string;
  findings: Finding[];
  options: Record<string, unknown>;
  seed: number | null;
  made: string | null;
  /** Whether it was made in the studio. */
  added: boolean;
  tables: TableInfo[];
  figures: FigureInfo[];
}

export interface WholeSurvey extends SurveyOutline {
  readings: ReadingInfo[];
  /** Corpora whose texts are no longer at hand. */
  without_texts: string[];
  left_out: Record<string, string>;
  versions: Record<string, string>;
  theodolite: string | null;
  command: string;
  plan: Record<string, unknown>;
}

export interface TableRows {
  name: string;
  columns: string[];
  total: number;
  offset: number;
  rows: Record<string, unknown>[];
}

/** An option as JSON Schema has it. */
export interface OptionSchema {
  title: string;
  description: string;
  type: "string" | "integer" | "number" | "boolean" | "array";
  default: string | number | boolean | string[] | null;
  enum?: string[];
  minimum?: number;
  items?: { type: "string"; enum?: string[] };
}

export interface InstrumentForm {
  name: string;
  question: string;
  options: { properties: Record<string, OptionSchema> };
}

export interface RunResult {
  survey: string;
  reading: string;
}

export function surveys(signal: AbortSignal): Promise<SurveyInfo[]> {
  return getJson("/api/surveys", {}, signal);
}

export function wholeSurvey(slug: string, signal: AbortSignal): Promise<WholeSurvey> {
  return getJson(surveyPath(slug), {}, signal);
}

export function tableRows(slug: string, reading: string, table: string, offset: number, limit: number, signal: AbortSignal) {
  return getJson<TableRows>(tablePath(slug, reading, table), { offset, limit }, signal);
}

export function instruments(signal: AbortSignal): Promise<InstrumentForm[]> {
  return getJson("/api/instruments", {}, signal);
}

export function runInstrument(slug: string, instrument: string, options: Record<string, unknown>): Promise<Job<RunResult>> {
  return postJson(`${surveyPath(slug)}/run`, { instrument, options });
}

export const reportPath = (slug: string) => `${surveyPath(slug)}/report`;
export const zipPath = (slug: string) => `${surveyPath(slug)}/download.zip`;

export function tablePath(slug: string, reading: string, table: string, kind: "" | ".csv" | ".parquet" = ""): string {
  return `${readingPath(slug, reading)}/tables/${encodeURIComponent(table)}${kind}`;
}

export function figurePath(slug: string, reading: string, figure: string): string {
  return `${readingPath(slug, reading)}/figures/${encodeURIComponent(figure)}.svg`;
}

function surveyPath(slug: string): string {
  return `/api/surveys/${encodeURIComponent(slug)}`;
}

function readingPath(slug: string, reading: string): string {
  return `${surveyPath(slug)}/readings/${encodeURIComponent(reading)}`;
}
