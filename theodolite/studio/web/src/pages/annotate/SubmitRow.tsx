interface SubmitRowProps {
  /** What is still to be done before the answer is whole. */
  missing: string | null;
  /** Whether that is to be told in full: a person tried. */
  tried: boolean;
  busy: boolean;
  onSubmit: () => void;
}

/** The button at the end of an item; pressed too early, it says what is missing. */
export function SubmitRow({ missing, tried, busy, onSubmit }: SubmitRowProps) {
  return (
    <div class="study-submit">
      <button type="button" class="button primary study-button" disabled={busy} onClick={onSubmit}>
        {busy ? "Saving…" : "Submit"} <kbd aria-hidden="true">Enter</kbd>
      </button>
      <p class={tried && missing ? "study-missing" : "study-hint"} role={tried && missing ? "alert" : undefined}>
        {missing ?? "Ready to submit."}
      </p>
    </div>
  );
}
