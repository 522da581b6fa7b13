/**
 * The courier's part in webhooks: one order, one POST, one result. The intent is committed before the POST; a crash
 * between the POST and its commit makes it again under the same `webhook-id`, by which its receiver knows it. [WBH-*]
 */
import { z } from "zod";
import { webhookOrder, type webhookResult } from "../domain/webhook-order.ts";
import type { Effect, Role, Step } from "./step.ts";

const state = z.strictObject({ kind: z.literal("webhook_order"), at: z.enum(["begin", "post"]) });
type State = z.infer<typeof state>;

export const webhookOrders: Role<State> = {
  open: () => ({ kind: "webhook_order", at: "begin" }),
  parse: (stored) => state.parse(stored),
  async step(current, context, ports): Promise<Step<State>> {
    const order = webhookOrder.parse(context.message.payload);
    const { delivery_id, webhook_id, url, secret_versions, body } = order;
    const effect = (decision: Effect["decision"], more: Effect["details"] = {}): Effect => ({
      decision,
      reason: "webhook_post",
      details: { id: delivery_id, webhook_id, try: order.try, ...more },
    });
    if (current.at === "begin")
      return { kind: "continue", state: { ...current, at: "post" }, effects: [effect("intent")] };
    const begun = ports.clock.now();
    const { scope_id } = context;
    const answer = await ports.posts.post({ scope_id, webhook_id, secret_versions, url, id: delivery_id, body });
    const said: z.infer<typeof webhookResult> = {
      delivery_id,
      try: order.try,
      at: new Date(begun).toISOString(),
      ms: Math.max(0, Math.round(ports.clock.now() - begun)),
      answer,
    };
    const status = answer.kind === "answered" ? answer.status : null;
    return {
      kind: "end",
      state: current,
      effects: [effect("outcome", { status })],
      out: [{ message_kind: "webhook_result", recipient: "runtime_queue", content: inWords(status), payload: said }],
    };
  },
};

function inWords(status: number | null): string {
  return status === null ? "There was no answer." : `It was answered ${status}.`;
}
