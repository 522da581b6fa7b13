/** Bugs of what is told to others and asked by others: webhooks, their addresses and signatures, hooks. */
import type { Plant } from "./plants.ts";

const domain = { test: "test/domain/webhooks.test.ts" } as const;
const runtime = { test: "test/agents/webhooks.test.ts" } as const;
const courier = { test: "test/agents/courier-webhooks.test.ts" } as const;
const hooks = { test: "test/agents/hooks.test.ts" } as const;
const doors = { test: "test/http/webhooks.test.ts" } as const;

export const webhookPlants: readonly Plant[] = [
  {
    id: "webhook-echo",
    file: "src/domain/webhooks.ts",
    find: '[event.actor, event.agent, event.recipient].includes("courier")',
    replace: 'event.recipient === "courier"',
    why: "the courier's work on a delivery is an event that makes the next delivery",
    subset: runtime,
  },
  {
    id: "webhook-inside",
    file: "src/domain/webhooks.ts",
    find: "if (near !== null || isPrivate(host))",
    replace: "if (isPrivate(host))",
    why: "an address without a name, or a name of the cloud's own, may be posted to",
    subset: domain,
  },
  {
    id: "webhook-follows",
    file: "src/adapters/webhook-post.ts",
    find: 'redirect: "manual"',
    replace: 'redirect: "follow"',
    why: "a receiver leads the POST to an address nobody looked at",
    subset: courier,
  },
  {
    id: "webhook-newest-alone",
    file: "durable-objects/runtime/webhooks.ts",
    find: "[secret_version, ...old]",
    replace: "[secret_version]",
    why: "a rotation breaks its receiver at once",
    subset: runtime,
  },
  {
    id: "webhook-late-failure",
    file: "durable-objects/runtime/webhooks.ts",
    find: 'if (!current && afterTry(answer, row.tried, tx.now).state !== "done") return;',
    replace: "",
    why: "an old answer ends the try that is under way",
    subset: runtime,
  },
  {
    id: "webhook-full-drops",
    file: "durable-objects/runtime/webhooks-rows.ts",
    find: "UPDATE webhook_deliveries SET state = 'held', asked_at = NULL, ended_at = ? WHERE webhook_id = ? AND state = 'open'",
    replace: "DELETE FROM webhook_deliveries WHERE ? > 0 AND webhook_id = ? AND state = 'open'",
    why: "what a disabled webhook was still to be sent is gone without a word",
    subset: runtime,
  },
  {
    id: "hook-twice",
    file: "durable-objects/runtime/hooks.ts",
    find: "if (before !== null) return ok({ task_id: before, replay: true });",
    replace: "if (before === sent.task_id) return ok({ task_id: before, replay: true });",
    why: "a request that is sent again is not answered as before",
    subset: hooks,
  },
  {
    id: "hook-trusted",
    file: "durable-objects/runtime/hooks.ts",
    find: '{ taint: "outsider" }',
    replace: "{}",
    why: "what anybody wrote into a chat counts as a member's words",
    subset: hooks,
  },
  {
    id: "hook-any-time",
    file: "src/domain/webhook-signature.ts",
    find: "return signed && wellFormed && fresh ? id : null;",
    replace: "return signed && wellFormed ? id : null;",
    why: "a request that somebody kept is taken years later",
    subset: domain,
  },
  {
    id: "hook-invented",
    file: "src/http/hooks.ts",
    find: "return versions.length === 0 ? null : message_id;",
    replace: "return message_id;",
    why: "the secret of a hook that was removed, or never made, is as good as any",
    subset: doors,
  },
];
