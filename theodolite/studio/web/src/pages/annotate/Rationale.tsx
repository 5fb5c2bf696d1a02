import { useId, useRef, useState } from "preact/hooks";
import type { RationaleAnswer, RationaleContent } from "../../api/annotate";
import { Choice } from "./Choice";
import type { Judging } from "./judging";
import { LongText } from "./LongText";
import { SubmitRow } from "./SubmitRow";
import { useFocus } from "./useFocus";
import { useKeys } from "./useKeys";

type Verdict = "yes" | "no";

/** A misread text and its neighbours: do they explain the mistake, and how? */
export function Rationale(props: Judging<RationaleContent, RationaleAnswer>) {
  const { content, draft, busy, shortcuts, onDraft, onSubmit } = props;
  const [verdict, setVerdict] = useState<Verdict | null>(draft ? (draft.explains ? "yes" : "no") : null);
  const [reason, setReason] = useState(draft?.rationale ?? "");
  const [tried, setTried] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const change = (next: Verdict | null, how: string) => {
    setVerdict(next);
    setReason(how);
    if (next) onDraft({ kind: "rationale", explains: next === "yes", rationale: how });
  };
  const missing =
    verdict === null ? "Say whether they explain it." : verdict === "yes" && !reason.trim() ? "Say how, in a sentence." : null;
  const submit = () => {
    if (busy) return;
    if (missing || !verdict) setTried(true);
    else onSubmit({ kind: "rationale", explains: verdict === "yes", rationale: verdict === "yes" ? reason.trim() : "" });
  };
  const focus = useFocus(() => field.current);
  const toReason = () => focus(0);
  useKeys(
    {
      y: () => {
        change("yes", reason);
        toReason();
      },
      n: () => change("no", reason),
      t: verdict === "yes" ? toReason : undefined,
      enter: submit,
    },
    shortcuts && !busy,
  );
  return (
    <div class="study-two">
      <section aria-label="The text and its neighbours">
        <div class="study-text-card">
          <h2 class="study-heading">The text</h2>
          <p class="study-words">
            <LongText text={content.text} />
          </p>
          <Classes label={content.label} answer={content.answer} />
        </div>
        <h2 class="study-heading">Its neighbours</h2>
        <ol class="study-neighbours">
          {content.neighbours.map((one, i) => (
            <li key={i} class="study-text-card">
              <p class="study-words">
                <LongText text={one.text} />
              </p>
              <Classes label={one.label} answer={one.answer} />
            </li>
          ))}
        </ol>
      </section>
      <section class="study-side" aria-label="Your answer">
        <Choice<Verdict>
          legend="Do the neighbours explain why the text was misread?"
          name="explains"
          options={[
            { value: "yes", label: "Yes", sign: "Y" },
            { value: "no", label: "No", sign: "N" },
          ]}
          value={verdict}
          onChange={(value) => change(value, reason)}
          disabled={busy}
        />
        {verdict === "yes" && (
          <div class="study-pattern">
            <label for={id}>How do they explain it?</label>
            <textarea
              id={id}
              ref={field}
              class="input"
              dir="auto"
              rows={3}
              maxLength={2000}
              value={reason}
              disabled={busy}
              onInput={(event) => change(verdict, event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                  event.preventDefault();
                  submit();
                } else if (event.key === "Escape") event.currentTarget.blur();
              }}
            />
          </div>
        )}
        <SubmitRow missing={missing} tried={tried} busy={busy} onSubmit={submit} />
      </section>
    </div>
  );
}

/** The true class of a text, and what the program said. */
function Classes({ label, answer }: { label: string | null; answer: string | null }) {
  return (
    <dl class="study-classes">
      {label !== null && (
        <div>
          <dt>True class</dt>
          <dd>
            <bdi>{label}</bdi>
          </dd>
        </div>
      )}
      {answer !== null && (
        <div>
          <dt>The program said</dt>
          <dd>
            <bdi>{answer}</bdi>
          </dd>
        </div>
      )}
    </dl>
  );
}
