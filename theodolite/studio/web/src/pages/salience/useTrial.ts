import { useEffect, useRef, useState } from "preact/hooks";
import type { SalienceApi, Tried, TryRequest } from "../../api/salience";
import { faultText } from "../../lib/api";

export interface Trial {
  /** The last answer, which stays while the next is on its way. */
  answer?: Tried;
  /** The text that the answer is of. */
  of?: TryRequest;
  loading: boolean;
  fault?: string;
  cancel(): void;
}

/** Ask about a text once nobody has typed for a while; a new text withdraws the question about the former one. */
export function useTrial(api: SalienceApi, asked: TryRequest | null, delay: number): Trial {
  const [held, setHeld] = useState<Omit<Trial, "cancel">>({ loading: false });
  const control = useRef<AbortController | null>(null);
  const key = asked === null ? null : api.key(asked);
  useEffect(() => {
    if (key === null || asked === null) {
      setHeld({ loading: false });
      return;
    }
    const mine = new AbortController();
    control.current = mine;
    setHeld(({ answer, of }) => ({ answer, of, loading: true }));
    const timer = setTimeout(() => {
      api.tried(asked, mine.signal).then(
        (answer) => {
          if (!mine.signal.aborted) setHeld({ answer, of: asked, loading: false });
        },
        (error: unknown) => {
          const fault = faultText(error);
          if (!mine.signal.aborted) setHeld(({ answer, of }) => ({ answer, of, fault, loading: false }));
        },
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      mine.abort();
    };
    // The key says everything that is asked.
  }, [key]);
  const cancel = () => {
    control.current?.abort();
    setHeld(({ answer, of }) => ({ answer, of, loading: false }));
  };
  return { ...held, cancel };
}
