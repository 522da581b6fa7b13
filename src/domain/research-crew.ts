/** Who looks things up for a planner: agents of their own, so that no question waits behind attempts. [MIND-*] */
import { limits } from "../limits.ts";

/** Where their rows wait, apart from the attempts of `executor_queue`. */
export const researchQueue = "research_queue";
export const researchers: readonly string[] = Array.from(
  { length: limits.research_slots },
  (_, index) => `research-${index + 1}`,
);
export function isResearcher(agent: string): boolean {
  return researchers.includes(agent);
}
