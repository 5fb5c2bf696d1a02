import type { Study } from "./useStudy";

interface BarProps {
  study: Study;
  onHelp: () => void;
}

/** The head of the page: what it is, how far one is, whether all is saved. */
export function Bar({ study, onHelp }: BarProps) {
  const { about, progress } = study;
  const all = progress ? progress.answered + progress.left : 0;
  return (
    <header class="study-bar">
      <div class="study-bar-line">
        <h1>{about?.title ?? "Study"}</h1>
        <div class="study-bar-actions">
          <button
            type="button"
            class="button compact"
            disabled={!progress?.undo || study.saving || study.stage === "closed"}
            onClick={study.undo}
          >
            Undo <kbd aria-hidden="true">U</kbd>
          </button>
          {about && (
            <button type="button" class="button compact" onClick={onHelp}>
              Help <kbd aria-hidden="true">?</kbd>
            </button>
          )}
        </div>
      </div>
      {progress && all > 0 && (
        <div class="study-bar-line">
          <progress class="study-progress" max={all} value={progress.answered} aria-label="Answered so far" />
          <span class="study-count">
            {progress.answered.toLocaleString("en")} of {all.toLocaleString("en")}
          </span>
        </div>
      )}
      <p class={study.offline ? "study-status offline" : "study-status"} role="status">
        {statusOf(study)}
      </p>
    </header>
  );
}

function statusOf({ offline, saving, saved, stage }: Study): string {
  if (offline) {
    return saving
      ? `${offline} Your answer is kept here and is being sent again.`
      : `${offline} Trying again.`;
  }
  if (saving) return "Saving…";
  if (saved) return "✓ Saved";
  return stage === "loading" ? "Loading…" : "";
}
