/**
 * Every prompt by role and phase. Its name and version, `executor/work@1`, is on record with each call of a model that
 * was made with it. [PROMPT-*]
 */
import * as executor from "./executor.ts";
import * as planner from "./planner.ts";
import type { PromptText } from "./prompt.ts";
import * as proxy from "./proxy.ts";

export interface PromptVars {
  readonly "proxy/route": proxy.RouteVars;
  readonly "proxy/status": proxy.StatusVars;
  readonly "planner/plan": planner.PlanVars;
  readonly "planner/revise": planner.PlanVars;
  readonly "planner/consult": planner.ConsultVars;
  readonly "planner/replan": planner.ReplanVars;
  readonly "executor/work": executor.WorkVars;
  readonly "executor/research": executor.ResearchVars;
}
export type PromptKey = keyof PromptVars;
type RoleOf<K> = K extends `${infer R}/${string}` ? R : never;
type PhaseOf<R extends string, K = PromptKey> = K extends `${R}/${infer P}` ? P : never;
export type PromptRole = RoleOf<PromptKey>;

export interface Prompt {
  /** `role/phase@version`. */
  readonly name: string;
  readonly instructions: string;
  readonly simpler: string;
}

export const prompts: { readonly [K in PromptKey]: PromptText<PromptVars[K]> } = {
  "proxy/route": proxy.route,
  "proxy/status": proxy.status,
  "planner/plan": planner.plan,
  "planner/revise": planner.revise,
  "planner/consult": planner.consult,
  "planner/replan": planner.replan,
  "executor/work": executor.work,
  "executor/research": executor.research,
};

export function promptOf<R extends PromptRole, P extends PhaseOf<R>>(
  role: R,
  phase: P,
  vars: PromptVars[`${R}/${P}` & PromptKey],
): Prompt {
  // The types of role and phase let through no other key.
  return written(`${role}/${phase}` as `${R}/${P}` & PromptKey, vars);
}
export function written<K extends PromptKey>(key: K, vars: PromptVars[K]): Prompt {
  const prompt = prompts[key];
  return {
    name: `${key}@${prompt.version}`,
    instructions: prompt.instructions(vars),
    simpler: prompt.simpler(vars),
  };
}
