/** What a running attempt may do: claim, begin, call a tool, settle; and who may not. */
import { describe, expect, it } from "vitest";
import type { RemoteAgent } from "../../durable-objects/remote.ts";
import { limits } from "../../src/limits.ts";
import { attempts, begun, claim, countersigned, item, step } from "./driven.ts";
import {
  agentStub,
  audit,
  decisions,
  expectSound,
  hold,
  inObject,
  inRuntime,
  makeScope,
  missing,
  type Runtime,
  refusalOf,
  type Scope,
  thrownBy,
} from "./scope.ts";

const exited = { state: "exited", exit_code: 0, signal: null, duration_ms: 1 } as const;

/** As if the lease's time had passed, without waiting for it. */
async function letLeasesExpire(scope: Scope): Promise<void> {
  await inRuntime(scope, ({ sql }) =>
    sql.run("UPDATE queue_rows SET expires_at = 1 WHERE queue = 'executor_queue' AND state = 'leased'"),
  );
  await scope.runtime.sweep(scope.id);
}

describe("claiming", () => {
  it("[ENT-1] a request is leased to one agent; asked again, the same agent gets the lease it has and another gets none", async () => {
    const { scope } = await countersigned();
    const [one, two] = await Promise.all([
      scope.runtime.claim(scope.id, "crew-1"),
      scope.runtime.claim(scope.id, "crew-2"),
    ]);
    const won = one ?? two ?? missing("lease");
    expect([one, two].filter((lease) => lease === null)).toHaveLength(1);
    expect(await scope.runtime.claim(scope.id, won.holder)).toEqual(won);
  });

  it("[ENT-2] a holder that fell silent ends its attempt as crashed; a fresh one that does not count takes its place", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    const silent = await begun(scope);
    await letLeasesExpire(scope);
    const fresh = await begun(scope, "crew-2");
    expect(fresh.ref.attempt_id).not.toBe(silent.ref.attempt_id);
    expect(fresh.lease.message.payload.clear).toEqual([`${scope.id}.${silent.ref.attempt_id}.0`]);
    expect(await attempts(driven)).toMatchObject([
      { state: "crashed", detail: "its agent fell silent" },
      { state: "running", agent: "crew-2" },
    ]);
    expect(await item(driven)).toMatchObject({ attempts: 2, counted: 0, uncounted: 1 });
    await expectSound(scope);
  });

  it("[ENT-3] leased but never begun, it is leased again and begins with the first attempt", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    await claim(scope);
    await letLeasesExpire(scope);
    const again = await begun(scope, "crew-2");
    expect(again.lease).toMatchObject({ epoch: 2, deliveries: 2 });
    expect(await attempts(driven)).toMatchObject([{ number: 1, state: "running" }]);
  });

  it("[ENT-4] a request nobody ever begins ends its attempt as crashed once its deliveries are used up", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    for (let delivery = 1; delivery <= limits.max_deliveries; delivery++) {
      await claim(scope);
      await letLeasesExpire(scope);
    }
    expect(await attempts(driven)).toMatchObject([{ state: "crashed" }, { state: "due", number: 2 }]);
    expect((await begun(scope)).ref.attempt_id).toBe((await attempts(driven))[1]?.id);
  });
});

describe("a stale holder", () => {
  it("[ENT-5] a lease that is another's, of another epoch or entry, or expired begins nothing and calls nothing", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    const held = await claim(scope);
    const { ref } = held;
    const wrong = [
      { ...ref, lease_id: "invented" },
      { ...ref, epoch: ref.epoch + 1 },
      { ...ref, entry: 1 },
      { ...ref, agent: "crew-2" },
      { ...ref, attempt_id: "invented" },
    ];
    for (const other of wrong) {
      expect(await scope.runtime.begin(scope.id, other)).toMatchObject({ answer: "stale" });
      expect(await scope.runtime.authorize(scope.id, other, step(held, 1))).toMatchObject({ answer: "stale" });
      await scope.runtime.settle(scope.id, other, "step-1", exited);
    }
    expect(await attempts(driven)).toMatchObject([{ state: "due", agent: null, started_at: null }]);
    expect(await inRuntime(scope, ({ rows }) => rows.calls.all())).toEqual([]);
    expect(await scope.runtime.begin(scope.id, ref)).toEqual({ answer: "go" });
    expect(await scope.runtime.begin(scope.id, ref)).toEqual({ answer: "go" });
    await letLeasesExpire(scope);
    expect(await scope.runtime.authorize(scope.id, ref, step(held, 1))).toMatchObject({ answer: "stale" });
    await expectSound(scope);
  });

  it("[ENT-6] a heartbeat keeps only the holder's own lease", async () => {
    const { scope } = await countersigned();
    const { ref, lease } = await begun(scope);
    expect(await scope.runtime.heartbeat(scope.id, "crew-1", ref)).toBe(true);
    expect(await scope.runtime.heartbeat(scope.id, "crew-2", ref)).toBe(false);
    expect(
      await scope.runtime.heartbeat(scope.id, "crew-1", { lease_id: lease.lease_id, epoch: lease.epoch + 1 }),
    ).toBe(false);
    await letLeasesExpire(scope);
    expect(await scope.runtime.heartbeat(scope.id, "crew-1", ref)).toBe(false);
  });
});

