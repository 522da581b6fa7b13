/** What a run leaves in its object: its conversation, the notes of others, and the place it holds while it waits. */
import { describe, expect, it, vi } from "vitest";
import { AgentRecords } from "../../durable-objects/agent/records.ts";
import type { AgentRemotes } from "../../durable-objects/agent/remotes.ts";
import { SharedWork } from "../../durable-objects/agent/shared.ts";
import type { Shown } from "../../durable-objects/agent/shown.ts";
import { Steps } from "../../durable-objects/agent/steps.ts";
import { inbox, openStores } from "../../durable-objects/agent/stores.ts";
import type { Told } from "../../durable-objects/agent/told.ts";
import { Work } from "../../durable-objects/agent/work.ts";
import type { Post } from "../../durable-objects/post.ts";
import type { Turn } from "../../src/agents/models.ts";
import type { Role, RunContext, Step } from "../../src/agents/step.ts";
import { limits } from "../../src/limits.ts";
import { testMessage, testScope } from "../fakes/messages.ts";
import { nodeSql } from "../fakes/node-sql.ts";

type Next = (context: RunContext, state: unknown) => Step<unknown> | Promise<Step<unknown>>;
const told = (text: string): Turn => ({ kind: "told", text });

/** A planner whose steps a test writes, by the number of the message that opened the run. */
function agent(next: Record<string, Next>) {
  const sql = nodeSql();
  const seen: RunContext[] = [];
  const role: Role<unknown> = {
    open: () => null,
    parse: (stored) => stored,
    async step(state, context) {
      const { signal: _, ...data } = context;
      seen.push(structuredClone(data));
      return (await next[context.run_id]?.(context, state)) ?? { kind: "end", state, out: [] };
    },
  };
  const begin = () => {
    const stores = openStores(sql);
    const remotes = { ports: () => ({}) } as unknown as AgentRemotes; // this role asks nobody anything
    const records = new AgentRecords(stores);
    const shown = { show: async () => undefined } as unknown as Shown; // nobody watches
    const shared = new SharedWork(stores, remotes);
    const steps = new Steps(stores, { records, remotes, shared, shown, roleOf: () => role });
    stores.self.start({ scope: testScope, name: "planner" }, Date.now());
    const told = {
      report: async () => undefined,
      giveUp: () => undefined,
      tellDead: async () => undefined,
    } as unknown as Told;
    const mail = () => ({ flush: async () => undefined }) as unknown as Post; // what leaves stays in the outbox
    return { stores, steps, work: new Work(stores, { records, steps, shared, told, mail }) };
  };
  const life = { ...begin() };
  const restart = () => Object.assign(life, begin());
  const bring = (...numbers: number[]): void => {
    for (const number of numbers)
      life.stores.queue.enqueue(
        inbox,
        testMessage(number, {
          recipient: "planner",
          sender: "proxy",
          message_kind: "plan_request",
          task_id: "task-1",
          payload: { repo: "file:///r", ref: "HEAD" },
        }),
        {},
        Date.now(),
      );
  };
  /** One shift: what is due now is done. */
  const shift = () => life.work.run(Date.now() + 10_000);
  const at = (number: number) => life.stores.runs.get(`message-${number}`);
  return { sql, seen, life, restart, bring, shift, at };
}
const waiting = (state: unknown, turns: Turn[] = []): Step<unknown> => ({
  kind: "wait",
  wait_ms: 120_000,
  for_notes: true,
  state,
  turns,
});

