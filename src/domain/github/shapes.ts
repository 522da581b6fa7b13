/**
 * What is known of GitHub here, in our own words and bounded: repositories, people, threads, and what happened in them.
 * A webhook's payload is read into these at the door, and nothing else of it goes further. [GHI-*]
 */
import { z } from "zod";

/** GitHub's ids are whole numbers below 2^53. */
const githubId = z.number().int().positive();
export const fullName = z.string().regex(/^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/, "must be owner/name");
export const login = z.string().regex(/^[A-Za-z0-9_.-]{1,100}(\[bot\])?$/, "must be a GitHub login");

export const githubRepository = z.strictObject({
  id: githubId,
  installation_id: githubId,
  full_name: fullName,
  private: z.boolean(),
  default_branch: z.string().min(1).max(255),
});
export type GithubRepository = z.infer<typeof githubRepository>;

export const githubPerson = z.strictObject({ id: githubId, login, is_bot: z.boolean() });
export type GithubPerson = z.infer<typeof githubPerson>;

/** An issue or a pull request. `head` is the branch of a pull request that lies in the same repository; null for every other. */
export const githubThread = z.strictObject({
  kind: z.enum(["issue", "pull"]),
  number: githubId,
  title: z.string().max(1_000),
  url: z.string().max(2_048),
  head: z.strictObject({ branch: z.string().max(255), sha: z.string().regex(/^[0-9a-f]{40}$/) }).nullable(),
});
export type GithubThread = z.infer<typeof githubThread>;

/** Somebody's words as they wrote them. Whose they are decides how far they are trusted. */
const written = z.strictObject({
  by: githubPerson,
  text: z.string().max(100_000),
  cut: z.boolean(),
  /** What a review comment speaks of. The path is not its author's word: whoever made the pull request has named the file. */
  place: z.strictObject({ path: z.string().max(1_000), line: githubId.nullable() }).exactOptional(),
});

export const triggerNames = [
  "label",
  "assignment",
  "comment",
  "review_request",
  "review_comment",
  "failed_check",
] as const;
/**
 * `unclear`: it may be one of the others or not. `misplaced`: it stands where nothing is decided. Both are answered, as
 * `help` is, and decide nothing.
 */
export const decisionWords = ["approve", "deny", "cancel", "status", "help", "unclear", "misplaced"] as const;

/** Something that may count, once the courier has looked up what the person who did it may do. */
export const happening = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("wish"),
    trigger: z.enum(triggerNames),
    /** Who pulled the trigger: set the label, wrote the comment. For a failed check nobody did. */
    by: githubPerson.nullable(),
    thread: githubThread,
    /** What to do, in the order it is read: the thread's own text, then what was asked in it. */
    texts: z.array(written).max(4),
    labels: z.array(z.string().max(100)).max(100),
    /** The label that was just set, of the trigger `label`: whoever pulled it vouches for this one and no other. */
    label: z.string().max(100).nullable().exactOptional(),
    /** Branch that is ours by its name, `countersign/...`: the work goes on it if a task of the scope published it. */
    follows: z.string().max(255).nullable(),
    /** The comment that asked, to answer in its thread; null when it was no comment. */
    comment_id: githubId.nullable(),
    /** When it was asked, by GitHub's clock (ISO 8601), where GitHub says so. */
    at: z.string().max(40).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal("decision"),
    what: z.enum(decisionWords),
    by: githubPerson,
    reason: z.string().max(10_000).nullable(),
    /** Beginning of the content hash that was named: of a button always, of a comment if it names one. */
    hash: z
      .string()
      .regex(/^[0-9a-f]{8,64}$/)
      .nullable(),
    via: z.enum(["comment", "button"]),
    /** When it was said, by GitHub's clock (ISO 8601). */
    said_at: z.string(),
    thread: githubThread.nullable(),
    /** The task: of a button the check run's `external_id`, of a comment the one that it names. */
    task_id: z.string().max(64).nullable(),
    /** An App other than ours wrote the comment in this person's name. */
    app: z.boolean().exactOptional(),
  }),
  /** The text a task was made of was changed or taken away after it. */
  z.strictObject({
    kind: z.literal("changed"),
    what: z.enum(["edited", "deleted", "closed", "reopened", "unlabeled"]),
    by: githubPerson,
    thread: githubThread,
    comment_id: githubId.nullable(),
  }),
]);
export type Happening = z.infer<typeof happening>;

/** What stands after the courier asked GitHub: may the person trigger and decide, and how far is each text's author trusted. */
export const permissions = ["admin", "maintain", "write", "triage", "read", "none"] as const;
export const permission = z.enum(permissions);
export type Permission = z.infer<typeof permission>;
export function mayWrite(held: Permission): boolean {
  return held === "admin" || held === "maintain" || held === "write";
}

/** Payload of `github_event` (runtime -> courier). */
export const githubEvent = z.strictObject({
  delivery_id: z.string().min(1).max(100),
  repository: githubRepository,
  happening,
});
export type GithubEvent = z.infer<typeof githubEvent>;

/** Payload of `github_request` (courier -> runtime_queue): the happening with what GitHub said of its people. */
export const githubRequest = z.strictObject({
  delivery_id: z.string(),
  repository: githubRepository,
  happening,
  /** By login, of everybody the happening names. */
  people: z.record(z.string(), permission),
});
export type GithubRequest = z.infer<typeof githubRequest>;

/** Payload of `github_sync` (runtime -> courier): show where this task stands. */
export const githubSync = z.strictObject({ task_id: z.string(), version: z.number().int() });
/** Payload of `github_answer` (runtime -> courier): say this in a thread that no task of ours stands in. */
export const githubAnswer = z.strictObject({
  delivery_id: z.string().min(1).max(100),
  repository: githubRepository,
  number: githubId,
  words: z.string().max(2_000),
});
export type GithubAnswer = z.infer<typeof githubAnswer>;
/** Payload of `github_shown` (courier -> runtime_queue): what stands on GitHub now. `failed`: why it does not, in a sentence. */
export const githubShown = z.strictObject({
  task_id: z.string(),
  version: z.number().int(),
  comment: z.strictObject({ id: githubId, url: z.string() }).nullable(),
  check: z.strictObject({ id: githubId, url: z.string(), sha: z.string() }).nullable(),
  pull: z.strictObject({ number: githubId, url: z.string() }).nullable(),
  /** Content hash of the card that the comment and the check showed, and since when by GitHub's clock (ISO 8601); null when none waited. */
  showed: z.strictObject({ content_hash: z.string(), at: z.string() }).nullable(),
  failed: z.string().nullable(),
  /** Hashes of what was written last, so that what stands is not written again, and the commit chosen for the check. */
  wrote: z
    .strictObject({
      comment: z.string().nullable(),
      check: z.string().nullable(),
      pull: z.string().nullable(),
      sha: z.string().nullable(),
    })
    .default({ comment: null, check: null, pull: null, sha: null }),
});
export type GithubShown = z.infer<typeof githubShown>;
