import { useEffect, useState } from "preact/hooks";
import { deleteJson, faultText, getJson } from "./api";

export type JobState = "waiting" | "running" | "done" | "failed" | "cancelled";

export interface Job<Result = unknown> {
  id: string;
  title: string;
  state: JobState;
  /** What is being done now. */
  step: string | null;
  done: number;
  total: number | null;
  error: string | null;
  result: Result | null;
}

const STARTED = "job-started";
const QUICK = 400;
const SLOW = 1500;

export function isOver(job: Job): boolean {
  return job.state === "done" || job.state === "failed" || job.state === "cancelled";
}

export function cancelJob(id: string): Promise<unknown> {
  return deleteJson(`/api/jobs/${encodeURIComponent(id)}`);
}

/** One job, asked for until it is over. */
export function useJob<Result = unknown>(id: string | null): { job?: Job<Result>; fault?: string } {
  const [held, setHeld] = useState<{ id: string | null; job?: Job<Result>; fault?: string }>({ id });
  useEffect(() => {
    setHeld({ id });
    if (id === null) return;
    dispatchEvent(new Event(STARTED));
    return poll(async (signal) => {
      try {
        const job = await getJson<Job<Result>>(`/api/jobs/${encodeURIComponent(id)}`, {}, signal);
        setHeld({ id, job });
        return isOver(job) ? null : QUICK;
      } catch (error) {
        const fault = faultText(error);
        if (fault !== undefined) setHeld({ id, fault });
        return null;
      }
    });
  }, [id]);
  return held.id === id ? { job: held.job, fault: held.fault } : {};
}

/** The jobs under way; asked for once, then as long as there are any, and again when one is started here. */
export function useRunningJobs(): Job[] {
  const [jobs, setJobs] = useState<Job[]>([]);
  useEffect(() => {
    let stop = () => {};
    const start = () => {
      stop();
      stop = poll(async (signal) => {
        try {
          const running = (await getJson<Job[]>("/api/jobs", {}, signal)).filter((job) => !isOver(job));
          setJobs(running);
          return running.length ? SLOW : null;
        } catch {
          // The page that matters to the person says what is wrong; this is an ornament.
          return null;
        }
      });
    };
    start();
    addEventListener(STARTED, start);
    return () => {
      stop();
      removeEventListener(STARTED, start);
    };
  }, []);
  return jobs;
}

/** Ask, wait as long as the answer says, ask again; until it says null or is stopped. */
function poll(ask: (signal: AbortSignal) => Promise<number | null>): () => void {
  const control = new AbortController();
  let timer = 0;
  const round = async () => {
    const wait = await ask(control.signal);
    if (wait !== null && !control.signal.aborted) timer = window.setTimeout(() => void round(), wait);
  };
  void round();
  return () => {
    control.abort();
    clearTimeout(timer);
  };
}