describe("the conversation of a run", () => {
  it("[RUN-20] it grows with each commit, is given to the next step, outlives the object, and is gone with the run", async () => {
    const w = agent({
      "message-1": ({ turns }, state) => {
        if (turns.length === 0) return { kind: "continue", state, turns: [told("a"), told("b")] };
        if (turns.length === 2) return { kind: "wait", wait_ms: 5_000, state, turns: [told("c")] };
        return { kind: "end", state, out: [] };
      },
    });
    w.bring(1, 2);
    await w.shift();
    expect(w.seen.filter(({ run_id }) => run_id === "message-1").map(({ turns }) => turns)).toEqual([
      [],
      [told("a"), told("b")],
    ]);
    w.restart();
    expect(w.life.stores.turns.of("message-1")).toEqual([told("a"), told("b"), told("c")]);
    const run = w.at(1);
    if (run === null) throw new Error("it ended");
    w.life.stores.runs.put({ ...run, next_at: 0 });
    await w.shift();
    expect(w.seen.at(-1)?.turns).toEqual([told("a"), told("b"), told("c")]);
    expect(w.sql.all("SELECT * FROM turns")).toEqual([]);
    expect(w.life.stores.runs.count()).toBe(0);
  });
  it("[MNB-4] what a step asks of a model is let go when its run is called off, and in no other run", async () => {
    const aborted: string[] = [];
    const hangs = ({ run_id, signal, cancelled }: RunContext, state: unknown): Promise<Step<unknown>> =>
      new Promise((resolve) => {
        if (cancelled) return resolve({ kind: "end", state, out: [] });
        signal?.addEventListener("abort", () => {
          aborted.push(run_id);
          resolve({ kind: "continue", state });
        });
        if (run_id === "message-2") setTimeout(() => resolve({ kind: "end", state, out: [] }), 100);
      });
    const w = agent({ "message-1": hangs, "message-2": hangs });
    w.bring(1, 2);
    const working = w.shift();
    await vi.waitFor(() => expect(w.seen).toHaveLength(2));
    const run = w.at(1);
    if (run !== null) w.life.stores.runs.put({ ...run, cancelled: true });
    w.life.steps.abort("message-1");
    await working;
    expect(aborted).toEqual(["message-1"]);
    expect(w.life.stores.runs.count()).toBe(0);
  }, 8_000);
  it("[RUN-20] a step that fails adds nothing", async () => {
    let fails = 1;
    const w = agent({
      "message-1": ({ turns }, state) => {
        if (fails-- > 0) throw new Error("a bug");
        return turns.length === 0
          ? { kind: "continue", state, turns: [told("a")] }
          : { kind: "wait", wait_ms: 9_000, state };
      },
    });
    const quiet = vi.spyOn(console, "error").mockReturnValue();
    w.bring(1);
    await w.shift();
    quiet.mockRestore();
    expect(w.life.stores.turns.of("message-1")).toEqual([]);
    const run = w.at(1);
    if (run !== null) w.life.stores.runs.put({ ...run, next_at: 0 });
    await w.shift();
    expect(w.life.stores.turns.of("message-1")).toEqual([told("a")]);
  });
  it("[RUN-21] what a step sends leaves with its commit while the run goes on, under an id that follows from the key", async () => {
    const out = {
      message_kind: "plan_result",
      recipient: "proxy",
      content: "x",
      payload: {},
      task_id: "task-1",
      error_code: "tool_failure",
    } as const;
    const w = agent({
      "message-1": (_, state) =>
        state === null
          ? {
              kind: "wait",
              wait_ms: 9_000,
              state: 1,
              send: [
                { ...out, key: "a" },
                { ...out, key: "b" },
              ],
            }
          : { kind: "end", state, out: [] },
    });
    w.bring(1);
    await w.shift();
    expect(w.life.stores.runs.count()).toBe(1);
    const sent = w.sql.all<{ message_id: string }>("SELECT message_id FROM outbox ORDER BY seq");
    expect(new Set(sent.map(({ message_id }) => message_id)).size).toBe(2);
  });
});

