/** What an executor takes on: an attempt at a work item, or a question of a planner, each with a state of its own. */
import { executor } from "./executor.ts";
import { research } from "./research.ts";
import type { Role, RunContext, Step } from "./step.ts";

/** Both are read back by the message that opened the run, so that neither is ever taken for the other. */
export const crew: Role<unknown> = {
  open: (context) => (isResearch(context) ? research.open(context) : executor.open(context)),
  // A row says which it is by its first key; what fits neither is thrown on by the one it is not.
  parse: (stored) => (isMarked(stored) ? research.parse(stored) : executor.parse(stored)),
  step: (state, context, ports): Promise<Step<unknown>> =>
    isResearch(context)
      ? research.step(research.parse(state), context, ports)
      : executor.step(executor.parse(state), context, ports),
};

function isResearch(context: RunContext): boolean {
  return context.message.message_kind === "research_request";
}
function isMarked(stored: unknown): boolean {
  return typeof stored === "object" && stored !== null && "kind" in stored && stored.kind === "research";
}
