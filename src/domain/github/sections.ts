/** Parts that the comment, the check run and the pull request have in common. [GHO-*] */
import { limits } from "../../limits.ts";
import type { GithubStanding } from "./standing.ts";
import { decidedHere, shortHash, waitingCard } from "./status.ts";
import { fenced, line, link, quoted } from "./words.ts";

/** What waits for a person, and how they decide: `how` says so where it may be decided on GitHub; null where it is not shown there. */
export function toDecide(standing: GithubStanding, how: (hash: string) => string | null): string | null {
  const card = waitingCard(standing);
  if (card === null) return null;
  const hash = shortHash(card.content_hash);
  const here = decidedHere(card) ? how(hash) : null;
  const page = standing.page_url === null ? "the task's page" : link("the task's page", standing.page_url);
  const why = decidedHere(card) ? "the check, which shows the whole plan, is not there" : card.why_page;
  const there = [`This is decided on ${page}, not here.`, ...(why === null ? [] : [quoted(why)])];
  // A no needs nobody to have read it all.
  if (!decidedHere(card)) there.push(stillHere(standing));
  return [
    "### To decide",
    line(`Card: ${card.title}`),
    ...(card.why === "" ? [] : [quoted(card.why)]),
    // Whoever can name it has been shown what it covers.
    ...(here === null && decidedHere(card) ? [] : [`Content hash \`${hash}\`.`]),
    ...(here === null ? there : [here]),
  ].join("\n\n");
}

function stillHere({ thread }: GithubStanding): string {
  const buttons = "the buttons of the check";
  if (thread === null) return `A no is taken here too: by ${buttons}.`;
  return `A no is taken here too: by ${buttons}, or with \`/countersign deny\` and a reason, or \`/countersign cancel\`, as a comment of its own.`;
}

export function planWords({ plan }: GithubStanding): string | null {
  if (plan === null) return null;
  const goal = plan.goal === "" ? [] : [quoted(plan.goal)];
  return ["### Plan", line(`Plan ${plan.version}: ${plan.title}`), ...goal, `Plan hash \`${plan.hash}\`.`].join("\n\n");
}

const said: Readonly<Record<GithubStanding["items"][number]["state"], string>> = {
  open: "",
  running: " (under way)",
  done: "",
  failed: " (failed)",
  blocked: " (blocked)",
};
export function checklist({ items }: GithubStanding): string | null {
  if (items.length === 0) return null;
  const shown = items.slice(0, limits.github_items);
  const more = items.length - shown.length;
  const rows = shown.map(({ title, state }) => `- [${state === "done" ? "x" : " "}] ${itemLine(title)}${said[state]}`);
  return ["### Work", "", ...rows, ...(more > 0 ? [`- and ${more} more (cut)`] : [])].join("\n");
}
function itemLine(title: string): string {
  const shown = line(title);
  return shown === "" ? "an item without a title" : shown;
}

/** Each check that the runtime ran, how it ended and the end of what it printed. */
export function evidence({ checks }: GithubStanding): string[] {
  const shown = checks.slice(0, limits.github_checks);
  const more = checks.length - shown.length;
  const most = Math.min(limits.github_output_bytes, Math.floor(limits.github_outputs_bytes / shown.length));
  const each = shown.map(({ run, exit_code, output }) => {
    const ended = exit_code === null ? "did not end by itself" : `exit code ${exit_code}`;
    const printed = output.trim() === "" ? "It printed nothing." : fenced(output, most);
    return `#### ${line(`Check: ${run}`)}\n\nIt ended: ${ended}.\n\n${printed}`;
  });
  return [...each, ...(more > 0 ? [`And ${more} more checks (cut).`] : [])];
}

export function reasonWords({ reason }: GithubStanding): string | null {
  return reason === null || reason.trim() === "" ? null : `### Result\n\n${quoted(reason)}`;
}
