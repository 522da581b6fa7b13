/** What queues gave up: told once for every death, put before a person, and sent again by the door. */
import { describe, expect, it } from "vitest";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { build, type Message } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import { messageOf, planned } from "./driven.ts";
import {
  agent,
  approve,
  as,
  deny,
  events,
  hold,
  inAgent,
  inRuntime,
  makeScope,
  must,
  pending,
  refusalOf,
  type Scope,
  until,
} from "./scope.ts";

const page = { limit: 50, cursor: null };
let made = 0;

/** From an agent to whom nobody made, of a task or of none. */
async function lost(scope: Scope, task_id: string | null, sender = "proxy"): Promise<Message> {
  made++;
  const fields = { message_kind: "agent_message", sender, recipient: "zoe", content: `letter ${made}` } as const;
  const message =
    task_id === null
      ? build({
          ...fields,
          message_id: `lost-message-${made}`,
          trace_id: `trace-000${made}`,
          scope_id: scope.id,
          taint: "owner",
          created_at: new Date().toISOString(),
        })
      : await messageOf(scope, task_id, { ...fields, message_id: `lost-message-${made}` });
  await inAgent(scope, sender, ({ outbox }) => outbox.put(message, Date.now()));
  await agent(scope, sender).poke(scope.id);
  return message;
}
function letters(scope: Scope, name: string) {
  return scope.runtime.deadLetters(scope.admin, name, page).then((found) => must(found).items);
}
async function dead(scope: Scope, name: string, count = 1) {
  return until(async () => {
    const found = await letters(scope, name);
    return found.length >= count ? found : null;
  });
}
async function cardOf(scope: Scope, task_id: string) {
  return until(async () => (await pending(scope, task_id)).find((card) => card.kind === "dead_letter"));
}
async function told(scope: Scope, message_id: string): Promise<string[][]> {
  const feed = await events(scope);
  return feed
    .filter((event) => event.type === "dead_letter" && event.message_id === message_id)
    .map((event) => event.surfaces);
}

