/**
 * Which cards may be decided from GitHub, where a person sees a few lines of them, and which need the page, where they
 * see all. The answer is a sentence for them, or null. [GHR-50] to [GHR-55]
 */
import type { ApprovalView } from "../approval-view.ts";
import { personOf } from "../deciding.ts";
import { globsOverlap } from "../glob.ts";
import { strengthOf } from "../proofs.ts";
import { mayNameProtected } from "../protected-files.ts";

type Shown = Pick<ApprovalView, "kind" | "card" | "needs">;

/** `subject`: who would decide; null where it is only asked whether buttons are shown at all. */
export function whyPage(approval: Shown, subject: string | null): string | null {
  const { kind, card, needs } = approval;
  // Of a call GitHub shows neither its arguments nor what they do.
  if (kind !== "plan") return `${kind.replace("_", " ")} cards are decided there`;
  if (needs.approvers > 1) return "the policy asks for two approvers";
  if (strengthOf(needs.proof) > strengthOf("github")) return "the policy asks for a person signed in on the page";
  if (subject !== null && needs.not_by !== null && personOf(needs.not_by) === personOf(subject))
    return "who asked for a task may not approve it";
  return grantsMuch(card);
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
