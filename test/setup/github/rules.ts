/** What an operation of the contract server is: whom it is for, what it needs, what it does and answers. */
import type { Answers } from "./answers.ts";
import { problem, type Reply } from "./faults.ts";
import type { Check, Comment, Repo, State, Thread, Token } from "./state.ts";

export type Json = Record<string, unknown>;
export interface Call {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Checked by the description before. */
  readonly body: Json;
  /** Of an installation's calls. */
  readonly token: (Token & { readonly text: string }) | null;
}
export interface Told {
  /** Something that GitHub tells the App's webhook of. */
  readonly event: string;
  readonly action: string;
  readonly repo: Repo;
  readonly thread?: Thread;
  readonly comment?: Comment;
  readonly check?: Check;
}
export interface Surroundings {
  readonly state: State;
  readonly answers: Answers;
  readonly base: () => string;
  tell(what: Told): void;
  deliveries(): readonly Json[];
  redeliver(id: string): boolean;
}
export interface Rule {
  /** `app`: the App's own token; else an installation's, with the permission that must be among its. */
  readonly as:
    | "app"
    | "nobody"
    | "installation"
    | { readonly permission: (call: Call, repo: Repo) => readonly [name: string, level: "read" | "write"] };
  readonly run: (call: Call, repo: Repo) => Reply;
}

export const notFound = problem(404, "Not Found");
export const invalid = (message: string): Reply => problem(422, message);
export const need = (name: string, level: "read" | "write"): Rule["as"] => ({ permission: () => [name, level] });

export function paged(
  base: string,
  all: readonly Json[],
  { query }: Call,
  path: string,
  wrap: (page: readonly Json[]) => unknown,
): Reply {
  const size = Number(query.get("per_page") ?? 30);
  const page = Number(query.get("page") ?? 1);
  const next = new URL(`${base}${path}`);
  for (const [name, value] of query) next.searchParams.set(name, value);
  next.searchParams.set("page", String(page + 1));
  const headers: Record<string, string> = page * size < all.length ? { link: `<${next.href}>; rel="next"` } : {};
  return { status: 200, headers, body: wrap(all.slice((page - 1) * size, page * size)) };
}
