import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { verifyFile } from "../../src/domain/audit-file.ts";
import { checkpointHash, readCheckpoint } from "../../src/domain/checkpoint.ts";
import type { AuditView } from "../../src/domain/record-view.ts";
import { limits } from "../../src/limits.ts";
import { chainOf, fileOf, headOf, makeKey, signCheckpoint, verifyWith } from "../fakes/audit-chains.ts";
import { home } from "../fakes/door-ports.ts";
import { parseMetrics } from "../fakes/prometheus.ts";
import { world } from "./world.ts";

const key = makeKey("k1");
const runtimeRows = chainOf("runtime", 6, home);
const proxyRows = chainOf("proxy", 4, home);
const [runtime, proxy] = [`${home}/runtime`, `${home}/proxy`];
const first = signCheckpoint(key, null, [headOf(proxyRows, 1), headOf(runtimeRows, 2)], { seq: 1, scope: home });
const second = signCheckpoint(key, first, [headOf(proxyRows, 3), headOf(runtimeRows, 5)], { seq: 2, scope: home });
const rowOf = (jws: string) => {
  const said = readCheckpoint(jws)?.said ?? { seq: 0, at: "" };
  return { scope_id: home, seq: said.seq, hash: checkpointHash(jws), jws, at: said.at };
};

/** A deployment whose D1 holds all of both chains and both checkpoints, and whose objects know it. */
async function stored(more: { runtime?: AuditView[]; proxy?: AuditView[]; checkpoints?: string[] } = {}) {
  const made = world();
  const { deployment } = made;
  deployment.verifying = verifyWith(key);
  deployment.publicKeys.splice(0, 1, key.jwk);
  const batch = (object: string, audit: AuditView[]) => ({ object, audit, telemetry: [] });
  await deployment.records.store([
    batch(proxy, more.proxy ?? proxyRows),
    {
      ...batch(runtime, more.runtime ?? runtimeRows),
      checkpoints: (more.checkpoints ?? [first, second]).map(rowOf),
    },
    batch("otherotherother1/runtime", chainOf("runtime", 3, "otherotherother1")),
  ]);
  const newest = rowOf(second);
  made.runtime.ends = {
    chains: [
      { ...headOf(runtimeRows), shipped: 6 },
      { ...headOf(proxyRows), shipped: 4 },
    ],
    silent: [],
    checkpoint: { seq: newest.seq, hash: newest.hash, at: newest.at, shipped: 2 },
    signing: true,
  };
  const sql = (query: string, ...params: (string | number)[]) =>
    deployment.d1.db
      .prepare(query)
      .bind(...params)
      .run();
  const verify = async (query = "") => (await made.ask("GET", `/api/audit/verify${query}`, { as: "viewer" })).body;
  const fault = async () => {
    const { ok, fault: found } = await verify();
    return ok ? "ok" : `${found.fault} ${found.object.split("/")[1]} ${found.seq}`;
  };
  return { ...made, sql, verify, fault };
}

let log: { mockRestore(): void };
beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

