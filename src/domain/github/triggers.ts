/**
 * What begins a task in one repository, as its people set it. On is what somebody with write access says on purpose, and
 * a failed check on our own branch; what is not meant for us (a review comment, a bot's doing) is off. [GHI-20]
 */
import { z } from "zod";
import { limits } from "../../limits.ts";
import { login } from "./shapes.ts";

const names = z.array(login).max(limits.github_trigger_names);

export const triggers = z.strictObject({
  /** The issue or pull request gets this label. GitHub compares labels without case. */
  label: z
    .strictObject({ on: z.boolean().default(true), name: z.string().trim().min(1).max(50).default("countersign") })
    .prefault({}),
  /** It is assigned to our App, or to one of `logins`. */
  assignment: z.boolean().default(true),
  /** `/countersign <wish>` in a comment. Decisions by comment are always heard. */
  comment: z.boolean().default(true),
  /** A review is requested of our App, or of one of `logins`. */
  review_request: z.boolean().default(true),
  /** Any review comment on a pull request of ours. */
  review_comment: z.boolean().default(false),
  /** A check of somebody else's fails on a branch of ours. */
  failed_check: z.boolean().default(true),
  /** Bots that are heard, `name[bot]`; all others are ignored. */
  bots: names.default([]),
  /** Accounts that stand for Countersign: what is assigned to them, or asked of them, is asked of us. */
  logins: names.default([]),
});
export type Triggers = z.infer<typeof triggers>;

export const defaultTriggers: Triggers = triggers.parse({});

/** GitHub's names of accounts, and of labels, are the same whatever their case. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
export function listed(names: readonly string[], name: string): boolean {
  return names.some((each) => sameName(each, name));
}
