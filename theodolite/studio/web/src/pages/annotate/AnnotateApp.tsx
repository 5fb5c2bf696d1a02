import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AnnotationAnswer, Answer, RationaleAnswer, RatingAnswer } from "../../api/annotate";
import { Annotation } from "./Annotation";
import { Bar } from "./Bar";
import { Help } from "./Help";
import { Rating } from "./Rating";
import { Rationale } from "./Rationale";
import { Ending, Intro } from "./Screens";
import { useKeys, useShortcuts } from "./useKeys";
import { type Study, useStudy } from "./useStudy";
import "./annotate.css";

const token = decodeURIComponent(location.pathname.split("/")[2] ?? "");

/** The annotator's own page: one thing to judge at a time. */
export function AnnotateApp() {
  const study = useStudy(token);
  const [help, setHelp] = useState(false);
  const [shortcuts, setShortcuts] = useShortcuts();
  useKeys({ u: study.undo, "?": () => setHelp(true) }, shortcuts && !help);
  return (
    <main class="study">
      <Bar study={study} onHelp={() => setHelp(true)} />
      <div class="study-main">
        {study.notice && study.stage !== "fault" && (
          <p class="study-notice" role="status">
            {study.notice}
          </p>
        )}
        <Stage study={study} shortcuts={shortcuts && !help} />
      </div>
      {study.about && (
        <Help
          about={study.about}
          open={help}
          shortcuts={shortcuts}
          onShortcuts={setShortcuts}
          onClose={() => setHelp(false)}
        />
      )}
    </main>
  );
}

function Stage({ study, shortcuts }: { study: Study; shortcuts: boolean }) {
  const { stage, about, item } = study;
  const top = useRef<HTMLDivElement>(null);
  const seen = useRef<string | null>(null);
  useLayoutEffect(() => {
    // A new item begins at its top, and a screen reader is taken there; at once, or a name being typed would lose the focus.
    if (seen.current !== null && item && seen.current !== item.assignment) {
      scrollTo({ top: 0 });
      top.current?.focus({ preventScroll: true });
    }
    seen.current = item?.assignment ?? seen.current ?? "";
  }, [item]);
  if (stage === "loading") return null;
  if (stage === "intro" && about) return <Intro about={about} onBegin={study.begin} />;
  if (stage !== "item" || !item) return <Ending study={study} />;
  const shared = { busy: study.saving, shortcuts, onDraft: study.keepDraft, onSubmit: study.submit };
  const { content } = item;
  const draft: Answer | null = study.draft?.kind === content.kind ? study.draft : null;
  return (
    <div ref={top} tabIndex={-1} class="study-item" key={`${item.assignment} ${item.previous !== null}`}>
      {content.kind === "annotation" && (
        <Annotation content={content} draft={draft as AnnotationAnswer | null} {...shared} />
      )}
      {content.kind === "rating" && <Rating content={content} draft={draft as RatingAnswer | null} {...shared} />}
      {content.kind === "rationale" && (
        <Rationale content={content} draft={draft as RationaleAnswer | null} {...shared} />
      )}
    </div>
  );
}