describe("the stored audit, verified", () => {
  it("[HTTP-50] a viewer is told of every chain how long it is, how far it is signed, and that all is well", async () => {
    const { verify, ask } = await stored();
    expect(await verify()).toEqual({
      ok: true,
      checked_rows: 10,
      chains: [
        { object: proxy, rows: 4, head: { seq: 4, hash: headOf(proxyRows).hash }, signed_up_to: 3, pending: 0 },
        { object: runtime, rows: 6, head: { seq: 6, hash: headOf(runtimeRows).hash }, signed_up_to: 5, pending: 0 },
      ],
      checkpoints: { checked: 2, newest: { seq: 2, at: rowOf(second).at }, pending: 0 },
      signing: true,
      unanswered: [],
      incomplete: null,
      next_cursor: null,
      fault: null,
    });
    expect((await ask("GET", "/api/audit/verify")).status).toBe(401);
  });
  it("[HTTP-51] a row altered, missing, rewritten or cut off, a chain or a checkpoint gone, each is named, and the answer is 200", async () => {
    const tampered = async (query: string, ...params: (string | number)[]) => {
      const { sql, fault } = await stored();
      await sql(query, ...params);
      return fault();
    };
    expect(await tampered("UPDATE audit SET reason = 'x' WHERE object = ? AND seq = 2", runtime)).toBe(
      "altered runtime 2",
    );
    expect(await tampered("UPDATE audit SET actor = 'x' WHERE object = ? AND seq = 2", runtime)).toBe(
      "altered runtime 2",
    );
    expect(await tampered("UPDATE audit SET details = '{' WHERE object = ? AND seq = 2", runtime)).toBe(
      "altered runtime 2",
    );
    expect(await tampered("UPDATE audit SET scope_id = 'x' WHERE object = ? AND seq = 2", proxy)).toBe(
      "altered proxy 2",
    );
    expect(await tampered("DELETE FROM audit WHERE object = ? AND seq = 3", proxy)).toBe("missing proxy 3");
    expect(await tampered("DELETE FROM audit WHERE object = ? AND seq > 3", runtime)).toBe("truncated runtime 4");
    // Past the last checkpoint only the living object knows.
    expect(await tampered("DELETE FROM audit WHERE object = ? AND seq > 5", runtime)).toBe("truncated runtime 6");
    expect(await tampered("DELETE FROM audit WHERE object = ?", proxy)).toBe("truncated proxy 1");
    expect(await tampered("DELETE FROM checkpoints WHERE scope_id = ? AND seq = 1", home)).toBe(
      "missing checkpoints 1",
    );
    expect(await tampered("DELETE FROM checkpoints WHERE scope_id = ? AND seq = 2", home)).toBe(
      "truncated checkpoints 2",
    );
    expect(await tampered("UPDATE checkpoints SET at = 'x' WHERE scope_id = ? AND seq = 2", home)).toBe(
      "altered checkpoints 2",
    );
    const swapped = await stored();
    for (const [from, to] of [
      [2, 99],
      [3, 2],
      [99, 3],
    ] as const)
      await swapped.sql("UPDATE audit SET seq = ? WHERE object = ? AND seq = ?", to, runtime, from);
    expect(await swapped.fault()).toBe("altered runtime 2");
    const forgedKey = makeKey("k1");
    const forged = signCheckpoint(forgedKey, first, [headOf(runtimeRows, 5)], { seq: 2, scope: home });
    expect(await (await stored({ checkpoints: [first, forged] })).fault()).toBe("altered checkpoints 2");
    const foreign = chainOf("zzz", 1, home).map((row) => ({ ...row, scope_id: "otherotherother1" }));
    const mixed = await stored();
    await mixed.deployment.records.store([{ object: `${home}/zzz`, audit: foreign, telemetry: [] }]);
    expect(await mixed.fault()).toBe("altered zzz 1");
  });
  it("[HTTP-51] a chain rewritten whole is found by the object that holds another, also where nothing is signed", async () => {
    const { fault, runtime: object } = await stored({ checkpoints: [] });
    object.ends = { ...object.ends, checkpoint: null };
    expect(await fault()).toBe("ok");
    const held = { object: runtime, seq: 5, hash: "f".repeat(64), shipped: 5 };
    object.ends = { ...object.ends, chains: [held] };
    expect(await fault()).toBe("altered runtime 5");
  });
  it("[HTTP-52] rows and checkpoints still on their way are pending and no fault, signed or not; an object that does not answer is named", async () => {
    const late = await stored({ runtime: runtimeRows.slice(0, 3), checkpoints: [first] });
    late.runtime.ends = {
      ...late.runtime.ends,
      chains: [
        { ...headOf(runtimeRows), shipped: 3 },
        { ...headOf(proxyRows), shipped: 4 },
      ],
      checkpoint: { ...rowOf(second), shipped: 1 },
    };
    const found = await late.verify();
    expect(found).toMatchObject({ ok: true, checkpoints: { checked: 1, pending: 1 } });
    expect(found.chains[1]).toMatchObject({ object: runtime, rows: 3, signed_up_to: 2, pending: 3 });
    const ahead = await stored({ runtime: runtimeRows.slice(0, 3) });
    ahead.runtime.ends = { ...ahead.runtime.ends, chains: [{ ...headOf(runtimeRows), shipped: 3 }], silent: ["proxy"] };
    expect(await ahead.verify()).toMatchObject({ ok: true, unanswered: ["proxy"], incomplete: "proxy did not answer" });
  });
  it("[HTTP-53] what does not fit one call is said to be left out, and goes on at the cursor; a chain missing in between is still missed", async () => {
    const long = chainOf("agent", 2_500, home);
    const { verify, deployment, runtime: object } = await stored();
    for (let at = 0; at < long.length; at += 100)
      await deployment.records.store([{ object: `${home}/agent`, audit: long.slice(at, at + 100), telemetry: [] }]);
    object.ends = { ...object.ends, chains: [...object.ends.chains, { ...headOf(long), shipped: 2_500 }] };
    // A limit is a constant to all but this test, which would need very many rows.
    const shortened = limits as { verify_rows: number };
    const most = limits.verify_rows;
    shortened.verify_rows = 1_000;
    const calls: { rows: number; left: string | null }[] = [];
    let cursor = "";
    for (let n = 0; n < 10; n++) {
      const found = await verify(cursor);
      expect(found.ok).toBe(true);
      calls.push({ rows: found.checked_rows, left: found.incomplete });
      if (found.next_cursor === null) break;
      cursor = `?cursor=${found.next_cursor}`;
    }
    expect((await verify(cursor)).ok).toBe(true);
    const gone = { ...headOf(long), object: `${home}/crew-1`, shipped: 1 };
    object.ends = { ...object.ends, chains: [...object.ends.chains, gone] };
    expect((await verify(cursor)).fault).toMatchObject({ fault: "truncated", object: `${home}/crew-1`, seq: 1 });
    shortened.verify_rows = most;
    expect(calls.map(({ rows }) => rows)).toEqual([1_000, 1_000, 510]);
    object.ends = { ...object.ends, chains: object.ends.chains.slice(0, 3) };
    expect((await verify("?cursor=invented")).checked_rows).toBe(2_510);
    expect(calls[0]?.left).toContain(`rows after row 1000 of ${home}/agent were not read`);
    expect(calls.at(-1)?.left).toBeNull();
  });
  it("[HTTP-53] D1 down is 503 and stops nothing else", async () => {
    const { ask, deployment } = await stored();
    deployment.d1.down = true;
    for (const path of ["/api/audit/verify", "/api/audit/export", "/api/telemetry"])
      expect((await ask("GET", path, { as: "viewer" })).status, path).toBe(503);
    expect((await ask("GET", "/api/metrics", { as: "viewer" })).status).toBe(200);
  });
});

