/** An agent's object: its inbox, its runs, its slot, and what a restart of it means. */
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { poolOf } from "../../durable-objects/remote.ts";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import { SandboxFailure } from "../../src/agents/ports.ts";
import type { Message } from "../../src/domain/message.ts";
import { worldOf } from "../../src/env.ts";
import { limits } from "../../src/limits.ts";
import { asked, base, messageOf, oneItem, planned } from "./driven.ts";
import {
  agent,
  agentStub,
  events,
  expectSound,
  hold,
  inAgent,
  makeScope,
  must,
  pending,
  type Scope,
  setAgentState,
  task,
  until,
} from "./scope.ts";

afterEach(() => vi.restoreAllMocks());

const away = () => Promise.reject(new SandboxFailure("unreachable", "the host is away", true));
async function planRequest(scope: Scope, task_id: string, number: number): Promise<Message> {
  const payload = { repo: env.TEST_REPO, ref: "HEAD", previous_plan: `plan ${number}` };
  return messageOf(scope, task_id, {
    message_kind: "plan_request",
    sender: "proxy",
    recipient: "planner",
    plan_markdown: oneItem,
    payload,
  });
}
async function acked(scope: Scope): Promise<(string | null)[]> {
  const links = await inAgent(scope, "planner", (stores) => stores.audit.after(0, 1_000));
  return links
    .filter((link) => link.event_type === "dequeue" && link.decision === "acked")
    .map((link) => link.message_id);
}

describe("an agent's life", () => {
  it("[AGS-1] it is made once; its moves are on its chain, and the scope hears of each once", async () => {
    const scope = await makeScope();
    const verifier = agent(scope, "verifier");
    for (const _ of [1, 2]) await verifier.start(scope.id, "verifier");
    expect((await verifier.transitions(scope.id)).map((move) => [move.from, move.event, move.to])).toEqual([
      ["idle", "start", "spawning"],
      ["spawning", "spawned", "active"],
    ]);
    await until(async () => must(await scope.runtime.agent(scope.admin, "verifier")).state === "active");
    const heard = (await events(scope)).filter((event) => event.actor === "verifier" && event.type === "state_changed");
    expect(heard.map((event) => event.to)).toEqual(["spawning", "active"]);
    await expectSound(scope);
  });

  it("[AGS-2] an older report that comes late changes nothing", async () => {
    const scope = await makeScope();
    await until(async () => must(await scope.runtime.agent(scope.admin, "proxy")).state === "active");
    await scope.runtime.report({
      scope: scope.id,
      name: "proxy",
      state: "failed",
      activity: null,
      current: null,
      version: 0,
      moves: [],
    });
    expect(must(await scope.runtime.agent(scope.admin, "proxy"))).toMatchObject({ state: "active", word: "Ready" });
  });

  it("[AGO-1] paused it takes messages in, begins nothing, and its alarm rests", async () => {
    const { scope, task_id } = await planned();
    for (const name of ["crew-1", "planner"]) {
      await agent(scope, name).poke(scope.id);
      // What it does next is to ship its records again, and that is not now.
      await until(() =>
        runInDurableObject(
          agentStub(scope, name),
          async (_object, state) => ((await state.storage.getAlarm()) ?? Number.POSITIVE_INFINITY) > Date.now() + 500,
        ),
      );
    }
    expect(await agent(scope, "planner").deliver(await planRequest(scope, task_id, 1))).toEqual({ refused: null });
    await runDurableObjectAlarm(agentStub(scope, "planner"));
    expect(await agent(scope, "planner").queueView(scope.id)).toMatchObject({ queued: 1, leased: 0 });
  });
});

