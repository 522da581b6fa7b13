/** What the App asks of GitHub about itself: how an installation stands, and when to ask again. [GHL-25] */
import { type GithubApp, GithubFailure } from "../../src/agents/github-port.ts";
import type { Seen } from "../../src/domain/github/installations.ts";
import { limits } from "../../src/limits.ts";

export async function lookAt(app: GithubApp, installation_id: number): Promise<Seen & { account: string | null }> {
  const found = await app.installation(installation_id);
  if (found === null) return { state: "removed", repositories: [], account: null };
  if (found.suspended) return { state: "suspended", repositories: [], account: found.account };
  const repositories = await app.repositories(installation_id);
  return { state: "active", repositories, account: found.account };
}

/** When to try again: as GitHub says, else ever later. */
export function retryAt(error: unknown, tries: number, now_ms: number): number {
  const own = Math.min(limits.github_link_retry_ms * 2 ** Math.min(tries, 20), limits.github_link_retry_max_ms);
  const asked = error instanceof GithubFailure ? (error.retry_after_ms ?? 0) : 0;
  return now_ms + Math.max(own, asked);
}
