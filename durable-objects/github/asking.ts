/** What the App asks of GitHub about itself: how an installation stands, and when to ask again. [GHL-25] */
import { type GithubApp, GithubFailure } from "../../src/agents/github-port.ts";
import { isOwners, type Seen } from "../../src/domain/github/installations.ts";
import { limits } from "../../src/limits.ts";

type Looked = Seen & { readonly account: string | null; readonly scope_id: string | null };

/** `scope`: where an installation goes that nobody assigned, if its account is the App's owner: anybody installs a public App. */
export async function lookAt(app: GithubApp, installation_id: number, scope: string | null): Promise<Looked> {
  const found = await app.installation(installation_id);
  const none = { repositories: [], scope_id: null };
  if (found === null) return { state: "removed", account: null, ...none };
  const account = found.account?.name ?? null;
  if (found.suspended) return { state: "suspended", account, ...none };
  const repositories = await app.repositories(installation_id);
  const own = scope !== null && isOwners(found.account, await app.owner());
  return { state: "active", account, repositories, scope_id: own ? scope : null };
}

/** When to try again: as GitHub says, else ever later. */
export function retryAt(error: unknown, tries: number, now_ms: number): number {
  const own = Math.min(limits.github_link_retry_ms * 2 ** Math.min(tries, 20), limits.github_link_retry_max_ms);
  const asked = error instanceof GithubFailure ? (error.retry_after_ms ?? 0) : 0;
  return now_ms + Math.max(own, asked);
}
