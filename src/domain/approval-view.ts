/** Cards and approvals as the API, the page and the CLI show them, and the bodies that decide them. Times are ISO 8601 in UTC. */
import { z } from "zod";
import { taint } from "./message.ts";
import { presets } from "./presets.ts";
import { proofs } from "./proofs.ts";
import { standingNote } from "./standing-shape.ts";
import { taintSource } from "./taint.ts";
import { addedInput, approvalKinds, approvalStatuses } from "./view.ts";

export const grantView = z.strictObject({
  tools: z.array(z.string()),
  paths: z.array(z.string()),
  commands: z.array(z.string()),
  hosts: z.array(z.string()),
  secrets: z.array(z.string()),
});
/** One work item as the card shows it: what approving lets it do, and what is checked afterwards. */
export const cardItem = z.strictObject({
  id: z.string(),
  item_hash: z.string(),
  title: z.string(),
  runner: z.string(),
  depends_on: z.array(z.string()),
  grants: grantView,
  protect: z.array(z.string()),
  verify: z.array(z.array(z.string())),
  /** How long each check may take, in their order. Cards of before they were shown have none. */
  verify_timeouts_s: z.array(z.number()).exactOptional(),
  steps: z.array(z.string()),
  max_attempts: z.number().int(),
  /** Absent where the plan names none. */
  preset: z.enum(presets).exactOptional(),
  /** Of an item that thinks: what its model is told and may spend. Cards of before they were kept have none. */
  section: z.string().exactOptional(),
  /** What the item touches: files that are named there stand in what its model is told. */
  touches: z.array(z.string()).exactOptional(),
  skills: z.array(z.string()).exactOptional(),
  on_stuck: z.string().exactOptional(),
  budget: z
    .strictObject({ tokens: z.number().nullable(), usd: z.number().nullable(), minutes: z.number().nullable() })
    .exactOptional(),
});
/** What a person is shown and what their decision binds. `content_hash` is SHA-256 of its RFC 8785 form. */
export const cardView = z.strictObject({
  kind: z.enum(approvalKinds),
  title: z.string(),
  /** Why this needs a person, in a sentence. */
  why: z.string(),
  /** The plan's, which every model that works at it is told. Cards of before it was shown, and of no plan, have none. */
  goal: z.string().exactOptional(),
  repo: z.string(),
  base_commit: z.string().nullable(),
  publishes: z.string().nullable(),
  plan_hash: z.string().nullable(),
  environment: z
    .strictObject({ setup: z.array(z.array(z.string())), hosts: z.array(z.string()), cache: z.array(z.string()) })
    .nullable(),
  items: z.array(cardItem),
  tool: z.strictObject({ name: z.string(), arguments: z.string(), workspace_tree: z.string() }).nullable(),
  /** Files that broke a bound, last errors, choices: lines a person reads before they decide. */
  facts: z.array(z.string()),
  /** In a plan's, and its items', `usd: 0` is no limit in dollars. */
  budget: z
    .strictObject({ tokens: z.number().nullable(), usd: z.number().nullable(), minutes: z.number().nullable() })
    .nullable(),
  taint,
  /** Where the taint came from, as far as it is kept. Cards of before it was kept have none. */
  taint_sources: z.array(taintSource).exactOptional(),
  policy_hash: z.string(),
  requested_by: z.string(),
  /** Who asked for the task and where, when that was outside of the scope; and what of its words nobody sees there, escaped. */
  asked_by: z.strictObject({ by: z.string(), where: z.string().nullable() }).exactOptional(),
  hidden: z.array(z.string()).exactOptional(),
});
export type Card = z.infer<typeof cardView>;
export const decisionView = z.strictObject({
  decision: z.enum(["approve", "deny", "request_changes"]),
  by: z.string(),
  comment: z.string().nullable(),
  at: z.string(),
  proof: z.enum(proofs).default("token"),
  /** Who else made the link of the session it was said in, and so could have opened it; absent when nobody did. */
  link_by: z.string().exactOptional(),
  /** Of the card that was seen; null for a no that named none. */
  content_hash: z.string().nullable().default(null),
  /** SHA-256 over all of this decision: what the tokens of an approval carry of each approver. */
  said: z.string().nullable().default(null),
});
/** What ended a card: the one that came first. */
export const winnerView = z.strictObject({
  by: z.string(),
  what: z.enum(["approve", "deny", "request_changes", "cancel", "supersede", "expire"]),
  at: z.string(),
  reason: z.string().nullable(),
});
/** What the policy in force demands of whoever says yes. */
export const needsView = z.strictObject({
  /** How many different people must approve. */
  approvers: z.number().int(),
  proof: z.enum(proofs),
  /** Who asked for the task, when they may not approve it. */
  not_by: z.string().nullable(),
  /** How often changes of a plan may still be asked for. */
  revisions_left: z.number().int(),
  /** Who approved and has lost their token since: their yes counts no more. Absent when nobody did. */
  revoked: z.array(z.string()).exactOptional(),
});
export const approvalView = z.strictObject({
  id: z.string(),
  kind: z.enum(approvalKinds),
  task_id: z.string(),
  agent_id: z.string(),
  tool_name: z.string().nullable(),
  arguments: z.string().nullable(),
  requested_at: z.string(),
  status: z.enum(approvalStatuses),
  resolved_at: z.string().nullable(),
  card: cardView,
  content_hash: z.string(),
  /** The rule that asked. */
  rule: z.string(),
  /** Approvals that wait for another one stand here too. */
  decisions: z.array(decisionView),
  /** When it ends by itself if nobody decides; null when it waits for ever. */
  expires_at: z.string().nullable().default(null),
  winner: winnerView.nullable().default(null),
  needs: needsView.default({ approvers: 1, proof: "token", not_by: null, revisions_left: 3 }),
  /** Of a plan: standing approvals that nearly spoke for it, and why they did not; absent when none was looked at. */
  standing_notes: z.array(standingNote).exactOptional(),
});
export type ApprovalView = z.infer<typeof approvalView>;

export const approveInput = z.strictObject({
  content_hash: z.string(),
  comment: z.string().max(10_000).optional(),
  amount: addedInput.optional(),
});
/** `content_hash` is optional here: saying no never needs proof of what was seen, but a wrong hash is still refused. */
export const denyInput = z.strictObject({
  reason: z.string().trim().min(1).max(10_000),
  stop: z.boolean().default(false),
  content_hash: z.string().optional(),
});
export const changesInput = z.strictObject({
  reason: z.string().trim().min(1).max(10_000),
  comments: z.array(z.string().max(10_000)).max(100).default([]),
  content_hash: z.string().optional(),
});
/** A person's decision as the runtime object takes it. */
export type Decision =
  | {
      readonly decision: "approve";
      readonly content_hash: string;
      readonly comment: string | null;
      /** What a budget card adds; absent for every other kind. */
      readonly amount?: z.infer<typeof addedInput> | null;
    }
  | {
      readonly decision: "deny";
      readonly content_hash: string | null;
      readonly comment: string;
      readonly stop: boolean;
    }
  | { readonly decision: "request_changes"; readonly content_hash: string | null; readonly comment: string };
