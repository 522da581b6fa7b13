/**
 * Reads the few fields of a webhook's payload that count, leniently: one that is missing or odd is null, every text is
 * cut to its bound, and no JSON whatever makes it throw. What a field means is decided in `events.ts`. [GHI-1]
 */
import { z } from "zod";
import { limits } from "../../limits.ts";
import { type GithubPerson, type GithubRepository, type GithubThread, githubRepository, login } from "./shapes.ts";

const id = z.number().int().positive();
/** Half a surrogate pair has no canonical form, so nothing that held one could be sent on. */
function text(most: number) {
  return z.string().transform((whole) => whole.slice(0, most).toWellFormed());
}
const word = text(100).catch("");
const page = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\/[!-~]+$/)
  .catch("");

const user = z
  .object({ id, login, type: word })
  .transform(
    (read): GithubPerson => ({
      id: read.id,
      login: read.login,
      is_bot: read.type === "Bot" || read.login.endsWith("[bot]"),
    }),
  )
  .nullable()
  .catch(null);

/** Who GitHub names where an account is gone; nobody has rights by it. */
export const ghost: GithubPerson = { id: 10_137, login: "ghost", is_bot: false };

const repository = z.object({ ...githubRepository.omit({ installation_id: true }).shape, html_url: page });
/** A repository as the payload has it: the installation stands beside it. */
export type ReadRepository = z.infer<typeof repository>;

const common = z.object({
  action: word,
  installation: z.object({ id, account: user }).nullable().catch(null),
  repository: repository.nullable().catch(null),
  sender: user,
});
export type Common = z.infer<typeof common>;
/** Null when it is no object at all. */
export function readCommon(payload: unknown): Common | null {
  return common.safeParse(payload).data ?? null;
}

export function repositoryOf(read: ReadRepository, installation_id: number): GithubRepository {
  const { id, full_name, private: secret, default_branch } = read;
  return { id, installation_id, full_name, private: secret, default_branch };
}

const body = z.string().nullable().catch(null);
const label = z
  .object({ name: text(100) })
  .nullable()
  .catch(null);
const labels = z
  .array(z.unknown())
  .catch([])
  .transform((all) => all.slice(0, limits.github_labels).flatMap((one) => label.parse(one)?.name ?? []));
const commit = z.string().regex(/^[0-9a-f]{40}$/);
const branch = z.string().min(1).max(255);
/** One end of a pull request. A fork that is gone has no repository. */
const end = z
  .object({ ref: branch, sha: commit, repo: z.object({ id }).nullable().catch(null) })
  .nullable()
  .catch(null);

const thread = z.object({
  number: id,
  title: text(1_000).catch(""),
  html_url: page,
  user,
  body,
  labels,
  updated_at: word,
  /** Of an issue: it is a pull request. */
  pull_request: z
    .unknown()
    .transform((beside) => typeof beside === "object" && beside !== null)
    .catch(false),
  head: end,
  base: end,
});
export type ReadThread = z.infer<typeof thread>;

/** What each event is about. Its name is not under the signature, so one's payload must not pass for another's. */
const parts: ReadonlyMap<string, readonly string[]> = new Map([
  ["issues", ["issue"]],
  ["issue_comment", ["issue", "comment"]],
  ["pull_request", ["pull_request"]],
  ["pull_request_review", ["pull_request", "review"]],
  ["pull_request_review_comment", ["pull_request", "comment"]],
  ["check_run", ["check_run"]],
]);
const allParts = [...new Set([...parts.values()].flat())];
export function isOf(event: string, payload: object): boolean {
  const own = parts.get(event) ?? [];
  return allParts.every((part) => Object.hasOwn(payload, part) === own.includes(part));
}

/** When something happened, as GitHub says it; undefined when it says nothing of use. */
export function momentOf(said: string): string | undefined {
  return /^\d{4}-\d\d-\d\dT[\d:.]{5,12}(?:Z|[+-]\d\d:\d\d)$/.test(said) && !Number.isNaN(Date.parse(said))
    ? said
    : undefined;
}

/** `issue` of issues and their comments, `pull_request` of all that is about one. */
const about = z.object({
  issue: thread.nullable().catch(null),
  pull_request: thread.nullable().catch(null),
  label,
  assignee: user,
  requested_reviewer: user,
});
export function readAbout(payload: unknown) {
  const read = about.safeParse(payload).data;
  return { ...read, thread: read?.pull_request ?? read?.issue ?? null, is_pull: read?.pull_request != null };
}
export type About = ReturnType<typeof readAbout>;

const said = z
  .object({
    id,
    user,
    body,
    created_at: word,
    /** A review's own. */
    submitted_at: word,
    path: text(1_000).nullable().catch(null),
    line: id.nullable().catch(null),
    /** Where it is not said, or oddly, some App may have written it in a person's name: it decides nothing. */
    performed_via_github_app: z.union([z.null(), z.object({ id })]).catch({ id: 0 }),
  })
  .nullable()
  .catch(null);
const saying = z.object({ comment: said, review: said });
/** The comment or review that the event is about. */
export function readSaid(payload: unknown) {
  const read = saying.safeParse(payload).data;
  return read?.comment ?? read?.review ?? null;
}
export type Said = NonNullable<ReturnType<typeof readSaid>>;

const pullOfCheck = z.object({ number: id, head: end }).nullable().catch(null);
const check = z.object({
  check_run: z
    .object({
      name: text(200).catch(""),
      head_sha: commit,
      external_id: text(64).catch(""),
      conclusion: word,
      completed_at: word,
      app: z
        .object({
          id,
          slug: z
            .string()
            .regex(/^[A-Za-z0-9_.-]{1,90}$/)
            .catch("unknown-app"),
        })
        .nullable()
        .catch(null),
      output: z
        .object({ title: text(1_000).nullable().catch(null), summary: body })
        .nullable()
        .catch(null),
      check_suite: z
        .object({ head_branch: branch.nullable().catch(null) })
        .nullable()
        .catch(null),
      pull_requests: z
        .array(z.unknown())
        .catch([])
        .transform((all) => all.slice(0, limits.github_check_pulls).flatMap((one) => pullOfCheck.parse(one) ?? [])),
    })
    .nullable()
    .catch(null),
  requested_action: z.object({ identifier: word }).nullable().catch(null),
});
export type ReadCheck = NonNullable<z.infer<typeof check>["check_run"]>;
export function readCheck(payload: unknown) {
  const read = check.safeParse(payload).data;
  return { run: read?.check_run ?? null, pressed: read?.requested_action?.identifier ?? null };
}

/** The branch counts only when it lies in this very repository: of anybody's fork it is theirs to name. */
export function threadOf(read: ReadThread, is_pull: boolean, repository_id: number): GithubThread {
  const { number, title, html_url, head, base } = read;
  const ours = head !== null && head.repo?.id === repository_id && base?.repo?.id === repository_id;
  return {
    kind: is_pull || read.pull_request ? "pull" : "issue",
    number,
    title,
    url: html_url,
    head: ours ? { branch: head.ref, sha: head.sha } : null,
  };
}

/** Somebody's words, cut where they are longer than GitHub itself takes them. */
export function written(by: GithubPerson | null, words: string | null) {
  const whole = words ?? "";
  const kept = whole.slice(0, limits.github_text_chars).toWellFormed();
  return { by: by ?? ghost, text: kept, cut: whole.length > kept.length };
}