describe("notes", () => {
  it("[RUN-22] one that ends leaves notes for another, which is woken at once; the first of a key stands", async () => {
    const note = (key: string, body: unknown) => ({ run_id: "message-1", key, body });
    const w = agent({
      "message-1": ({ notes }, state) => (notes.length < 2 ? waiting(state) : { kind: "end", state, out: [] }),
      "message-2": (_, state) => ({ kind: "end", state, out: [], notes: [note("r1", "first"), note("r1", "again")] }),
      "message-3": (_, state) => ({
        kind: "end",
        state,
        out: [],
        notes: [note("r1", "late"), note("r2", null), { run_id: "message-9", key: "x", body: 1 }],
      }),
    });
    w.bring(1);
    await w.shift();
    expect(w.at(1)).toMatchObject({ waits: true });
    w.bring(2);
    await w.shift();
    expect(w.seen.at(-1)).toMatchObject({ run_id: "message-1", notes: [{ key: "r1", body: "first" }] });
    w.restart();
    w.bring(3);
    await w.shift();
    expect(w.seen.at(-1)).toMatchObject({
      run_id: "message-1",
      notes: [
        { key: "r1", body: "first" },
        { key: "r2", body: null },
      ],
    });
    expect(w.life.stores.runs.count()).toBe(0);
    expect(w.sql.all("SELECT * FROM notes")).toEqual([]);
  });
  it("[RUN-22] one that came while the step was under way is seen at once, not after the wait", async () => {
    const { promise: slow, resolve: release } = Promise.withResolvers<void>();
    const w = agent({
      "message-1": async ({ notes }, state) => {
        if (notes.length > 0) return { kind: "end", state, out: [] };
        await slow;
        return waiting(state);
      },
      "message-2": (_, state) => ({
        kind: "end",
        state,
        out: [],
        notes: [{ run_id: "message-1", key: "r1", body: 1 }],
      }),
    });
    w.bring(1, 2);
    const shift = w.shift();
    setTimeout(release, 20);
    await shift;
    expect(w.life.stores.runs.count()).toBe(0);
  });
  it("[RUN-22] a note does not shorten a pause that is none of waiting for it, and so many are kept for a run", async () => {
    const many = Array.from({ length: limits.run_notes + 5 }, (_, at) => ({
      run_id: "message-1",
      key: `k${at}`,
      body: at,
    }));
    const w = agent({
      "message-1": (_, state) => ({ kind: "wait", wait_ms: 60_000, state }),
      "message-2": (_, state) => ({ kind: "end", state, out: [], notes: many }),
    });
    w.bring(1);
    await w.shift();
    const before = w.at(1)?.next_at;
    w.bring(2);
    await w.shift();
    expect(w.at(1)?.next_at).toBe(before);
    expect(w.life.stores.notes.count("message-1")).toBe(limits.run_notes);
  });
  it("[RUN-23] it keeps its message for as long as it waits, however long that is", async () => {
    const w = agent({
      "message-1": (_, state) => ({ kind: "wait", wait_ms: 2 * limits.lease_ms, for_notes: true, state }),
    });
    w.bring(1);
    await w.shift();
    const [row] = w.sql.all<{ expires_at: number }>("SELECT expires_at FROM queue_rows");
    expect(row?.expires_at).toBeGreaterThan(w.at(1)?.next_at ?? Number.POSITIVE_INFINITY);
  });
});

describe("places", () => {
  it("[RUN-24] runs that wait for notes hold no place: what they wait for is taken in", async () => {
    const places = limits.planner_runs;
    const plans = Array.from({ length: places + 1 }, (_, at) => at + 1);
    const next: Record<string, Next> = {
      [`message-${places + 2}`]: (_, state) => ({
        kind: "end",
        state,
        out: [],
        notes: [{ run_id: "message-1", key: "r", body: 1 }],
      }),
    };
    for (const number of plans)
      next[`message-${number}`] = ({ notes }, state) =>
        notes.length > 0 ? { kind: "end", state, out: [] } : waiting(state);
    const w = agent(next);
    w.bring(...plans);
    await w.shift();
    expect(w.life.stores.runs.count()).toBe(places + 1);
    expect(w.life.work.mayClaim(Date.now())).toBe(false);
    w.bring(places + 2);
    expect(w.life.work.mayClaim(Date.now())).toBe(true);
    await w.shift();
    expect(
      w.life.stores.runs
        .all()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(plans.slice(1).map((number) => `message-${number}`));
  });
  it("[RUN-24] runs that pause for another reason hold theirs", async () => {
    const places = limits.planner_runs;
    const plans = Array.from({ length: places + 1 }, (_, at) => at + 1);
    const w = agent(
      Object.fromEntries(
        plans.map(
          (number) => [`message-${number}`, (_, state) => ({ kind: "wait", wait_ms: 60_000, state })] as [string, Next],
        ),
      ),
    );
    w.bring(...plans);
    await w.shift();
    expect(w.life.stores.runs.count()).toBe(places);
    expect(w.life.work.mayClaim(Date.now())).toBe(false);
  });
  it("[RUN-24] a row of a run that was stored before it could wait for notes is read as before", () => {
    const w = agent({});
    const doc = {
      id: "r",
      message: testMessage(1),
      lease: { lease_id: "l", epoch: 0 },
      owner: "o",
      state: 1,
      cancelled: false,
      opened_at: 1,
      next_at: 1,
      steps: 1,
      errors: 0,
    };
    w.sql.run("INSERT INTO runs (id, owner, next_at, doc) VALUES ('r', 'o', 1, ?)", JSON.stringify(doc));
    expect(w.life.stores.runs.get("r")).toMatchObject({ waits: false });
  });
});
