interface ProgressBarProps {
  label: string;
  done: number;
  /** Null when nobody knows yet how much there is to do. */
  total: number | null;
}

export function ProgressBar({ label, done, total }: ProgressBarProps) {
  const share = total ? Math.min(done / total, 1) : null;
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share === null ? undefined : Math.round(share * 100)}
    >
      {share === null ? (
        <div class="progress-bar progress-unknown" />
      ) : (
        <div class="progress-bar" style={{ transform: `scaleX(${share})` }} />
      )}
    </div>
  );
}