describe("a dead letter", () => {
  it("[DL-8] of no task is told in Review once, and stands in its sender's queue page", async () => {
    const scope = await makeScope();
    const message = await lost(scope, null);
    expect(await dead(scope, "proxy")).toMatchObject([
      { message_id: message.message_id, died_in: "outbox", reason: "there is no agent zoe", task_id: null, card: null },
    ]);
    await until(async () => (await told(scope, message.message_id)).length > 0);
    await agent(scope, "proxy").refuseOwn(message.message_id, "there is no agent zoe");
    await agent(scope, "proxy").poke(scope.id);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await told(scope, message.message_id)).toEqual([["review", "activity"]]);
    expect(must(await scope.runtime.approvals(scope.admin, { ...page, status: null })).items).toEqual([]);
  });

  it("[DL-9] hearing of the same death again asks nothing; the next death is another", async () => {
    const { scope, task_id } = await planned();
    const message = await lost(scope, task_id);
    const [letter] = await dead(scope, "proxy");
    const card = await cardOf(scope, task_id);
    const { died_in, reason } = letter ?? { died_in: "inbox", reason: "" };
    const death = Date.parse(letter?.at ?? "");
    await scope.runtime.letterDied(scope.id, "proxy", { place: died_in, death, reason, head: message });
    expect(await told(scope, message.message_id)).toHaveLength(1);
    must(await approve(scope, card));
    const second = await cardOf(scope, task_id);
    expect(second.id).not.toBe(card.id);
    expect(await told(scope, message.message_id)).toHaveLength(2);
  });

  it("[DL-10] that nobody took in seven days is given up by its agent and told", async () => {
    const { scope, task_id } = await planned();
    const message = await messageOf(scope, task_id, {
      message_kind: "agent_message",
      sender: "proxy",
      recipient: "zoe",
    });
    const long = Date.now() - limits.outbox_dead_after_ms - 1;
    await inAgent(scope, "proxy", ({ sql, outbox }) => {
      outbox.put(message, long);
      sql.run("UPDATE outbox SET next_at = ?", Date.now() + 60_000);
    });
    await agent(scope, "proxy").poke(scope.id);
    expect((await cardOf(scope, task_id)).card.facts[0]).toContain("not confirmed within seven days");
    expect(await dead(scope, "proxy")).toMatchObject([{ message_id: message.message_id, died_in: "outbox" }]);
  });

  it("[DL-11] that can no longer be read is shown with what is known of it, and told", async () => {
    const { scope } = await planned();
    await inRuntime(scope, ({ sql }) => {
      const queue = new DurableQueue(sql);
      const broken = build({
        ...{ message_kind: "agent_message", sender: "crew-1", recipient: "planner", content: "x" },
        ...{ message_id: "broken-0001", trace_id: "trace-0001", scope_id: scope.id, taint: "owner" },
        created_at: new Date().toISOString(),
      });
      queue.enqueue("runtime_queue", broken, {}, Date.now());
      sql.run("UPDATE queue_rows SET body = 'gone' WHERE message_id = 'broken-0001'");
    });
    await scope.runtime.sweep(scope.id);
    expect(await letters(scope, "runtime_queue")).toMatchObject([
      { message_id: "broken-0001", sender: "crew-1", recipient: "runtime_queue", task_id: null, died_in: "inbox" },
    ]);
    expect(await told(scope, "broken-0001")).toEqual([["review", "activity"]]);
  });

  it("[HTTP-74] sent again by the door supersedes its card, with who; deciding the card is 409 then", async () => {
    const { scope, task_id } = await planned();
    const message = await lost(scope, task_id);
    const card = await cardOf(scope, task_id);
    expect(await letters(scope, "proxy")).toMatchObject([{ card: { id: card.id, status: "pending" } }]);
    await hold(scope, "zoe");
    const again = await scope.runtime.requeueLetter(
      as(scope, "bob", "approver"),
      "proxy",
      message.message_id,
      "zoe is back",
    );
    expect(must(again)).toEqual({ requeued: 1, left: 0 });
    await until(() => inAgent(scope, "zoe", ({ queue }) => queue.isWaiting("inbox", message.message_id)));
    expect(refusalOf(await approve(scope, card)).code).toBe("already_resolved");
    expect(must(await scope.runtime.approval(scope.admin, card.id)).status).toBe("superseded");
    const resolved = (await events(scope)).filter((event) => event.approval_id === card.id).at(-1);
    expect(resolved?.detail).toBe("sent again by bob");
    const rows = await inRuntime(scope, ({ audit }) => audit.after(0, 10_000));
    expect(rows.find((row) => row.decision === "dead_letter_sent_again")).toMatchObject({
      actor: "user",
      reason: "zoe is back",
      details: { by: "bob", queue: "proxy", message_id: message.message_id },
    });
    const late = refusalOf(await scope.runtime.requeueLetter(scope.admin, "proxy", message.message_id, ""));
    expect([late.code, late.extra?.state === undefined]).toEqual([
      expect.stringMatching(/not_in_this_state|dead_letter_not_found/),
      late.code === "dead_letter_not_found",
    ]);
  });

  it("[HTTP-75] whose card was decided first is not sent again by the door: 409 with what it is", async () => {
    const { scope, task_id } = await planned();
    const message = await lost(scope, task_id);
    must(await deny(scope, await cardOf(scope, task_id), "not needed"));
    const again = () => scope.runtime.requeueLetter(scope.admin, "proxy", message.message_id, "");
    expect(refusalOf(await again())).toMatchObject({ code: "not_in_this_state", extra: { state: "dropped" } });
    expect(await letters(scope, "proxy")).toMatchObject([{ card: { status: "denied" } }]);
    expect(must(await scope.runtime.requeueLetters(scope.admin, "proxy", ""))).toEqual({ requeued: 0, left: 1 });
  });

  it("[HTTP-75] decided and sent again at once: one wins, the other is refused", async () => {
    for (let round = 0; round < 6; round++) {
      const { scope, task_id } = await planned();
      const message = await lost(scope, task_id);
      const card = await cardOf(scope, task_id);
      const both = [
        () => approve(scope, card),
        () => scope.runtime.requeueLetter(scope.admin, "proxy", message.message_id, ""),
      ];
      const answers = await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((ask) => ask()));
      expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
      const refused = answers.find((answer) => !answer.ok);
      expect(refused?.ok === false && refused.refusal.code).toMatch(
        /already_resolved|not_in_this_state|dead_letter_not_found/,
      );
    }
  });

  it("[HTTP-76] all are sent again in bounded calls that say what is left; unknown letters and queues are 404", async () => {
    const scope = await makeScope();
    await inAgent(scope, "proxy", ({ sql, outbox }) => {
      for (let n = 0; n < limits.requeue_most + 3; n++)
        outbox.put(
          build({
            ...{ message_kind: "agent_message", sender: "proxy", recipient: "zoe", content: `${n}` },
            ...{ message_id: `many-0000${n}`, trace_id: "trace-0001", scope_id: scope.id, taint: "owner" },
            created_at: new Date().toISOString(),
          }),
          Date.now(),
        );
      sql.run("UPDATE outbox SET died_at = seq, reason = 'x'");
    });
    const first = must(await scope.runtime.deadLetters(scope.admin, "proxy", { limit: 60, cursor: null }));
    const rest = must(await scope.runtime.deadLetters(scope.admin, "proxy", { limit: 60, cursor: first.next_cursor }));
    expect([first.items.length, rest.items.length, rest.next_cursor]).toEqual([60, 43, null]);
    expect(new Set([...first.items, ...rest.items].map((letter) => letter.message_id)).size).toBe(103);
    await hold(scope, "zoe");
    expect(must(await scope.runtime.requeueLetters(scope.admin, "proxy", "back"))).toEqual({ requeued: 100, left: 3 });
    expect(must(await scope.runtime.requeueLetters(scope.admin, "proxy", "back"))).toEqual({ requeued: 3, left: 0 });
    const none = await scope.runtime.requeueLetter(scope.admin, "proxy", "nobody", "");
    expect(refusalOf(none).code).toBe("dead_letter_not_found");
    expect(refusalOf(await scope.runtime.requeueLetters(scope.admin, "zed", "")).code).toBe("queue_not_found");
    expect(refusalOf(await scope.runtime.deadLetters(scope.admin, "zed", page)).code).toBe("queue_not_found");
  });
});
