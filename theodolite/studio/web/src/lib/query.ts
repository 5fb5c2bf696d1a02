import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { faultText } from "./api";

export interface Query<T> {
  data?: T;
  fault?: string;
  loading: boolean;
  again(): void;
}

interface Held<T> {
  key: string | null;
  data?: T;
  fault?: string;
  loading: boolean;
}

/**
 * Ask whenever the key changes; a null key asks nothing.
 *
 * keep: show the former answer while the next one is on its way (for charts that should not blink); otherwise
 * `data` always belongs to the key.
 */
export function useQuery<T>(
  key: string | null,
  fetcher: (signal: AbortSignal) => Promise<T>,
  { keep = false }: { keep?: boolean } = {},
): Query<T> {
  const [held, setHeld] = useState<Held<T>>({ key: null, loading: key !== null });
  const [round, setRound] = useState(0);
  const latest = useRef(fetcher);
  latest.current = fetcher;

  useEffect(() => {
    if (key === null) {
      setHeld({ key: null, loading: false });
      return;
    }
    const control = new AbortController();
    setHeld((before) => ({ key, data: before.key === key || keep ? before.data : undefined, loading: true }));
    latest.current(control.signal).then(
      (data) => {
        if (!control.signal.aborted) setHeld({ key, data, loading: false });
      },
      (error: unknown) => {
        const fault = faultText(error);
        if (!control.signal.aborted && fault !== undefined) setHeld({ key, fault, loading: false });
      },
    );
    return () => control.abort();
  }, [key, round, keep]);

  const again = useCallback(() => setRound((n) => n + 1), []);
  // Between a change of key and its effect, what is held is still the former key's.
  if (held.key !== key) return { data: keep ? held.data : undefined, loading: key !== null, again };
  return { data: held.data, fault: held.fault, loading: held.loading, again };
}
