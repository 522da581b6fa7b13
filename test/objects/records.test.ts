/** What the objects leave on record: every hop of a task, signed ends, and batches on their way to D1 and back. */
import { createExecutionContext, createMessageBatch, getQueueResult, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { verifyChain } from "../../src/domain/audit.ts";
import { CheckpointFold, readCheckpoint } from "../../src/domain/checkpoint.ts";
import type { AuditView } from "../../src/domain/record-view.ts";
import type { RecordsBatch } from "../../src/domain/records.ts";
import type { TaskView } from "../../src/domain/view.ts";
import { worldOf } from "../../src/env.ts";
import { limits } from "../../src/limits.ts";
import worker from "../../src/worker.ts";
import { planOf } from "./driven.ts";
import { approve, audit, inAgent, inRuntime, makeScope, must, pending, type Scope, task, until } from "./scope.ts";

const { records, signer } = worldOf(env);
const granted = "allow: { tools: [shell_execute], paths: ['made/**'] }";

async function wholeTask(scope: Scope): Promise<TaskView> {
  const plan = planOf([`id: a, runner: steps, verify: [{ run: [test, -f, made/a] }], ${granted}`], {
    a: ["mkdir made; echo one > made/a"],
  });
  const input = { title: "On record", description: "", labels: [], plan, register_repo: true };
  const repo = { url: env.TEST_REPO, ref: "main" };
  const { id } = must(await scope.runtime.createTask(scope.admin, { ...input, repo }, null)).body;
  const card = await until(async () => (await pending(scope, id))[0]);
  must(await approve(scope, card));
  return until(async () => {
    const seen = await task(scope, id);
    return seen.ended_at === null ? null : seen;
  });
}
async function carry(...batches: readonly unknown[]) {
  const queued = batches.map((body, at) => ({ id: `r${at}`, timestamp: new Date(0), attempts: 1, body }));
  const batch = createMessageBatch("records", queued);
  const context = createExecutionContext();
  await worker.queue(batch, env);
  return getQueueResult(batch, context);
}
function stored(scope: Scope) {
  return records.chainRows(scope.id, null, 5_000);
}

let quiet: { mockRestore(): void }[];
beforeEach(() => {
  quiet = (["warn", "error"] as const).map((level) => vi.spyOn(console, level).mockImplementation(() => undefined));
});
afterEach(() => {
  for (const one of quiet) one.mockRestore();
});

describe("on record", () => {
  it("[AUD-23] [AUD-18] [TEL-5] a whole task: each hop is entered and taken out in its queue's object on one trace, its end is signed, verifies, and is measured", async () => {
    const scope = await makeScope();
    const done = await wholeTask(scope);
    expect(done.status).toBe("done");
    const crew = done.attempts[0]?.agent ?? "";
    // kind, the object that holds the queue
    const hops = [
      ["user_message", "proxy"],
      ["plan_request", "planner"],
      ["plan_result", "proxy"],
      ["execution_request", "runtime"],
      ["execution_result", "runtime"],
      ["verification_request", "verifier"],
      ["verification_result", "runtime"],
      ["execution_status", "proxy"],
    ] as const;
    const chainOf = (name: string): Promise<AuditView[]> =>
      name === "runtime" ? audit(scope) : inAgent(scope, name, (stores) => stores.audit.after(0, 10_000));
    const names = ["runtime", "proxy", "planner", "verifier", crew];
    const unbalanced = async () => {
      const wrong: string[] = [];
      const seen = new Set<string>();
      for (const name of names)
        for (const [id, rows] of Map.groupBy(await chainOf(name), (row) => row.message_id ?? "")) {
          const moves = rows.filter(({ event_type }) => event_type === "enqueue" || event_type === "dequeue");
          if (id === "" || moves.length === 0) continue;
          const kind = String(moves[0]?.details.message_kind);
          seen.add(`${kind} ${name}`);
          const said = moves.map(({ event_type, decision }) => `${event_type} ${decision}`);
          if (!said.includes("enqueue accepted") || !said.includes("dequeue leased") || !said.includes("dequeue acked"))
            wrong.push(`${kind} in ${name}: ${said.join(", ")}`);
          if (moves.some(({ trace_id }) => trace_id !== done.trace_id)) wrong.push(`${kind} in ${name}: another trace`);
        }
      return [...wrong, ...hops.map((hop) => hop.join(" ")).filter((hop) => !seen.has(hop))];
    };
    await until(async () => (await unbalanced()).length === 0);

    const jws = await until(async () => {
      await runDurableObjectAlarm(scope.stub);
      return (await records.checkpoints(scope.id, 0, 9)).at(-1)?.jws;
    });
    const fold = new CheckpointFold(scope.id, async (...signed) => signer?.verify(...signed) ?? false);
    for (const row of await records.checkpoints(scope.id, 0, 9)) expect(await fold.add(row.jws)).toBeNull();
    const heads = readCheckpoint(jws)?.said.heads ?? [];
    expect(heads.map(({ object }) => object)).toEqual(names.map((name) => `${scope.id}/${name}`).sort());
    for (const name of names)
      expect(
        verifyChain(
          await chainOf(name),
          heads.filter(({ object }) => object === `${scope.id}/${name}`),
        ),
      ).toMatchObject({ ok: true });
    expect((await audit(scope)).filter(({ decision }) => decision === "checkpoint_signed").length).toBe(fold.last?.seq);

    const { objects, silent } = must(await scope.runtime.figures(scope.admin));
    expect(silent).toEqual([]);
    expect(objects.map(({ name }) => name).sort()).toEqual([...names].sort());
    const waits = objects.flatMap(({ totals }) => totals.filter(({ event_name }) => event_name === "queue_wait_ms"));
    const leases = (await Promise.all(names.map(chainOf))).flat().filter(({ decision }) => decision === "leased");
    expect(waits.reduce((sum, { count }) => sum + count, 0)).toBe(leases.length);
    const ends = must(await scope.runtime.chainEnds(scope.admin));
    expect(ends).toMatchObject({ silent: [], signing: true, checkpoint: { seq: fold.last?.seq } });
    expect(ends.chains.map(({ object }) => object.split("/")[1]).sort()).toEqual([...names].sort());
  });

  it("[REC-9] a batch that is none is dropped, one that D1 refuses is tried again, and neither holds up the others", async () => {
    const scope = await makeScope();
    const links = await audit(scope);
    const object = `${scope.id}/runtime`;
    const good: RecordsBatch = { object, audit: links, telemetry: [] };
    const poison = { object, audit: [{ ...links[0], event_type: "nonsense" }], telemetry: [] };
    await env.DB.prepare("DELETE FROM audit WHERE object = ?").bind(object).run();
    const first = await carry(poison, good);
    expect([first.retryMessages, (await stored(scope)).length]).toEqual([[], links.length]);
    await env.DB.prepare("DELETE FROM audit WHERE object = ?").bind(object).run();
    // D1 takes each list whole or not at all: this one cannot be stored beside a good one.
    const store = records.store.bind(records);
    const refused = vi.spyOn(records, "store").mockImplementation(async (batches) => {
      if (batches.some((batch) => batch.object.endsWith("/proxy"))) throw new Error("D1_ERROR: no");
      await store(batches);
    });
    const second = await carry(good, { object: `${scope.id}/proxy`, audit: [], telemetry: [] });
    refused.mockRestore();
    expect(second.retryMessages.map(({ msgId }) => msgId)).toEqual(["r1"]);
    expect((await stored(scope)).length).toBe(links.length);
  });

  it("[REC-9] with D1 away a task goes on to its end, and all of it is stored when D1 is back", async () => {
    const scope = await makeScope();
    const away = vi.spyOn(records, "store").mockRejectedValue(new Error("D1_ERROR: away"));
    const done = await wholeTask(scope);
    expect(done.status).toBe("done");
    expect(await inRuntime(scope, ({ audit: log }) => log.backlog())).toBeGreaterThan(10);
    away.mockRestore();
    const [first, wait] = [limits.records_first_retry_ms, limits as { records_first_retry_ms: number }];
    wait.records_first_retry_ms = 50;
    await until(async () => {
      await scope.runtime.sweep(scope.id);
      return inRuntime(scope, ({ audit: log }) => log.backlog() === 0);
    });
    wait.records_first_retry_ms = first;
    const rows = (await stored(scope)).filter(({ object }) => object === `${scope.id}/runtime`);
    expect(verifyChain(rows as unknown as AuditView[])).toMatchObject({ ok: true });
  });
});
