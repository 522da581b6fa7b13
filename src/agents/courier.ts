/**
 * The courier carries between the scope and what lies outside it: what happened on GitHub comes in, where a task stands
 * goes out, and so do webhooks. It has no model and decides nothing. [GHO-*]
 */
import type { MessageKind } from "../domain/message.ts";
import { webhookOrders } from "./courier-webhooks.ts";
import { githubAnswers } from "./github-answer.ts";
import { githubEvents } from "./github-event.ts";
import { githubSyncs } from "./github-sync.ts";
import type { Role, RunContext } from "./step.ts";

// Each reads its own state back, so what stands between two steps is unknown here.
const errands: Partial<Record<MessageKind, Role<unknown>>> = {
  github_event: githubEvents as Role<unknown>,
  github_sync: githubSyncs as Role<unknown>,
  github_answer: githubAnswers as Role<unknown>,
  webhook_order: webhookOrders as Role<unknown>,
};

export const courier: Role<unknown> = {
  open: (context) => errandOf(context).open(context),
  /** Read back in `step`, by the one whose message opened the run. */
  parse: (stored) => stored,
  step: (state, context, ports) => {
    const errand = errandOf(context);
    return errand.step(errand.parse(state), context, ports);
  },
};

function errandOf({ message }: RunContext): Role<unknown> {
  const errand = errands[message.message_kind];
  if (errand === undefined) throw new Error(`the courier has no errand for ${message.message_kind}`);
  return errand;
}