describe("the audit as a file", () => {
  async function exported(made: Awaited<ReturnType<typeof stored>>) {
    const answer = await made.ask("GET", "/api/audit/export", { as: "viewer" });
    return { ...answer, lines: answer.text.trimEnd().split("\n") };
  }
  async function* from(lines: readonly string[]) {
    yield* lines;
  }

  it("[HTTP-54] it holds the keys, one scope's rows by object and seq, the checkpoints and a count, and verifies offline", async () => {
    const made = await stored();
    const { status, headers, lines, text } = await exported(made);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/x-ndjson");
    expect(text).not.toContain("otherother");
    const header = JSON.parse(lines[0] ?? "");
    expect(header).toMatchObject({
      format: "countersign-audit",
      version: 1,
      scope_id: home,
      keys: { keys: [key.jwk] },
    });
    expect(lines.slice(1, -1)).toEqual(fileOf([...proxyRows, ...runtimeRows], [first, second], [key]).slice(1, -1));
    expect(
      await verifyFile(
        () => from(lines),
        () => verifyWith(key),
      ),
    ).toMatchObject({ ok: true, rows: 10, checkpoints: 2 });
  });
  it("[HTTP-54] it is made as it is read, a page at a time", async () => {
    const made = await stored();
    const long = chainOf("agent", 5_000, home);
    for (let at = 0; at < long.length; at += 100)
      await made.deployment.records.store([
        { object: `${home}/agent`, audit: long.slice(at, at + 100), telemetry: [] },
      ]);
    const asked = vi.spyOn(made.deployment.records, "chainRows");
    const response = await made.send("GET", "/api/audit/export", { as: "viewer" });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(asked.mock.calls.length).toBeLessThanOrEqual(3);
    await reader?.cancel();
    expect(asked.mock.calls.length).toBeLessThanOrEqual(3);
  });
  it("[HTTP-55] a checkpoint whose rows are still on their way is left out with those behind it; without an object's answer there is no file", async () => {
    const made = await stored({ runtime: runtimeRows.slice(0, 3) });
    made.runtime.ends = {
      ...made.runtime.ends,
      chains: [
        { ...headOf(runtimeRows), shipped: 3 },
        { ...headOf(proxyRows), shipped: 4 },
      ],
    };
    const { lines } = await exported(made);
    expect(
      await verifyFile(
        () => from(lines),
        () => verifyWith(key),
      ),
    ).toMatchObject({ ok: true, rows: 7, checkpoints: 1 });
    made.runtime.ends = { ...made.runtime.ends, silent: ["crew-1"] };
    const refused = await exported(made);
    expect([refused.status, refused.body.detail]).toEqual([503, expect.stringContaining("crew-1")]);
  });
});

