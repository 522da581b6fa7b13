/**
 * Checks in the browser that what is shown is what will be signed: the card's own bytes against its
 * `content_hash`, the plan's text against `plan_hash`. RFC 8785 over JSON that came as JSON. [WEB-8]
 */
import type { ApprovalView } from "../api/queries.ts";

/** `unchecked`: this page was not loaded over https or from this machine, so the browser offers no hashing. */
export type Proof = "checked" | "broken" | "unchecked";

/** JSON.stringify already writes strings and numbers as RFC 8785 asks; what is left is the order of keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `plan`: the stored document, where the card is about one and it is there to check. */
export async function prove(approval: ApprovalView, plan: string | null): Promise<Proof> {
  if (!isSecureContext) return "unchecked";
  if ((await sha256(canonical(approval.card))) !== approval.content_hash) return "broken";
  if (plan !== null && (await sha256(plan)) !== approval.card.plan_hash) return "broken";
  return "checked";
}

/** Which parts of a card differ between two versions, in the words the card uses for them. */
export function changesBetween(before: ApprovalView["card"], after: ApprovalView["card"]): string[] {
  const names: Partial<Record<keyof ApprovalView["card"], string>> = {
    plan_hash: "the plan's text",
    items: "what approving grants",
    base_commit: "the base commit",
    publishes: "the branch it publishes",
    tool: "the tool call",
    policy_hash: "the policy in force",
    why: "the reason for asking",
    environment: "the environment",
    asked_by: "who asked",
    hidden: "what is hidden in the words",
  };
  const keys = Object.keys(after) as (keyof ApprovalView["card"])[]; // the keys of a card, by its type
  return keys
    .filter((key) => canonical(before[key]) !== canonical(after[key]))
    .map((key) => names[key] ?? `the ${key.replaceAll("_", " ")}`);
}
