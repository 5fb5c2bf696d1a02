import { useEffect, useRef, useState } from "preact/hooks";
import { JobProgress } from "../components/JobProgress";
import { type Job, useRunningJobs } from "../lib/jobs";

/** What is being computed now, wherever it was started; nothing is shown when nothing is. */
export function JobsMenu() {
  const jobs = useRunningJobs();
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !box.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    addEventListener("keydown", close);
    addEventListener("pointerdown", close);
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("pointerdown", close);
    };
  }, [open]);
  const first = jobs[0];
  if (!first) return null;
  const shown = jobs.length > 1 ? `${jobs.length} running` : shareOf(first) || "running";
  return (
    <div class="jobs-menu" ref={box}>
      <button
        type="button"
        class="tool-button jobs-button"
        aria-expanded={open}
        aria-label={`${shown}: ${jobs.map((job) => job.title).join(", ")}`}
        onClick={() => setOpen(!open)}
      >
        <span class="spinner" aria-hidden="true" />
        <span>{shown}</span>
      </button>
      {open && (
        <div class="jobs-list panel">
          {jobs.map((job) => (
            <JobProgress key={job.id} job={job} />
          ))}
        </div>
      )}
    </div>
  );
}

function shareOf({ done, total }: Job): string {
  return total ? `${Math.round((100 * Math.min(done, total)) / total)}%` : "";
}
