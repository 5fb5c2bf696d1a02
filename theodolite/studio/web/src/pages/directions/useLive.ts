import { useEffect, useState } from "preact/hooks";
import { liveState, startLive, type LiveState } from "../../api/directions";
import { faultText } from "../../lib/api";
import { isOver, useJob, type Job } from "../../lib/jobs";
import { useQuery } from "../../lib/query";

export interface Live {
  state?: LiveState;
  ready: boolean;
  job?: Job;
  fault?: string;
  start: () => void;
}

/** Whether any direction can be measured at once; vectors that are in the store are read without asking. */
export function useLive(slug: string, reading: string): Live {
  const { data, fault: unknown, again } = useQuery(`live ${slug} ${reading}`, (signal) => liveState(slug, reading, signal), {
    keep: true,
  });
  const [started, setStarted] = useState<string | null>(null);
  const [fault, setFault] = useState<string>();
  const id = started ?? data?.job ?? null;
  const { job, fault: lost } = useJob(id);
  const over = job !== undefined && isOver(job);
  const start = () => {
    setFault(undefined);
    startLive(slug, reading).then(
      (found) => setStarted(found.id),
      (error: unknown) => setFault(faultText(error)),
    );
  };
  const readable = data !== undefined && !data.ready && data.stored && !data.reason && !data.job;
  useEffect(() => {
    if (readable && id === null) start();
  }, [readable, id]);
  useEffect(() => {
    if (over && job.state === "done") again();
  }, [over, job?.id]);
  return { state: data, ready: data?.ready ?? false, job, fault: fault ?? lost ?? unknown, start };
}
