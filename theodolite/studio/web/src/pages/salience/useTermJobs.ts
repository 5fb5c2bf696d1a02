import type { TermResult } from "../../api/salience";
import { getJson } from "../../lib/api";
import { isOver, type Job, useJob } from "../../lib/jobs";
import { useQuery } from "../../lib/query";

/** As many terms are kept side by side. */
export const MOST = 12;

export interface TermJobs {
  /** The job started last, unless it is done. */
  running?: Job;
  results: readonly TermResult[];
}

/** The terms tried, by the jobs that the address names (`a.b.c`): the last one watched, the others as they ended. */
export function useTermJobs(addressed: string): TermJobs {
  const ids = addressed.split(".").filter(Boolean).slice(-MOST);
  const { job } = useJob<TermResult>(ids[ids.length - 1] ?? null);
  const over = job !== undefined && isOver(job);
  const key = ids.length ? JSON.stringify(["terms", ids, over]) : null;
  const { data } = useQuery(key, (signal) => ended(ids, signal), { keep: true });
  return { running: job?.state === "done" ? undefined : job, results: data ?? [] };
}

/** What came of jobs; one that was long ago or went wrong has nothing to show. */
async function ended(ids: readonly string[], signal: AbortSignal): Promise<TermResult[]> {
  const asked = ids.map((id) => getJson<Job<TermResult>>(`/api/jobs/${encodeURIComponent(id)}`, {}, signal));
  const found = await Promise.allSettled(asked);
  return found.flatMap((one) => (one.status === "fulfilled" && one.value.result ? [one.value.result] : []));
}
