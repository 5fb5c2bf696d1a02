import { useRef, useState } from "preact/hooks";
import type { AnnotationAnswer, AnnotationContent, NamedPattern } from "../../api/annotate";
import { Choice } from "./Choice";
import type { Judging } from "./judging";
import { PatternCard } from "./PatternCard";
import { LEAST, MOST, missingOf, NEW, said, toggled } from "./patterns";
import { Sentences } from "./Sentences";
import { SubmitRow } from "./SubmitRow";
import { useFocus } from "./useFocus";
import { type Keys, useKeys } from "./useKeys";

type Verdict = "yes" | "no";

/** A set of sentences: is there a pattern, what is it, which show it? */
export function Annotation(props: Judging<AnnotationContent, AnnotationAnswer>) {
  const { content, draft, busy, shortcuts, onDraft, onSubmit } = props;
  const [verdict, setVerdict] = useState<Verdict | null>(draft ? (draft.pattern ? "yes" : "no") : null);
  const [patterns, setPatterns] = useState<NamedPattern[]>(draft?.patterns.length ? draft.patterns : [NEW]);
  const [active, setActive] = useState(0);
  const [tried, setTried] = useState(false);
  const names = useRef<(HTMLInputElement | null)[]>([]);
  const focusName = useFocus((place: number) => names.current[place]);

  const change = (next: Verdict | null, named: NamedPattern[]) => {
    setVerdict(next);
    setPatterns(named);
    if (next) onDraft({ kind: "annotation", pattern: next === "yes", patterns: next === "yes" ? named : [] });
  };
  const tick = (sentence: number) => change("yes", toggled(patterns, active, sentence));
  const add = () => {
    if (patterns.length >= MOST) return;
    change("yes", [...patterns, NEW]);
    setActive(patterns.length);
    focusName(patterns.length);
  };
  const remove = (place: number) => {
    const rest = patterns.filter((_, i) => i !== place);
    change(verdict, rest.length ? rest : [NEW]);
    setActive(Math.max(0, Math.min(active, rest.length - 1)));
  };
  const missing = missingOf(verdict, patterns);
  const submit = () => {
    if (busy) return;
    if (missing || !verdict) setTried(true);
    else onSubmit(said(verdict === "yes", patterns));
  };

  const keys: Keys = {
    y: () => change("yes", patterns),
    n: () => change("no", patterns),
    t: verdict === "yes" ? () => focusName(active) : undefined,
    p: verdict === "yes" ? add : undefined,
    enter: submit,
  };
  content.sentences.slice(0, 10).forEach((_, i) => {
    keys[String((i + 1) % 10)] = () => tick(i);
  });
  useKeys(keys, shortcuts && !busy);

  return (
    <div class="study-two">
      <section aria-label="Sentences">
        <h2 class="study-heading">
          Sentences from <bdi>{content.corpus}</bdi>
        </h2>
        <Sentences
          sentences={content.sentences}
          patterns={verdict === "yes" ? patterns : []}
          active={active}
          disabled={busy}
          onTick={tick}
        />
      </section>
      <section class="study-side" aria-label="Your answer">
        <Choice<Verdict>
          legend={`Is there a pattern that at least ${LEAST} of them share?`}
          name="verdict"
          options={[
            { value: "yes", label: "Yes", sign: "Y" },
            { value: "no", label: "No", sign: "N" },
          ]}
          value={verdict}
          onChange={(value) => change(value, patterns)}
          disabled={busy}
        />
        {verdict === "yes" && (
          <>
            {patterns.map((pattern, place) => (
              <PatternCard
                key={place}
                place={place}
                pattern={pattern}
                active={place === active}
                several={patterns.length > 1}
                disabled={busy}
                innerRef={(element) => {
                  names.current[place] = element;
                }}
                onActivate={() => setActive(place)}
                onName={(name) => change("yes", patterns.map((one, i) => (i === place ? { ...one, name } : one)))}
                onRemove={() => remove(place)}
                onEnter={submit}
              />
            ))}
            {patterns.length < MOST && (
              <button type="button" class="button quiet compact" disabled={busy} onClick={add}>
                Another pattern <kbd aria-hidden="true">P</kbd>
              </button>
            )}
          </>
        )}
        <SubmitRow missing={missing} tried={tried} busy={busy} onSubmit={submit} />
      </section>
    </div>
  );
}
