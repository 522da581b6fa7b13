/** One person's decision as bytes that can be signed. [APP-48] */

import type { ApprovalView } from "./approval-view.ts";
import { hashOf } from "./canonical.ts";

/**
 * Who said what of which card, when and in which words, in 32 bytes. The token of what was approved carries it of each
 * approver, and it is what a person's own key can sign.
 */
export function saidHash(
  scope: string,
  approval_id: string,
  made: Omit<ApprovalView["decisions"][number], "said">,
): string {
  const { decision, by, comment, at, proof, content_hash, link_by } = made;
  const link = link_by === undefined ? {} : { link_by };
  return hashOf({ scope, approval_id, content_hash, decision, by, proof, comment, at, ...link });
}
