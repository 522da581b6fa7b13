/** Keys of a real service, rotated while an approved call waits. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { run } from "../../src/cli/run.ts";
import { runKeys } from "../../src/dev/key-commands.ts";
import { keySet } from "../../src/domain/audit-file.ts";
import { issuedToken } from "../../src/domain/token.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road } from "./road.ts";

let road: Road;
let folder: string;
beforeAll(async () => {
  road = await openRoad();
  folder = mkdtempSync(join(tmpdir(), "countersign-journey-keys-"));
});
afterAll(async () => {
  await road.close();
  rmSync(folder, { recursive: true, force: true });
});

const keys = (...argv: string[]) =>
  runKeys([...argv, "--state", road.service.state], { out: () => undefined, err: () => undefined });
const published = async () => (await road.client.get("/.well-known/jwks.json", keySet)).keys.map((key) => key.kid);
const tokensOf = async (approval: string) =>
  (await road.client.get(`/api/approvals/${approval}/tokens`, z.looseObject({ items: z.array(issuedToken) }))).items;

describe("keys", () => {
  it("[TOK-47] rotated while a call waits: what the old key signed goes all the way to the branch, the answer carries the new key, and both verify offline", async () => {
    const [old = ""] = await published();
    const task = await road.ask(planOf([{ id: "fix", tools: [], steps: ["echo rotated >> src/rotated.txt"] }]));
    const plan = await road.countersign(task);
    const call = await road.card(task, "tool_call");
    expect(keys("rotate")).toBe(1);
    expect(await road.service.stop()).toBe(0);
    expect(keys("rotate")).toBe(0);
    await road.service.restart();
    const kids = await published();
    const fresh = kids.find((kid) => kid !== old) ?? "";
    expect(kids.sort()).toEqual([old, fresh].sort());

    await road.approve(call);
    expect(await road.ended(task)).toMatchObject({ status: "done" });
    expect(road.repo.file(`countersign/${task}`, "src/rotated.txt")).toBe("rotated\n");
    const { trace_id } = await road.task(task);
    const checks = (await road.audit(trace_id)).filter((row) => row.event_type === "check" && row.details.entry);
    const entries = ["attempt_start", "tool_call", "resume", "verification", "merge", "publish"];
    expect([...new Set(checks.map((row) => row.details.entry))].sort()).toEqual(entries.sort());
    expect([...new Set(checks.map((row) => `${row.decision} ${row.details.kid}`))]).toEqual([`valid ${old}`]);
    const [forPlan, forCall] = [await tokensOf(plan.id), await tokensOf(call.id)];
    expect([forPlan, forCall]).toMatchObject([
      [{ kid: old, life: "executed" }],
      [{ kid: fresh, life: "executed", spent_at: expect.any(String) }],
    ]);

    const [file, keyFile] = [join(folder, "tokens.json"), join(folder, "jwks.json")];
    writeFileSync(file, JSON.stringify({ items: [...forPlan, ...forCall] }));
    writeFileSync(keyFile, JSON.stringify(await road.client.get("/.well-known/jwks.json", keySet)));
    const said: string[] = [];
    const terminal = {
      out: (line: string) => said.push(line),
      err: (line: string) => said.push(line),
      ask: null,
      cwd: folder,
    };
    expect(await run(["token", "verify", file, "--keys", keyFile], {}, terminal)).toBe(0);
    expect(said.join("\n")).toMatch(/VALID[\s\S]*work item[\s\S]*VALID[\s\S]*one call of shell_execute/);
  });
});