describe("a tool call", () => {
  it("[ENT-7] the plan's own step runs, on record before and after, however often it is asked and settled", async () => {
    const { scope } = await countersigned();
    const held = await begun(scope);
    for (const _ of [1, 2])
      expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toEqual({ answer: "run" });
    for (const _ of [1, 2]) await scope.runtime.settle(scope.id, held.ref, "step-1", exited);
    const effects = (await audit(scope)).filter((link) => link.event_type === "effect");
    expect(effects.map((link) => [link.decision, link.details.call_id])).toEqual([
      ["intent", "step-1"],
      ["outcome", "step-1"],
    ]);
  });

  it("[ENT-8] the same call with other arguments is refused", async () => {
    const { scope } = await countersigned();
    const held = await begun(scope);
    await scope.runtime.authorize(scope.id, held.ref, step(held, 1));
    const other = { ...step(held, 1), arguments: '{"command":"echo b"}' };
    expect(await scope.runtime.authorize(scope.id, held.ref, other)).toMatchObject({
      answer: "refused",
      error_code: "gate_blocked",
    });
  });

  it("[ENT-9] outside the grant it waits; what policy denies is refused, and both are on record", async () => {
    const { scope } = await countersigned();
    const held = await begun(scope);
    const command = (text: string, call_id: string) => ({
      ...step(held, 1),
      call_id,
      arguments: JSON.stringify({ command: text }),
    });
    expect(await scope.runtime.authorize(scope.id, held.ref, command("npm publish", "x1"))).toEqual({ answer: "wait" });
    for (const [at, text] of [
      "rm -rf /workspace/src",
      "echo x > /etc/x",
      "echo x > .git/config",
      "curl https://example.com",
    ].entries())
      expect(await scope.runtime.authorize(scope.id, held.ref, command(text, `d${at}`))).toMatchObject({
        answer: "refused",
      });
    expect(await decisions(scope, "gate_block")).toEqual(["ask", "deny", "deny", "deny", "deny"]);
    expect(await decisions(scope, "effect")).not.toContain("intent");
  });

  it("[ENT-10] steps that were changed in the queue's row are not what was granted: they wait", async () => {
    const { scope } = await countersigned();
    await inRuntime(scope, ({ sql }) =>
      sql.run("UPDATE queue_rows SET body = replace(body, 'echo a', 'echo evil') WHERE queue = 'executor_queue'"),
    );
    const held = await begun(scope);
    expect(held.steps).toEqual(["echo evil"]);
    expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toEqual({ answer: "wait" });
  });
});

describe("another scope", () => {
  it("[ENT-16] is refused at every entry of the runtime and of an agent, and a scope that was never made has none", async () => {
    const { scope, task_id } = await countersigned();
    const held = await claim(scope);
    const alien = (await makeScope()).id;
    await hold(scope, "crew-1");
    const foreign = { ...held.lease.message, scope_id: alien };
    const { ref } = held;
    const note = {
      task_id,
      agent: "crew-1",
      attempt_id: ref.attempt_id,
      stage: "execute",
      offset: 0,
      text: "x",
    } as const;
    const report = {
      scope: alien,
      name: "crew-1",
      state: "active",
      activity: null,
      current: null,
      version: 99,
      moves: [],
    } as const;
    const ofRuntime: ((runtime: Runtime) => Promise<unknown>)[] = [
      (runtime) => runtime.claim(alien, "crew-1"),
      (runtime) => runtime.begin(alien, ref),
      (runtime) => runtime.authorize(alien, ref, step(held, 1)),
      (runtime) => runtime.settle(alien, ref, "step-1", exited),
      (runtime) => runtime.heartbeat(alien, "crew-1", ref),
      (runtime) => runtime.noteOutput(alien, note),
      (runtime) => runtime.report(report),
      (runtime) => runtime.observe(foreign),
      (runtime) => runtime.deliver(foreign),
      (runtime) => runtime.letterDied(alien, "crew-1", { place: "inbox", death: 1, reason: "x", head: foreign }),
      (runtime) => runtime.sweep(alien),
      (runtime) => runtime.redeemTicket(alien, { ticket_hash: "x", path: "/" }),
    ];
    const ofAgent: ((crew: RemoteAgent) => Promise<unknown>)[] = [
      (crew) => crew.start(alien, "crew-1"),
      (crew) => crew.poke(alien),
      (crew) => crew.deliver(foreign),
      (crew) => crew.callOff(alien, ref.attempt_id),
      (crew) => crew.queueView(alien),
      (crew) => crew.queueDetail(alien),
      (crew) => crew.moveQueue(alien, "pause", { by: "eve", reason: "" }),
      (crew) => crew.letters(alien, { limit: 9, cursor: null }),
      (crew) => crew.letter(alien, ref.attempt_id),
      (crew) => crew.revive(alien, ref.attempt_id),
      (crew) => crew.transitions(alien),
      (crew) => crew.closeSockets(alien, []),
    ];
    const before = await audit(scope);
    const answers = [
      ...(await inObject<Runtime, string[]>(scope.stub, (runtime) =>
        Promise.all(ofRuntime.map((entry) => thrownBy(() => entry(runtime)))),
      )),
      ...(await inObject<RemoteAgent, string[]>(agentStub(scope, "crew-1"), (crew) =>
        Promise.all(ofAgent.map((entry) => thrownBy(() => entry(crew)))),
      )),
    ];
    expect(answers).toEqual([...ofRuntime, ...ofAgent].map(() => expect.stringContaining("another scope")));
    expect(await audit(scope)).toEqual(before);
    const { runtime } = scope;
    expect(await runtime.authenticate(alien, `hash of ${scope.id}`)).toBeNull();
    expect(
      refusalOf(await runtime.initScope({ scope_id: alien, name: "x", token_id: "other-token", token_hash: "y" })).code,
    ).toBe("not_found");
  });
});
