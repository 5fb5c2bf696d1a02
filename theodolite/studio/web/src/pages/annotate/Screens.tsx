import type { ComponentChildren } from "preact";
import type { About } from "../../api/annotate";
import { Shortcuts } from "./Help";
import { useKeys } from "./useKeys";
import type { Study } from "./useStudy";

/** Before the first item. */
export function Intro({ about, onBegin }: { about: About; onBegin: () => void }) {
  useKeys({ enter: onBegin }, true);
  return (
    <section class="study-screen" aria-label="Instructions">
      <h2>Welcome</h2>
      <p class="study-instructions">{about.instructions}</p>
      <p>
        You are shown one at a time. Every answer is saved when you submit it: you can stop whenever you like and come
        back by the same link. Please judge by yourself, and keep the link to yourself.
      </p>
      <button type="button" class="button primary study-button" onClick={onBegin}>
        Begin
      </button>
      <details>
        <summary>Keys, if you like to work fast</summary>
        <Shortcuts kind={about.kind} />
      </details>
    </section>
  );
}

/** Where there is no item: why, and what can be done. */
export function Ending({ study }: { study: Study }) {
  const answered = study.progress?.answered ?? 0;
  const thanks = `You gave ${answered.toLocaleString("en")} ${answered === 1 ? "answer" : "answers"}. All of them are saved.`;
  switch (study.stage) {
    case "done":
      return (
        <Screen title="That was all. Thank you!">
          <p>{thanks} You can close this page.</p>
          {study.progress?.undo && <p>If the last one was a slip, take it back with Undo.</p>}
        </Screen>
      );
    case "waiting":
      return (
        <Screen title="Nothing for you just now">
          <p>{thanks} Others are still working on what is left; some of it may come back to you.</p>
          <Again study={study} title="Look again" />
        </Screen>
      );
    case "closed":
      return (
        <Screen title="This study is closed. Thank you!">
          <p>{thanks}</p>
        </Screen>
      );
    case "unknown":
      return (
        <Screen title="This link leads to no study">
          <p>Look whether it was copied in full, or ask whoever sent it for a new one.</p>
        </Screen>
      );
    default:
      return (
        <Screen title="Something went wrong">
          <p>{study.notice ?? "The study could not be shown."} What you have answered is safe.</p>
          <Again study={study} title="Try again" />
        </Screen>
      );
  }
}

function Screen({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="study-screen" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Again({ study, title }: { study: Study; title: string }) {
  return (
    <button type="button" class="button primary study-button" onClick={study.again}>
      {title}
    </button>
  );
}
