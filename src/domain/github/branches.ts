/** Branches that a task's work is pushed to. A name is only a claim: the runtime knows what its tasks published. [GHR-38] */
import type { GithubThread } from "./shapes.ts";

const prefix = "countersign/";

export function isOurs(branch: string): boolean {
  return branch.startsWith(prefix);
}
/** The head of a pull request in the same repository, when it may be one of ours; else null. */
export function branchOfOurs({ head }: Pick<GithubThread, "head">): string | null {
  return head !== null && isOurs(head.branch) ? head.branch : null;
}
/** Of the first task that worked on it. */
export function taskOfBranch(branch: string): string {
  return branch.slice(prefix.length);
}
