/**
 * The page's one door to the service: same origin, JSON, every failure a `Problem` in plain words.
 * A pasted API token lives in this module's memory only and is gone with the tab. [WEB-2, WEB-13]
 */
let bearer: string | null = null;
let unauthenticated: () => void = () => {};

export function setBearer(token: string | null): void {
  bearer = token;
}
/** Called whenever the service answers 401: the session ended or the token was revoked. */
export function onUnauthenticated(listener: () => void): void {
  unauthenticated = listener;
}

/** What the service would not do (RFC 9457), or `unreachable` when there was no answer at all. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, unknown>>;
  constructor(status: number, code: string, detail: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.fields = fields;
  }
}

export interface CallOptions {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** The ETag of what a change was made from, in its quotes. */
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
  readonly accept?: string;
}

async function send(path: string, options: CallOptions): Promise<Response> {
  const headers = new Headers({ accept: options.accept ?? "application/json" });
  if (bearer !== null) headers.set("authorization", `Bearer ${bearer}`);
  // The service believes a session's cookie only with this header, so a DELETE without a body carries it too.
  if (options.method !== undefined && options.method !== "GET") headers.set("content-type", "application/json");
  if (options.idempotencyKey !== undefined) headers.set("idempotency-key", options.idempotencyKey);
  if (options.ifMatch !== undefined) headers.set("if-match", options.ifMatch);
  const init: RequestInit = { method: options.method ?? "GET", headers, credentials: "same-origin", cache: "no-store" };
  if (options.body !== undefined) init.body = JSON.stringify(options.body);
  if (options.signal !== undefined) init.signal = options.signal;
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, "unreachable", "The service did not answer.");
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401) unauthenticated();
  throw problem;
}

async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const fields = isRecord(body) ? body : {};
  const code = typeof fields.code === "string" ? fields.code : `http_${response.status}`;
  const detail =
    typeof fields.detail === "string" ? fields.detail : `The service answered ${response.status} without saying why.`;
  return new Problem(response.status, code, detail, fields);
}

/** JSON from the API. The service builds its answers from the schemas these types come from, so they are not parsed again. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(path, options);
  // The shape is the server's own promise (src/domain/view.ts); a caller names it once, in queries.ts.
  return (response.status === 204 ? null : await response.json()) as T;
}
export async function callText(path: string, options: CallOptions = {}): Promise<string> {
  return (await send(path, { ...options, accept: "text/plain, */*;q=0.5" })).text();
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A socket on `path`: browsers cannot send a header with one, so a one-use ticket opens it. */
export async function openSocket(path: string, query: Readonly<Record<string, string>> = {}): Promise<WebSocket> {
  const { ticket } = await call<{ ticket: string }>("/api/tickets", { method: "POST", body: { path } });
  const url = new URL(path, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  for (const [key, value] of Object.entries({ ...query, ticket })) url.searchParams.set(key, value);
  return new WebSocket(url);
}

/** A fresh Idempotency-Key. `crypto.randomUUID` exists only over https or on this machine; this exists everywhere. */
export function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
