import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type About, type Answer, AnnotatorApi, type Item, type Next, type Progress, Refusal } from "../../api/annotate";
import { Kept, newKey } from "./keeping";
import { untilAnswered } from "./retrying";

export type Stage = "loading" | "intro" | "item" | "done" | "waiting" | "closed" | "unknown" | "fault";

export interface Study {
  stage: Stage;
  about: About | null;
  item: Item | null;
  /** What was begun of the item's answer before a reload. */
  draft: Answer | null;
  progress: Progress | null;
  /** An answer is on its way. */
  saving: boolean;
  /** The last answer is on the server's disk. */
  saved: boolean;
  /** Why the server is being asked again. */
  offline: string | null;
  /** Something to be told once. */
  notice: string | null;
  begin(): void;
  submit(answer: Answer): void;
  undo(): void;
  again(): void;
  keepDraft(answer: Answer): void;
}

interface State {
  stage: Stage;
  about: About | null;
  item: Item | null;
  progress: Progress | null;
  saving: boolean;
  saved: boolean;
  notice: string | null;
}

const START: State = {
  stage: "loading",
  about: null,
  item: null,
  progress: null,
  saving: false,
  saved: false,
  notice: null,
};

/** The whole course of a study for one annotator: one thing after another, each until it is acknowledged. */
export function useStudy(token: string): Study {
  const [state, setState] = useState<State>(START);
  const [offline, setOffline] = useState<string | null>(null);
  const tools = useRef({ api: new AnnotatorApi(token), kept: new Kept(token), busy: false, gone: false });
  const { api, kept } = tools.current;
  const patch = useCallback((some: Partial<State>) => setState((before) => ({ ...before, ...some })), []);

  /** One thing at a time; what the server refuses is told, and an unknown link ends it all. */
  const doing = useCallback(
    async (work: () => Promise<void>) => {
      const now = tools.current;
      if (now.busy) return;
      now.busy = true;
      try {
        await work();
      } catch (fault) {
        if (now.gone) return;
        const unknown = fault instanceof Refusal && fault.status === 404;
        patch({ stage: unknown ? "unknown" : "fault", saving: false, notice: fault instanceof Error ? fault.message : null });
      } finally {
        now.busy = false;
      }
    },
    [patch],
  );
  const asking = useCallback(
    <T,>(ask: () => Promise<T>) => untilAnswered(ask, setOffline, () => tools.current.gone),
    [],
  );
  const show = useCallback(
    (next: Next, more: Partial<State> = {}) =>
      patch({ stage: next.state, item: next.item, progress: next.progress, saving: false, ...more }),
    [patch],
  );

  /** Send what is pending, until it is on the server's disk or refused for good. */
  const deliver = useCallback(async (): Promise<Partial<State>> => {
    const pending = kept.pending;
    if (!pending) return {};
    patch({ saving: true, saved: false, notice: null });
    try {
      const { progress } = await asking(() => api.submit(pending));
      kept.pending = null;
      kept.keepDraft(pending.assignment, null);
      return { saved: true, progress };
    } catch (fault) {
      if (!(fault instanceof Refusal) || fault.status === 404) throw fault;
      kept.pending = null;
      return { saved: false, notice: `Not saved: ${fault.message}` };
    }
  }, [api, kept, asking, patch]);

  const proceed = useCallback(async () => {
    const outcome = await deliver();
    show(await asking(() => api.next()), outcome);
  }, [api, asking, deliver, show]);

  useEffect(() => {
    tools.current.gone = false;
    void doing(async () => {
      const about = await asking(() => api.about());
      patch({ about, progress: about.progress });
      document.title = about.title;
      const fresh = about.progress.answered === 0 && !kept.begun && !kept.pending && !about.closed;
      if (fresh) patch({ stage: "intro" });
      else await proceed();
    });
    return () => {
      tools.current.gone = true;
    };
  }, [api, kept, asking, doing, patch, proceed]);

  useEffect(() => {
    if (state.stage !== "waiting") return;
    const timer = setInterval(() => void doing(proceed), 20_000);
    return () => clearInterval(timer);
  }, [state.stage, doing, proceed]);

  return {
    ...state,
    offline,
    draft: state.item ? (kept.draft(state.item.assignment) ?? state.item.previous) : null,
    begin: () => {
      kept.begun = true;
      void doing(proceed);
    },
    submit: (answer) => {
      if (!state.item || tools.current.busy) return;
      kept.pending = { assignment: state.item.assignment, answer, key: newKey() };
      void doing(proceed);
    },
    undo: () => {
      const last = state.progress?.undo;
      if (!last) return;
      void doing(async () => {
        patch({ saved: false, notice: null });
        try {
          const back = await asking(() => api.undo(last));
          // The answer that was taken back is what there is to change, not what was begun before it.
          if (back.item?.previous) kept.keepDraft(back.item.assignment, back.item.previous);
          show(back, { notice: "Your last answer was taken back. Change it and submit it again." });
        } catch (fault) {
          if (!(fault instanceof Refusal) || fault.status === 404) throw fault;
          show(await asking(() => api.next()), { notice: fault.message });
        }
      });
    },
    again: () => void doing(proceed),
    keepDraft: (answer) => {
      if (state.item && !state.saving) kept.keepDraft(state.item.assignment, answer);
    },
  };
}
