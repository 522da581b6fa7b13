/** The letters of one object: each death noted, told, looked through; whatever became of the message's body. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { Letters, lettersSchema } from "../../durable-objects/letters.ts";
import { Outbox, outboxSchema } from "../../durable-objects/outbox.ts";
import { queueSchema } from "../../durable-objects/queue-rows.ts";
import { HeardLetters, heardSchema } from "../../durable-objects/runtime/heard.ts";
import { applySchemas } from "../../durable-objects/sql.ts";
import { testMessage } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";

const shelf = { queue: "inbox", owner: "crew-1", outbox: true };
const request = { holder: "crew-1", lease_ms: 1_000 };
let sql: NodeSql;
let queue: DurableQueue;
let letters: Letters;
beforeEach(() => {
  sql = nodeSql();
  applySchemas(sql, { queue: queueSchema, outbox: outboxSchema });
  queue = new DurableQueue(sql);
});
afterEach(() => sql.close());
function open(): void {
  applySchemas(sql, { letters: lettersSchema, heard: heardSchema });
  letters = new Letters(sql);
}
/** Dies by its holder's word; the facts are noted as the objects do. */
function bury(message_id: string, now: number): void {
  const { lease } = queue.lease("inbox", { ...request, lease_id: `${message_id}-${now}` }, now);
  if (lease === null) throw new Error("nothing to lease");
  const dead = queue.deadLetter(lease, `reason at ${now}`, now);
  if (!dead.ok) throw new Error(dead.refusal.detail);
  letters.noteFacts(dead.value);
}

describe("letters", () => {
  it("[DL-12] each death is told until it was heard, by its own number; one sent again meanwhile is forgotten", () => {
    open();
    const message = testMessage(1);
    queue.enqueue("inbox", message, {}, 1);
    bury(message.message_id, 2);
    const [first] = letters.untold("crew-1");
    expect(first).toMatchObject({ place: "inbox", reason: "reason at 2", head: { message_id: message.message_id } });
    expect(letters.untold("crew-1")).toEqual([first]);
    if (first !== undefined) letters.told(first);
    expect(letters.hasUntold()).toBe(false);

    queue.requeueDead("inbox", message.message_id, 3);
    bury(message.message_id, 4);
    const [second] = letters.untold("crew-1");
    expect(second?.death).toBeGreaterThan(first?.death ?? 0);
    queue.requeueDead("inbox", message.message_id, 5);
    expect(letters.untold("crew-1")).toEqual([]);
    expect(letters.hasUntold()).toBe(false);
  });

  it("[DL-12] hearing knows a death by its number: an older or the same one is no news, a later one is", () => {
    open();
    const heard = new HeardLetters(sql);
    const key = { holder: "proxy", place: "inbox", message_id: "m", death: 2 };
    expect(heard.isNews(key)).toBe(true);
    heard.hear(key, "card-1");
    expect([heard.isNews(key), heard.isNews({ ...key, death: 1 }), heard.isNews({ ...key, death: 3 })]).toEqual([
      false,
      false,
      true,
    ]);
    expect(heard.get(key)).toEqual({ approval_id: "card-1", sent_again: false });
    heard.sendAgain(key);
    expect(heard.get(key)).toEqual({ approval_id: "card-1", sent_again: true });
    heard.sendAgain({ ...key, death: 3 });
    expect([heard.isNews({ ...key, death: 3 }), heard.get({ ...key, death: 3 })]).toEqual([
      false,
      { approval_id: null, sent_again: true },
    ]);
    heard.hear({ ...key, death: 4 }, null);
    expect(heard.get({ ...key, death: 4 })?.sent_again).toBe(false);
  });

  it("[DL-13] letters that died before deaths were noted are told after the upgrade", () => {
    const message = testMessage(1);
    queue.enqueue("inbox", message, {}, 1);
    const outbox = new Outbox(sql);
    const own = testMessage(2, { message_id: "own-message" });
    outbox.put(own, 1);
    outbox.refused("own-message", "nobody is there", 5);
    sql.run("UPDATE queue_rows SET state = 'dead', reason = 'old', died_at = 4, epoch = 7");
    open();
    expect(letters.untold("crew-1").map(({ place, death }) => [place, death])).toEqual([
      ["inbox", 7],
      ["outbox", 5],
    ]);
  });

  it("[HTTP-77] pages go from the newest over both places, and stay good while letters come and go", () => {
    open();
    const outbox = new Outbox(sql);
    for (let n = 1; n <= 5; n++) {
      queue.enqueue("inbox", testMessage(2, { message_id: `inbox-000${n}` }), {}, n);
      bury(`inbox-000${n}`, 10 * n);
      outbox.put(testMessage(2, { message_id: `outbox-000${n}` }), n);
      outbox.refused(`outbox-000${n}`, "no", 10 * n);
    }
    const first = letters.page(shelf, { limit: 4, cursor: null });
    expect(first.items.map(({ message_id }) => message_id)).toEqual([
      "outbox-0005",
      "inbox-0005",
      "outbox-0004",
      "inbox-0004",
    ]);
    queue.requeueDead("inbox", "inbox-0004", 99);
    const second = letters.page(shelf, { limit: 4, cursor: first.next_cursor });
    expect(second.items.map(({ message_id }) => message_id)).toEqual([
      "outbox-0003",
      "inbox-0003",
      "outbox-0002",
      "inbox-0002",
    ]);
    const inboxOnly = letters.page({ ...shelf, outbox: false }, { limit: 9, cursor: null });
    expect(inboxOnly.items.map(({ died_in }) => died_in)).toEqual(["inbox", "inbox", "inbox", "inbox"]);
    expect(letters.page(shelf, { limit: 9, cursor: "nonsense" }).items).toHaveLength(9);
    expect(letters.outboxCounts()).toEqual({ waiting: 0, dead: 5 });
  });

  it("[HTTP-77] a message is where it is: queued, leased, dead, processed, on its way, or unknown", () => {
    open();
    const state = (id: string) => letters.standing(shelf, id)?.state ?? null;
    const message = testMessage(1);
    const { message_id } = message;
    expect(state(message_id)).toBeNull();
    queue.enqueue("inbox", message, {}, 1);
    expect(state(message_id)).toBe("queued");
    const { lease } = queue.lease("inbox", { ...request, lease_id: "lease-1" }, 2);
    expect(state(message_id)).toBe("leased");
    if (lease !== null) queue.ack(lease, 3);
    expect(state(message_id)).toBe("processed");
    new Outbox(sql).put(testMessage(2, { message_id: "own-message" }), 1);
    expect(letters.standing(shelf, "own-message")).toMatchObject({ state: "on its way", deaths: [] });
    new Outbox(sql).refused("own-message", "no", 9);
    expect(letters.standing(shelf, "own-message")).toMatchObject({ deaths: [{ place: "outbox", death: 9 }] });
  });
});
