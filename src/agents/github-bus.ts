/** What the courier asks of its scope's runtime: types only. The runtime object implements it, the agent object calls it. */
import type { GithubStanding } from "../domain/github/standing.ts";

export interface GithubBus {
  /** Where the task stands now, for GitHub to show; null when GitHub is to show nothing of it (any more). */
  standing(task_id: string): Promise<GithubStanding | null>;
}
