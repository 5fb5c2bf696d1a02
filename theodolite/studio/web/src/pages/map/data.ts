import { useEffect, useMemo, useState } from "preact/hooks";
import type { AboutMap, Colouring, MapApi, Points, VectorsState } from "../../api/map";
import { useQuery, type Query } from "../../lib/query";
import { type At, readOutline } from "./address";
import { Geometry } from "./geometry";
import { maskOf, type Values } from "./paint";

/** How the points are coloured now. */
export interface Coloured {
  about: Colouring;
  values: Values;
  /** Of a direction's scores. */
  median?: number;
}

export interface Colours {
  coloured: Coloured;
  fault?: string;
  loading: boolean;
  /** Whether directions can be scored; asked for only when one is wanted. */
  vectors: Query<VectorsState>;
}

/** The worker that knows where the points are. */
export function useGeometry(points: Points): Geometry | null {
  const [geometry, setGeometry] = useState<Geometry | null>(null);
  useEffect(() => {
    const made = new Geometry(points);
    setGeometry(made);
    return () => made.end();
  }, [points]);
  return geometry;
}

/** The colouring that the address names; that by corpus until it is there. */
export function useColours(api: MapApi, about: AboutMap, points: Points, at: At): Colours {
  const usual = useMemo((): Coloured => {
    const corpora = about.colourings.find((one) => one.id === "corpus");
    const none: Colouring = { id: "corpus", title: "Corpus", kind: "categories", categories: [], low: null, high: null };
    return { about: corpora ?? none, values: { kind: "categories", codes: points.corpus } };
  }, [about, points]);
  const wanted = about.colourings.find((one) => one.id === at.colour);
  const directed = at.colour === "direction" && about.vectors.possible;
  const own = useQuery(wanted && wanted.id !== "corpus" ? api.key(`colours ${wanted.id}`) : null, (signal) =>
    wanted ? valued(api, wanted, signal) : Promise.reject(new Error("no such colouring")),
  );
  const vectors = useQuery(directed ? api.key("vectors") : null, (signal) => api.vectors(signal));
  const ready = directed && vectors.data?.stored && at.direction;
  const scores = useQuery(ready ? api.key(`scores ${at.direction}`) : null, (signal) => scored(api, at.direction, signal));
  const query = directed ? scores : own;
  return { coloured: query.data ?? usual, fault: query.fault, loading: query.loading, vectors };
}

async function valued(api: MapApi, about: Colouring, signal: AbortSignal): Promise<Coloured> {
  if (about.kind === "categories") return { about, values: { kind: "categories", codes: await api.codes(about.id, signal) } };
  const numbers = await api.numbers(about.id, signal);
  return { about, values: { kind: "numbers", numbers, low: about.low ?? 0, high: about.high ?? 1 } };
}

async function scored(api: MapApi, direction: string, signal: AbortSignal): Promise<Coloured> {
  const told = await api.scoresAbout(direction, signal);
  const numbers = await api.scores(direction, signal);
  const { low, high } = told;
  const about: Colouring = { id: "direction", title: told.title, kind: "numbers", categories: [], low, high };
  return { about, values: { kind: "numbers", numbers, low, high }, median: told.median };
}

/** The points inside the outline of the address; null where it has none, undefined until they are known. */
export function useInside(geometry: Geometry | null, lasso: string, shown: Uint8Array | null): Uint32Array | null | undefined {
  const [found, setFound] = useState<{ of: string; shown: Uint8Array | null; points: Uint32Array }>();
  useEffect(() => geometry?.show(shown), [geometry, shown]);
  useEffect(() => {
    const outline = readOutline(lasso);
    if (!geometry || !outline) return;
    let wanted = true;
    void geometry.inside(outline).then((points) => wanted && setFound({ of: lasso, shown, points }));
    return () => {
      wanted = false;
    };
  }, [geometry, lasso, shown]);
  if (!readOutline(lasso)) return null;
  return found && found.of === lasso && found.shown === shown ? found.points : undefined;
}

/** The points that are inside the outline, hold the words sought and are shown; null where nothing is asked. */
export function useChosen(
  inside: Uint32Array | null | undefined,
  hits: Uint32Array | null | undefined,
  shown: Uint8Array | null,
  count: number,
): Uint32Array | null | undefined {
  return useMemo(() => {
    if (inside === undefined || hits === undefined) return undefined;
    if (!hits) return inside;
    const among = inside && maskOf(inside, count);
    return hits.filter((point) => (!among || among[point]) && (!shown || shown[point]));
  }, [inside, hits, shown, count]);
}

/** Points in the order of the list. */
export function useListed(geometry: Geometry | null, chosen: Uint32Array | null | undefined, values: Values, order: string) {
  const [sorted, setSorted] = useState<{ of: Uint32Array; values: Values; order: string; points: Uint32Array }>();
  const sorting = values.kind === "numbers" && (order === "high" || order === "low");
  useEffect(() => {
    if (!sorting || !chosen || !geometry) return;
    let wanted = true;
    void geometry.sorted(chosen, values.numbers, order === "high").then((points) => {
      if (wanted) setSorted({ of: chosen, values, order, points });
    });
    return () => {
      wanted = false;
    };
  }, [sorting, chosen, geometry, values, order]);
  if (!sorting || !chosen) return chosen;
  return sorted && sorted.of === chosen && sorted.values === values && sorted.order === order ? sorted.points : undefined;
}
