/**
 * The check run of a task: in progress while it works, `action_required` with buttons while a card waits, and settled
 * once it ended, whatever the end. A plan that waits stands in it whole, and a button to approve nowhere else. [GHO-*]
 */
import { checklist, evidence, planWords, reasonWords, toDecide } from "./sections.ts";
import type { GithubStanding } from "./standing.ts";
import { decidedHere, hasEnded, headline, shortHash, spentWords, waitingCard } from "./status.ts";
import { blocks, line, link } from "./words.ts";

export interface CheckLook {
  readonly name: string;
  readonly external_id: string;
  readonly details_url: string | null;
  readonly status: "in_progress" | "completed";
  readonly conclusion: "action_required" | "success" | "failure" | "neutral" | "cancelled" | null;
  readonly title: string;
  readonly summary: string;
  readonly text: string | null;
  readonly actions: readonly { readonly label: string; readonly identifier: string; readonly description: string }[];
}

export function checkLook(standing: GithubStanding, pull_url: string | null): CheckLook {
  const { task_id, title, page_url, asked_by } = standing;
  const card = waitingCard(standing);
  const hash = shortHash(card?.content_hash ?? "");
  const outputs = evidence(standing);
  const plan = planWords(standing);
  const items = checklist(standing);
  const summary = blocks([
    `**${headline(standing)}**`,
    line(`Task: ${title}`),
    [line(`Asked for by ${asked_by}.`), ...(pull_url === null ? [] : [link("Pull request", pull_url)])].join(" · "),
    toDecide(
      standing,
      () => "Below stands all that a yes covers. Decide with the buttons above: they count for exactly that.",
    ),
    plan === null ? null : { text: plan, optional: true },
    items === null ? null : { text: items, optional: true },
    reasonWords(standing),
    spentWords(standing),
  ]);
  return {
    // GitHub shows the newest run of a name on a commit: two tasks on the same commit do not hide each other.
    name: `Countersign ${task_id.slice(0, 8)}`,
    external_id: task_id,
    details_url: page_url,
    ...settled(standing),
    title: headline(standing),
    summary,
    // Nothing stands beside the plan, so that nothing of it is cut.
    text: card?.text ?? (outputs.length === 0 ? null : blocks(outputs.map((text) => ({ text, optional: true })))),
    actions: card === null ? [] : decidedHere(card) ? [approve(hash), ...no(hash)] : no(hash),
  };
}

function approve(hash: string): CheckLook["actions"][number] {
  return { label: "Approve", identifier: `approve:${hash}`, description: "Approve exactly what is shown here" };
}
/** A no is taken of every card. */
function no(hash: string): CheckLook["actions"] {
  return [
    { label: "Deny", identifier: `deny:${hash}`, description: "Deny it" },
    { label: "Cancel", identifier: "cancel", description: "Cancel the whole task" },
  ];
}

function settled(standing: GithubStanding): Pick<CheckLook, "status" | "conclusion"> {
  if (!hasEnded(standing))
    return waitingCard(standing) === null
      ? { status: "in_progress", conclusion: null }
      : { status: "completed", conclusion: "action_required" };
  switch (standing.status) {
    case "done":
      return { status: "completed", conclusion: "success" };
    case "cancelled":
      return { status: "completed", conclusion: "cancelled" };
    default:
      return { status: "completed", conclusion: standing.infrastructure ? "neutral" : "failure" };
  }
}
