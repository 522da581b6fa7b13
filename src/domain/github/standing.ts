/**
 * Where a task stands, as far as GitHub is shown it: one document that the runtime writes and the courier renders into
 * a comment, a check run and a pull request. It holds no secret and nothing of a model's prompt. [GHO-*]
 */
import { z } from "zod";
import { approvalKinds, taskStatuses } from "../view.ts";
import { githubRepository, githubShown } from "./shapes.ts";

export const githubStanding = z.strictObject({
  task_id: z.string(),
  version: z.number().int(),
  repository: githubRepository,
  /** The issue or pull request that it came from; null when there is none to answer in. */
  thread: z.strictObject({ kind: z.enum(["issue", "pull"]), number: z.number().int() }).nullable(),
  title: z.string(),
  asked_by: z.string(),
  /** GitHub's id of whoever asked, when it was a person there: makes them a co-author. */
  asked_id: z.number().int().nullable().default(null),
  status: z.enum(taskStatuses),
  phase: z.string().nullable(),
  /** Why it ended, or what it said; null while it goes on. */
  reason: z.string().nullable(),
  /** The deployment itself failed it, nobody's code: a neutral end. */
  infrastructure: z.boolean(),
  /** Address of the task's page, and of the card that waits; null when the deployment does not know its own address. */
  page_url: z.string().nullable(),
  base_commit: z.string().nullable(),
  branch: z.string(),
  /** Commit that was verified and pushed to the branch. */
  published: z.string().nullable(),
  /** Work that goes on somebody's pull request makes none of its own. */
  follows: z.string().nullable(),
  plan: z.strictObject({ title: z.string(), goal: z.string(), hash: z.string(), version: z.number().int() }).nullable(),
  items: z.array(
    z.strictObject({ title: z.string(), state: z.enum(["open", "running", "done", "failed", "blocked"]) }),
  ),
  /** The card that waits for a person. `buttons`: it may be decided on GitHub; else `why_page` says why not. */
  card: z
    .strictObject({
      approval_id: z.string(),
      kind: z.enum(approvalKinds),
      title: z.string(),
      why: z.string(),
      content_hash: z.string(),
      buttons: z.boolean(),
      why_page: z.string().nullable(),
      /** Of a plan: all that a yes to it covers, for the check; null where GitHub cannot show it whole. */
      text: z.string().nullable().default(null),
      /** Another plan may have been read there before: a yes in words must name this one. */
      named: z.boolean().default(false),
    })
    .nullable(),
  /** Checks the runtime ran, of the verifications that counted. */
  checks: z.array(z.strictObject({ run: z.string(), exit_code: z.number().int().nullable(), output: z.string() })),
  spent: z.strictObject({ tokens: z.number(), usd: z.number().nullable() }),
  /** Head of the task's audit when it ended: `<object>@<seq> <hash>`. */
  audit_head: z.string().nullable(),
  /** What is to be said of a decision that was refused, or of a second ask. */
  note: z.string().nullable().default(null),
  /** The branch that the work started from, where a pull request is to lead; null for the default branch. */
  base_branch: z.string().nullable().default(null),
  /** What stands on GitHub already, as it was last told. */
  shown: githubShown.nullable(),
});
export type GithubStanding = z.infer<typeof githubStanding>;