describe("an inbox", () => {
  it("[AGO-2] the same message twice is one piece of work, also after it is done; other bytes are refused", async () => {
    const { scope, task_id } = await planned();
    const resolve = vi
      .spyOn(HostSandboxes.prototype, "resolve")
      .mockResolvedValue({ commit: base, default_branch: "main" });
    await setAgentState(scope, "planner", "active");
    const request = await planRequest(scope, task_id, 1);
    const planner = agent(scope, "planner");
    for (const _ of [1, 2]) expect(await planner.deliver(request)).toEqual({ refused: null });
    await until(() => inAgent(scope, "planner", ({ queue }) => queue.hasProcessed("inbox", request.message_id)));
    expect(await planner.deliver(request)).toEqual({ refused: null });
    expect(await planner.queueView(scope.id)).toMatchObject({ queued: 0, leased: 0 });
    expect(resolve).toHaveBeenCalledTimes(1);
    expect((await planner.deliver({ ...request, content: "other" })).refused).toContain("other content");
  });

  it("[AGO-3] a message it cannot even begin dies after a few tries, is put before a person, and holds nobody up", async () => {
    const { scope, task_id } = await planned();
    await setAgentState(scope, "verifier", "active");
    const known = await messageOf(scope, task_id, {
      message_kind: "system_event",
      sender: "runtime",
      recipient: "verifier",
    });
    // The door would not let it in; a row like this is what a bug of ours would leave behind.
    const message_id = `bad-${known.message_id}`;
    const bad = { ...known, message_id, message_kind: "verification_request", payload: { nonsense: true } } as const;
    const verifier = agent(scope, "verifier");
    await inAgent(scope, "verifier", ({ queue }) => queue.enqueue("inbox", bad, {}, Date.now()));
    await verifier.poke(scope.id);
    for (let delivery = 0; delivery < limits.max_deliveries; delivery++) {
      await until(() =>
        inAgent(
          scope,
          "verifier",
          ({ sql }) =>
            sql.one<{ state: string }>(
              "SELECT state FROM queue_rows WHERE state <> 'leased' AND deliveries > ?",
              delivery,
            ) !== null,
        ),
      );
      await inAgent(scope, "verifier", ({ sql }) =>
        sql.run("UPDATE queue_rows SET available_at = 0 WHERE state = 'queued'"),
      );
      await verifier.poke(scope.id);
    }
    const dead = await until(async () => (await pending(scope, task_id)).find((card) => card.kind === "dead_letter"));
    expect(dead.card.title).toContain("verification_request to verifier");
    const next = await messageOf(scope, task_id, {
      message_kind: "system_event",
      sender: "runtime",
      recipient: "verifier",
      content: "next",
    });
    expect(await verifier.deliver(next)).toEqual({ refused: null });
    expect(await verifier.queueView(scope.id)).toMatchObject({ dead: 1 });
  });
});

describe("a run", () => {
  it("[RUN-1] goes on after the object restarts, as many side by side as there were, each answered once", async () => {
    const { scope, task_id } = await planned();
    const resolve = vi.spyOn(HostSandboxes.prototype, "resolve").mockImplementation(away);
    const planner = agent(scope, "planner");
    const sent = await Promise.all(
      Array.from({ length: limits.planner_runs }, (_, number) => planRequest(scope, task_id, number)),
    );
    for (const message of sent) await planner.deliver(message);
    await setAgentState(scope, "planner", "active");
    await planner.poke(scope.id);
    const stepped = () =>
      inAgent(
        scope,
        "planner",
        ({ sql }) => sql.all("SELECT 1 FROM runs WHERE json_extract(doc, '$.steps') > 0").length,
      );
    await until(async () => (await stepped()) === limits.planner_runs);
    await abortAllDurableObjects();
    await agent(scope, "planner").poke(scope.id);
    resolve.mockClear().mockResolvedValue({ commit: base, default_branch: "main" });
    await agent(scope, "planner").poke(scope.id);
    await until(async () => {
      const { queued, leased } = await agent(scope, "planner").queueView(scope.id);
      return queued + leased === 0;
    });
    expect(resolve).toHaveBeenCalledTimes(sent.length);
    expect((await acked(scope)).sort()).toEqual(sent.map((message) => message.message_id).sort());
    expect(await inAgent(scope, "planner", ({ sql }) => sql.all("SELECT id FROM runs"))).toEqual([]);
    await expectSound(scope);
  });

  it("[RUN-2] that meets a bug is tried again a few times, then dies with its reason and a card", async () => {
    const { scope, task_id } = await planned();
    vi.spyOn(HostSandboxes.prototype, "resolve").mockImplementation(() =>
      Promise.reject(new TypeError("a bug of ours")),
    );
    const planner = agent(scope, "planner");
    await planner.deliver(await planRequest(scope, task_id, 1));
    await setAgentState(scope, "planner", "active");
    await planner.poke(scope.id);
    const errors = () =>
      inAgent(
        scope,
        "planner",
        ({ sql }) =>
          sql.one<{ errors: number }>("SELECT json_extract(doc, '$.errors') AS errors FROM runs")?.errors ?? 0,
      );
    await until(async () => (await errors()) > 0);
    await inAgent(scope, "planner", ({ sql }) =>
      sql.run("UPDATE runs SET next_at = 0, doc = json_set(doc, '$.errors', 7, '$.next_at', 0)"),
    );
    await planner.poke(scope.id);
    const dead = await until(async () => (await pending(scope, task_id)).find((card) => card.kind === "dead_letter"));
    expect(dead.card.facts[0]).toBe("Reason: a bug of ours");
    expect((await planner.letters(scope.id, { limit: 9, cursor: null })).items).toMatchObject([
      { reason: "a bug of ours" },
    ]);
    expect((await task(scope, task_id)).status).toBe("waiting");
  });
});

