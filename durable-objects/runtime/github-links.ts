/**
 * Repositories joined to the scope: a link registers its address, and what ends it takes back what it registered and
 * ends the work that could no longer be pushed, in words its people understand. [GHR-10] to [GHR-17]
 */
import type { GithubRepository } from "../../src/domain/github/shapes.ts";
import { defaultTriggers } from "../../src/domain/github/triggers.ts";
import type { LinkRow } from "./github-rows.ts";
import { mark } from "./github-sync.ts";
import type { TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

const registrar = "github";

/** `base` is where GitHub is, without a slash at its end. The same again changes nothing; a new name keeps the id. */
export function linkRepository(tx: Tx, repository: GithubRepository, base: string): void {
  const { github, directory } = tx.stores;
  const url = `${base}/${repository.full_name}`;
  const known = github.link(repository.id);
  const moved = known !== null && known.url !== url;
  const same = known?.state === "linked" && !moved && sameRepository(known.repository, repository);
  if (same && (!known.registered || directory.hasRepo(url))) return;
  if (known !== null && moved) letGo(tx, known);
  const registered = take(tx, repository.id, url) || (known?.state === "linked" && known.registered && !moved);
  const linked_at = known?.linked_at ?? tx.at;
  const { triggers } = known ?? { triggers: defaultTriggers };
  github.putLink({ repository, url, state: "linked", registered, triggers, linked_at });
  tell(tx, known === null || known.state === "suspended" ? "github_linked" : "github_changed", repository, null);
  if (known?.state !== "linked") for (const row of github.leftBehind(repository.id)) mark(tx, row.task_id);
}
/** Whether the address is registered by links: it was nobody's, or it is one's that is elsewhere by now and not told so yet. */
function take(tx: Tx, id: number, url: string): boolean {
  const { directory } = tx.stores;
  if (directory.hasRepo(url))
    return others(tx, id, url).some(({ registered, state }) => registered && state === "linked");
  directory.addRepo({ url, default_ref: "HEAD", added_by: registrar, added_at: tx.at });
  return true;
}
/** What the link registered goes, unless it is another's address as well: of two that exchange names one is told first. */
function letGo(tx: Tx, { repository, url, registered, state }: LinkRow): void {
  // Of a suspended one it is gone already, and may be somebody's by now.
  const holds = registered && state === "linked";
  const heir = others(tx, repository.id, url).find((link) => link.state === "linked");
  // What is asked for there is that one's from now on.
  if (heir !== undefined) tx.stores.github.putLink(heir);
  else if (holds) tx.stores.directory.removeRepo(url);
}
function others(tx: Tx, id: number, url: string): LinkRow[] {
  return tx.stores.github.links().filter((link) => link.repository.id !== id && link.url === url);
}
function sameRepository(a: GithubRepository, b: GithubRepository): boolean {
  return (
    a.full_name === b.full_name &&
    a.installation_id === b.installation_id &&
    a.private === b.private &&
    a.default_branch === b.default_branch
  );
}

export function unlinkRepository(tx: Tx, id: number, why: "removed" | "suspended"): void {
  const { github } = tx.stores;
  const link = github.link(id);
  if (link === null || link.state === why) return;
  const addresses = github.addressesOf(id);
  if (why === "removed") github.removeLink(id);
  else github.putLink({ ...link, state: "suspended" });
  letGo(tx, link);
  const reason = endWords(link, why);
  for (const task of openTasks(tx, link, addresses)) tx.finish(task, "cancelled", { reason });
  tell(tx, why === "removed" ? "github_unlinked" : "github_suspended", link.repository, reason);
}
function endWords({ repository }: LinkRow, why: "removed" | "suspended"): string {
  return why === "removed"
    ? `The GitHub App has no access to ${repository.full_name} any more, so its work was stopped. Install the App there again, then ask anew.`
    : `The GitHub App was suspended for ${repository.full_name}, so its work was stopped. Unsuspend it, then ask anew.`;
}

/** Of an address that somebody registered by hand, only what came from GitHub hangs on the link. */
function openTasks(tx: Tx, link: LinkRow, addresses: readonly string[]): TaskRow[] {
  const open = [...tx.rows.tasks.withStatus("active"), ...tx.rows.tasks.withStatus("waiting")];
  return open.filter(({ id, repo }) =>
    link.registered
      ? addresses.includes(repo.toLowerCase())
      : tx.stores.github.thread(id)?.repository_id === link.repository.id,
  );
}

function tell(tx: Tx, decision: string, repository: GithubRepository, reason: string | null): void {
  const { id, installation_id, full_name } = repository;
  const details = { repository_id: id, installation_id, repository: full_name, private: repository.private };
  tx.audit("transition", { trace_id: "scope" }, { decision, reason, details });
  const said: Record<string, string> = {
    github_linked: `${full_name} is linked to this scope.`,
    github_changed: `What is known of ${full_name} has changed.`,
  };
  tx.event("github_changed", null, { detail: reason ?? said[decision] ?? null, repository: full_name });
}
