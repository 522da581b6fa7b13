/** How the page names the states of a standing approval. */
import type { StandingView } from "../api/standing.ts";

export const statusWords: Readonly<Record<StandingView["status"], string>> = {
  active: "In force",
  used_up: "Used up",
  expired: "Over",
  revoked: "Revoked",
};

/** A beginning for who writes one: every bound that is usual, closed where nothing is said. */
export function exampleStanding(now: Date): string {
  const until = new Date(now.getTime() + 30 * 86_400_000).toISOString();
  return JSON.stringify(
    {
      name: "Small chores",
      reason: "Why nobody needs to look at each of these plans",
      bounds: {
        who: ["the name that tasks show as created by"],
        labels: ["chore"],
        repos: ["https://git.example/team/project"],
        tools: ["shell_execute"],
        paths: ["docs/**"],
        commands: ["npm test"],
        protect: ["test/**"],
        verify: ["npm test"],
        taint: "member",
        budget: { day: { plans: 5 } },
      },
      until,
      uses: 10,
    },
    null,
    2,
  );
}