describe("work called off", () => {
  it("[AGO-5] its sandbox is destroyed now and the run ends by itself; another scope's sandboxes stay", async () => {
    const { scope, task_id } = await planned();
    const spec = { worktree: `.runtime/worktrees/${scope.id}/x`, memory_mb: 256, processes: 16, file_mb: 16 };
    const { sandboxes } = worldOf(env);
    const other = await makeScope();
    await sandboxes.create(`${scope.id}.x.0`, { ...spec, scope_id: scope.id, owner: "x" });
    await sandboxes.create(`${other.id}.x.0`, {
      ...spec,
      worktree: `.runtime/worktrees/${other.id}/x`,
      scope_id: other.id,
      owner: "x",
    });
    vi.spyOn(HostSandboxes.prototype, "create").mockImplementation(away);
    const order = {
      ...{
        stage: "verify",
        verification_id: "x",
        attempt_id: "a.1",
        work_item_id: "a",
        title: "t",
        parent: base,
        patch_key: "p",
        protect: [],
        checks: [],
        at_s: 0,
      },
      ...{
        repo: env.TEST_REPO,
        baseline: base,
        bundle_key: null,
        worktree: spec.worktree,
        environment: { setup: [], hosts: [], cache: [] },
        limits: { memory_mb: 1, processes: 1, file_mb: 1 },
      },
    };
    const request = await messageOf(scope, task_id, {
      message_kind: "verification_request",
      sender: "runtime",
      recipient: "verifier",
      payload: order,
    });
    await setAgentState(scope, "verifier", "active");
    await agent(scope, "verifier").deliver(request);
    await until(() =>
      inAgent(scope, "verifier", ({ sql }) => sql.one("SELECT 1 FROM runs WHERE owner = 'x'") !== null),
    );
    await agent(scope, "verifier").callOff(scope.id, "x");
    const left = (await sandboxes.sandboxes()).map((made) => made.id);
    expect([left.includes(`${scope.id}.x.0`), left.includes(`${other.id}.x.0`)]).toEqual([false, true]);
    await until(() => inAgent(scope, "verifier", ({ queue }) => queue.hasProcessed("inbox", request.message_id)));
    await agent(scope, "verifier").callOff(scope.id, "x");
    await sandboxes.destroy(`${other.id}.x.0`);
  });
});

describe("a crew's slot", () => {
  it("[AGO-4] without a free slot in the deployment nothing is claimed; a slot keeps its holder and is given back", async () => {
    const scope = await makeScope();
    const pool = poolOf(env);
    const holders = Array.from({ length: limits.scope_slots }, (_, at) => `${scope.id}/other-${at}`);
    for (const holder of holders) expect(await pool.acquire(scope.id, holder)).toBe(true);
    expect(await pool.acquire(scope.id, holders[0] ?? "")).toBe(true);
    expect(await pool.acquire(scope.id, `${scope.id}/crew-1`)).toBe(false);
    await hold(scope, "proxy", "planner");
    must(await asked(scope));
    await agent(scope, "crew-1").start(scope.id, "crew-1");
    await runDurableObjectAlarm(agentStub(scope, "crew-1"));
    expect(await inAgent(scope, "crew-1", ({ sql }) => sql.all("SELECT id FROM runs"))).toEqual([]);
    await pool.release(holders[0] ?? "");
    expect(await pool.acquire(scope.id, `${scope.id}/crew-1`)).toBe(true);
    for (const holder of [...holders, `${scope.id}/crew-1`]) await pool.release(holder);
  });
});
