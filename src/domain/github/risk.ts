/**
 * Which cards may be decided from GitHub, which shows plans alone and those only where it can show them whole, and which
 * need the page. The answer is a sentence for them, or null. [GHR-50] to [GHR-55] [GHR-63]
 */
import type { ApprovalView } from "../approval-view.ts";
import { personOf } from "../deciding.ts";
import { globsOverlap } from "../glob.ts";
import { strengthOf } from "../proofs.ts";
import { mayNameProtected } from "../protected-files.ts";
import type { PlanText } from "./plan-text.ts";

type Shown = Pick<ApprovalView, "kind" | "card" | "needs">;
/** Who would decide, with GitHub's own number, and the number of who asked for the task if it was asked for there. */
export interface Answering {
  readonly subject: string;
  readonly id: number;
  readonly asked_id: number | null;
}

/** `by`: null where it is only asked whether buttons are shown at all. */
export function whyPage(approval: Shown, all: PlanText | null, by: Answering | null): string | null {
  const { kind, card, needs } = approval;
  // Of a call GitHub shows neither its arguments nor what they do.
  if (kind !== "plan") return `${kind.replace("_", " ")} cards are decided there`;
  if (needs.approvers > 1) return "the policy asks for two approvers";
  if (strengthOf(needs.proof) > strengthOf("github")) return "the policy asks for a person signed in on the page";
  if (by !== null && needs.not_by !== null && isOwn(needs.not_by, by)) return "who asked for a task may not approve it";
  const much = grantsMuch(card);
  if (much !== null) return much;
  if (all === null) return "GitHub cannot show all of it";
  return "lacking" in all ? all.lacking : null;
}

/** A login can be given up and taken by others, the number stays: either is enough to be the same person. */
function isOwn(not_by: string, { subject, id, asked_id }: Answering): boolean {
  return asked_id === id || personOf(not_by) === personOf(subject);
}

function grantsMuch(card: Shown["card"]): string | null {
  const hosts = [...(card.environment?.hosts ?? []), ...card.items.flatMap(({ grants }) => grants.hosts)];
  if (hosts.length > 0) return "it opens the network";
  if (card.items.some(({ grants }) => grants.secrets.length > 0)) return "it grants a secret";
  if (card.items.some(({ preset }) => preset === "PERMISSIVE")) return "an item runs under the preset PERMISSIVE";
  // A protected file that an item names is freed from its protection.
  const paths = card.items.flatMap(({ grants, protect }) => [
    ...grants.paths,
    ...protect.flatMap((entry) => (entry.startsWith("!") ? [entry.slice(1)] : [])),
  ]);
  if (paths.some((glob) => globsOverlap(glob, ".github/**") && mayNameProtected(glob)))
    return "it may change files under .github";
  return paths.some(mayNameProtected) ? "it may change a protected file" : null;
}
