/**
 * The one comment of a task in its thread, edited in place: where it stands, what waits, how to decide, what it cost and
 * how it ended. Found again by its hidden marker. [GHO-*]
 */
import { checklist, planWords, reasonWords, toDecide } from "./sections.ts";
import type { GithubStanding } from "./standing.ts";
import { headline, spentWords } from "./status.ts";
import { blocks, line, link, marker, quoted } from "./words.ts";

export interface Links {
  readonly check: string | null;
  readonly pull: string | null;
  /** The check shows what waits. */
  readonly shows: boolean;
}

export function commentBody(standing: GithubStanding, links: Links): string {
  const { task_id, title, asked_by, note, page_url } = standing;
  const places = [
    ...(page_url === null ? [] : [link("Task page", page_url)]),
    ...(links.check === null ? [] : [link("Check", links.check)]),
    ...(links.pull === null ? [] : [link("Pull request", links.pull)]),
  ];
  const items = checklist(standing);
  const plan = planWords(standing);
  return blocks([
    `${marker(task_id)}\n**Countersign: ${headline(standing)}**`,
    line(`Task: ${title}`),
    [line(`Asked for by ${asked_by}.`), ...places].join(" · "),
    note === null || note.trim() === "" ? null : `### Note\n\n${quoted(note)}`,
    toDecide(standing, (hash) => (links.check !== null && links.shows ? howTo(hash, links.check, standing) : null)),
    plan === null ? null : { text: plan, optional: true },
    items === null ? null : { text: items, optional: true },
    reasonWords(standing),
    spentWords(standing),
  ]);
}

/** The comment is short: what is decided stands in the check. */
function howTo(hash: string, check: string, { card }: GithubStanding): string {
  const read = `Read the whole plan in ${link("the check", check)}, and decide with its buttons.`;
  const named =
    card?.named === true ? " Another plan may have been shown here before, so the hash must stand in it." : "";
  return `${read} Or answer with \`/countersign approve ${hash}\` and nothing else, or with \`/countersign deny\` and a reason.${named}`;
}
