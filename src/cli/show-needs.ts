/** What a card asks of whoever decides it, and what ended it, as lines of a card's text. [CLI-60] */

import type { ApprovalView } from "../domain/approval-view.ts";
import { approvalsOf } from "../domain/deciding.ts";
import { visibleLine } from "../domain/visible.ts";

/** Name and words, in the order in which they are read; nothing where a card asks nothing special. */
export function needsLines(approval: ApprovalView): readonly (readonly [name: string, words: string])[] {
  const { needs, status, expires_at, winner } = approval;
  if (status !== "pending") {
    const silent = winner !== null && !["approve", "deny", "request_changes"].includes(winner.what);
    return silent ? [["ended", `${winner.what} by ${winner.by} at ${winner.at}: ${winner.reason ?? ""}`]] : [];
  }
  const approved = approvalsOf(needs, approval);
  const by = approved.map((made) => `by ${visibleLine(made.by)}${linkWords(made)} at ${made.at}`).join(", ");
  const lines: [string, string][] = [];
  if (expires_at !== null) lines.push(["expires", `${expires_at}, if nobody decides before`]);
  if (needs.approvers > 1)
    lines.push(["approvals", `${approved.length} of ${needs.approvers} different people${by === "" ? "" : `: ${by}`}`]);
  if (needs.revoked !== undefined)
    lines.push(["no longer", `by ${needs.revoked.map(visibleLine).join(", ")}: their token was revoked since`]);
  if (needs.not_by !== null) lines.push(["not by", `${needs.not_by}, who asked for the task (they may deny it)`]);
  if (needs.proof !== "token")
    lines.push([
      "proof",
      "only a person signed in on the page may approve this (an admin makes the link); a token may deny it",
    ]);
  return lines;
}

/** Who else could have said it. */
export function linkWords({ link_by }: ApprovalView["decisions"][number]): string {
  return link_by === undefined ? "" : ` (by a sign-in link that ${visibleLine(link_by)} made)`;
}
