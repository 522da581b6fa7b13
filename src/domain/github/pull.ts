/**
 * The draft pull request of what was verified: what was asked, the evidence, and what binds it to the record. It closes
 * no issue: where it came from is named in plain words. [GHO-*]
 */
import { checklist, evidence, planWords, reasonWords } from "./sections.ts";
import type { GithubStanding } from "./standing.ts";
import { spentWords } from "./status.ts";
import { blocks, line, link, plainTitle } from "./words.ts";

/** Work that goes on somebody's pull request makes none of its own, nor does what is not published yet. */
export function wantsPull({ published, follows }: Pick<GithubStanding, "published" | "follows">): boolean {
  return published !== null && follows === null;
}

export function pullText(standing: GithubStanding): { readonly title: string; readonly body: string } {
  const { task_id, title, thread, page_url, asked_by, published, audit_head, branch } = standing;
  const plain = plainTitle(title);
  const checks = evidence(standing);
  const work = checklist(standing);
  const plan = planWords(standing);
  const author = coAuthor(standing);
  const body = blocks([
    [
      line(`Made by Countersign: ${title}`),
      ...(thread === null ? [] : [`For #${thread.number}.`]),
      line(`Asked for by ${asked_by}.`),
      ...(page_url === null ? [] : [link("Task page", page_url)]),
    ].join("\n\n"),
    plan,
    work === null ? null : { text: work, optional: true },
    reasonWords(standing),
    [
      "### Verification",
      line(`Commit ${published ?? "none"} on ${branch} is what was verified, in a clean checkout without the agent.`),
      ...(checks.length === 0 ? ["The plan names no check."] : []),
    ].join("\n\n"),
    ...checks.map((text) => ({ text, optional: true })),
    [spentWords(standing), ...(audit_head === null ? [] : [line(`Audit head: ${audit_head}`)])].join("\n\n"),
    author,
  ]);
  return { title: plain === "" ? `Countersign ${task_id}` : plain, body };
}

/** The form that GitHub takes for a person who shows no address. */
function coAuthor({ asked_by, asked_id }: GithubStanding): string | null {
  const login = /^github:([A-Za-z0-9][A-Za-z0-9_-]{0,99})$/.exec(asked_by)?.[1];
  if (login === undefined || asked_id === null) return null;
  return `Co-authored-by: ${login} <${asked_id}+${login}@users.noreply.github.com>`;
}
