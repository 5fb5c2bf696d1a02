/** What the server answered when it did not do what was asked. */
export class ApiFault extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "ApiFault";
  }
}

export type Params = Record<string, string | number | boolean | null | undefined | readonly string[]>;

/** A path with its parameters; those that are null or undefined are left out. */
export function withParams(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value === null || value === undefined) continue;
    if (typeof value === "object") for (const one of value) query.append(key, one);
    else query.append(key, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** `path` is the whole path, `/api/…`. */
export async function getJson<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
  const answer = await ask(withParams(path, params), { signal });
  return (await answer.json()) as T;
}

export async function postJson<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const answer = await ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  return (await jsonOrNothing(answer)) as T;
}

export async function deleteJson<T>(path: string): Promise<T> {
  return (await jsonOrNothing(await ask(path, { method: "DELETE" }))) as T;
}

export async function getBytes(path: string, params?: Params, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await ask(withParams(path, params), { signal })).arrayBuffer();
}

/** Save what the server answers under a name. */
export async function download(path: string, name: string): Promise<void> {
  saveBlob(await (await ask(path, {})).blob(), name);
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  // Some browsers read the address only after this turn of the loop.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** What to tell a person about any error; nothing when the question was withdrawn. */
export function faultText(error: unknown): string | undefined {
  if (error instanceof DOMException && error.name === "AbortError") return undefined;
  return error instanceof Error ? error.message : String(error);
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (faultText(error) === undefined) throw error;
    throw new ApiFault(0, "The studio does not answer. Is it still running?");
  }
  if (!answer.ok) throw new ApiFault(answer.status, await detail(answer));
  return answer;
}

async function jsonOrNothing(answer: Response): Promise<unknown> {
  const text = await answer.text();
  return text ? JSON.parse(text) : undefined;
}

async function detail(answer: Response): Promise<string> {
  const text = await answer.text().catch(() => "");
  try {
    const said = (JSON.parse(text) as { detail?: unknown }).detail;
    if (typeof said === "string") return said;
    if (Array.isArray(said)) return said.map(complaint).join("; ");
  } catch {
    // Not JSON: the status says what there is to say.
  }
  return text && text.length < 300 ? text : `The server answered ${answer.status}.`;
}

/** One line of a validation error. */
function complaint(one: unknown): string {
  const { loc, msg } = one as { loc?: unknown[]; msg?: string };
  const where = (loc ?? []).filter((part) => part !== "body" && part !== "query").join(".");
  return where ? `${where}: ${msg ?? ""}` : (msg ?? String(one));
}
