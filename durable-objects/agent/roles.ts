/** Which role an agent of a name plays, and how many runs it works on side by side. */
import { courier } from "../../src/agents/courier.ts";
import { crew } from "../../src/agents/crew.ts";
import { planner } from "../../src/agents/planner.ts";
import { proxy } from "../../src/agents/proxy.ts";
import type { Role } from "../../src/agents/step.ts";
import { verifier } from "../../src/agents/verifier.ts";
import { partyOf } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";

// A role reads its own state back with `parse`, so what stands between two steps is unknown here.
const roles: Record<string, { role: Role<unknown>; runs: number }> = {
  proxy: { role: proxy as Role<unknown>, runs: limits.proxy_runs },
  planner: { role: planner as Role<unknown>, runs: limits.planner_runs },
  verifier: { role: verifier as Role<unknown>, runs: limits.verifier_runs },
  courier: { role: courier, runs: limits.courier_runs },
  executor: { role: crew as Role<unknown>, runs: limits.crew_runs },
};

export function roleOf(name: string): Role<unknown> {
  const party = roles[partyOf(name)];
  if (party === undefined) throw new Error("this agent has no role");
  return party.role;
}
export function runsAtOnce(name: string): number {
  return roles[partyOf(name)]?.runs ?? 1;
}