describe("what is measured", () => {
  it("[HTTP-56] single measurements are searched in the caller's scope, by name, queue and time, a page at a time", async () => {
    const { ask, deployment } = world();
    const row = (scope: string, seq: number, queue_name: string) => ({
      object: `${scope}/proxy`,
      seq,
      event_name: "queue_wait_ms" as const,
      scope_id: scope,
      trace_id: null,
      queue_name,
      message_id: null,
      value: seq,
      labels: {},
      created_at: `2026-01-0${seq}T00:00:00.000Z`,
    });
    const all = [1, 2, 3].map((seq) => row(home, seq, seq === 2 ? "other" : "inbox"));
    await deployment.records.store([
      { object: `${home}/proxy`, audit: [], telemetry: all },
      { object: "otherotherother1/proxy", audit: [], telemetry: [row("otherotherother1", 1, "inbox")] },
    ]);
    const seqs = async (query: string) => {
      const { body } = await ask("GET", `/api/telemetry${query}`, { as: "viewer" });
      return [body.items.map((item: { seq: number }) => item.seq), body.next_cursor !== null];
    };
    expect(await seqs("")).toEqual([[1, 2, 3], false]);
    expect(await seqs("?queue_name=inbox&limit=1")).toEqual([[1], true]);
    expect(await seqs("?since=2026-01-02T01:00:00%2B01:00")).toEqual([[2, 3], false]);
    expect(await seqs("?event_name=lease_expired")).toEqual([[], false]);
    for (const bad of ["?event_name=none", "?since=yesterday", "?limit=0", "?x=1"])
      expect((await ask("GET", `/api/telemetry${bad}`, { as: "viewer" })).status, bad).toBe(400);
  });
  it("[HTTP-57] metrics are Prometheus' text, from the scope's objects, for a viewer", async () => {
    const { ask, runtime: object } = world();
    object.counted = {
      silent: [],
      objects: [
        {
          name: "runtime",
          totals: [{ event_name: "queue_wait_ms", queue_name: "runtime_queue", bucket: 1, count: 3, sum: 60 }],
          queues: [{ name: "runtime_queue", queued: 2, leased: 0, dead: 0, oldest_at: null }],
          backlog: { audit: 0, telemetry: 0, checkpoints: 0 },
        },
      ],
    };
    const { status, headers, text } = await ask("GET", "/api/metrics", { as: "viewer" });
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    const metrics = parseMetrics(text);
    expect(metrics.value("countersign_queue_wait_seconds_count", { queue: "runtime_queue" })).toBe(3);
    expect(metrics.value("countersign_queue_queued", { queue: "runtime_queue" })).toBe(2);
    expect((await ask("GET", "/api/metrics")).status).toBe(401);
  });
});
