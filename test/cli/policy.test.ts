import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashOf } from "../../src/domain/canonical.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";
import { diffPolicies } from "../../src/domain/policy-change.ts";
import { policyOf } from "../fakes/policy-door.ts";
import { type Answer, command, type Fake, fakeService, json, problem } from "./fake.ts";

let fake: Fake;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "policy-"));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await fake?.close();
});
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}
const save = (name: string, value: unknown): string => {
  writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  return name;
};
const say = (url: string, argv: string[], typed: string | null = null) =>
  command(url, ["policy", ...argv], typed, folder);
const strict = { ...defaultPolicy, tools: { ...defaultPolicy.tools, shell_execute: "deny" as const } };
const edited = policyOf(3, strict, { changed_by: "ada", reason: "no\nshell" });
const put = () => fake.asked.find((one) => one.method === "PUT");

describe("policy", () => {
  it("[CLI-50] show is a table a person reads: who changed it, tools by setting, roles, rules, gates, approvals", async () => {
    const url = await serve((_, response) => json(response, 200, edited));
    const { code, out } = await say(url, ["show"]);
    expect(code).toBe(0);
    expect(out).toContain(`version 3  ${edited.changed_at}  by ada: no⟦U+000A⟧shell\n`);
    expect(out).toContain(`hash        ${hashOf(strict)}`);
    expect(out).toMatch(
      /\nTools\n {2}auto_approve {6}file_read, .*\n {2}require_approval {2}file_write, .*\n {2}deny {14}.*shell_execute/,
    );
    expect(out).toContain("  mayor     auto_approve      task_assign, agent_spawn, agent_stop, git_commit");
    expect(out).toMatch(/ {2}outside-workspace {9}deny {6}outside_workspace {2}\{"root":"\/workspace"/);
    expect(out).toMatch(/ {2}rule-of-two {15}ask {7}on_tool_call {2}rule_of_two/);
    expect(out).toContain('  own_task          "allow"');
    expect(JSON.parse((await say(url, ["show", "--json"])).out)).toEqual(edited);
    await say(url, ["show", "--version", "2/../9"]);
    expect(fake.asked.at(-1)?.path).toBe("/api/policy/versions/2%2F..%2F9");
  });
  it("[CLI-50] a policy this command does not know is shown as it stands; versions list who and why", async () => {
    const newer = { ...defaultPolicy, arguments: [{ id: "x", effect: "ask", check: "a_new_one", params: {} }] };
    const url = await serve((asked, response) => {
      const { policy, ...version } = edited;
      if (asked.path.startsWith("/api/policy/versions")) json(response, 200, { items: [version], next_cursor: "3" });
      else json(response, 200, policyOf(1, newer));
    });
    expect((await say(url, ["show"])).out).toContain('"check": "a_new_one"');
    const list = await say(url, ["versions", "--limit", "1"]);
    expect(list.out).toBe(`version 3  ${edited.changed_at}  by ada: no⟦U+000A⟧shell\n`);
    expect(list.err).toContain("--cursor 3");
    expect(fake.asked.at(-1)?.path).toBe("/api/policy/versions?limit=1");
  });

  it("[CLI-51] test says what one call would be answered and why; its exit code says it to scripts", async () => {
    let decision = "run";
    const url = await serve((_, response) =>
      json(response, 200, { decision, rule: "tool:x", reason: "be\u202ecause", notes: [], policy_hash: "h" }),
    );
    for (const [answer, word, code] of [
      ["run", "runs", 0],
      ["ask", "asks", 3],
      ["deny", "denied", 1],
    ] as const) {
      decision = answer;
      const said = await say(url, ["test", "--tool", "x", "--args", '{"path":"a"}']);
      expect([said.code, said.out]).toEqual([code, `${word}  tool:x: be⟦U+202E⟧cause\n`]);
    }
    expect(fake.asked.at(-1)?.body).toEqual({ call: { tool: "x", args: { path: "a" } } });
    save("args.json", { command: "npm test" });
    save("p.json", edited);
    await say(url, [
      "test",
      "--tool",
      "x",
      "--args",
      "@args.json",
      "--role",
      "witness",
      "--taint",
      "web",
      "--secret",
      "--policy",
      "p.json",
    ]);
    expect(fake.asked.at(-1)?.body).toEqual({
      call: { tool: "x", args: { command: "npm test" } },
      ...{ role: "witness", taint: "web", holds_secret: true, policy: strict },
    });
  });
  it("[CLI-52] test --task lists what a policy would change for the calls on record", async () => {
    const answer = { decision: "run", rule: "token", reason: "granted" };
    const changed = {
      ...{ call_id: "step-1", attempt_id: "at-1", tool: "shell_execute", arguments: '{"command":"a\u0007"}' },
      ...{ before: answer, after: { decision: "deny", rule: "tool:shell_execute", reason: "denied" } },
    };
    const found = {
      task_id: "task-1",
      policy_hash: "h",
      candidate_hash: "c",
      checked: 7,
      left_out: 2,
      changed: [changed],
    };
    const url = await serve((_, response) => json(response, 200, found));
    save("p.json", strict);
    const { code, out } = await say(url, ["test", "--task", "task-1", "--policy", "p.json"]);
    expect(code).toBe(0);
    expect(out).toBe(
      '7 calls checked, 1 would be answered otherwise; 2 others were not looked at.\nstep-1 of at-1  shell_execute  {"command":"a⟦U+0007⟧"}\n  now   runs  token: granted\n  then  denied  tool:shell_execute: denied\n',
    );
    expect(fake.asked[0]?.body).toEqual({ task_id: "task-1", policy: strict });
    for (const wrong of [
      ["--task", "task-1"],
      ["--tool", "x", "--task", "t"],
      [],
      ["--tool", "x", "--args", "{"],
      ["--tool", "x", "--policy", "none.json"],
    ])
      expect((await say(url, ["test", ...wrong])).code).toBe(2);
    expect(fake.asked).toHaveLength(1);
  });

  const service = (): Promise<string> =>
    serve((asked, response) => {
      if (asked.method === "GET") return json(response, 200, policyOf(2));
      const changes = diffPolicies(defaultPolicy, strict);
      json(response, 200, { ...edited, changed: true, changes, more_changes: 0 });
    });
  it("[CLI-53] set shows what changes and sends it only after somebody said so, for the version that was read", async () => {
    const url = await service();
    save("p.json", strict);
    const no = await say(url, ["set", "p.json"], "yes");
    expect([no.code, no.err, put()]).toEqual([1, "Nothing was changed.\n", undefined]);
    expect(no.out).toBe("Changes:\n  tools.shell_execute: require_approval -> deny\n");
    const yes = await say(url, ["set", "p.json", "--reason", "why"], "change");
    expect([yes.code, yes.out.endsWith("Version 3 is in force.\n")]).toEqual([0, true]);
    expect(put()).toMatchObject({ path: "/api/policy", body: { policy: strict, reason: "why" } });
    expect(put()?.headers["if-match"]).toBe(`"${hashOf(defaultPolicy)}"`);
    expect((await say(url, ["set", "p.json"])).code).toBe(2);
    expect((await say(url, ["set", "p.json", "--json"], "change")).code).toBe(2);
    expect(JSON.parse((await say(url, ["set", "p.json", "--json", "--yes"])).out)).toMatchObject({ version: 3 });
  });
  it("[CLI-53] a file taken with `show --json` is sent for the version it was taken from, not for the newest", async () => {
    const url = await service();
    save("p.json", { ...policyOf(1, { old: true }), policy: strict });
    await say(url, ["set", "p.json", "--yes"]);
    expect(put()?.headers["if-match"]).toBe(`"${hashOf({ old: true })}"`);
    expect(put()?.body).toEqual({ policy: strict });
  });
  it("[CLI-54] a policy changed meanwhile is 1 with what to do; what is no policy is 2 with each problem, and not sent", async () => {
    const url = await serve((asked, response) => {
      if (asked.method === "GET") return json(response, 200, policyOf(2));
      problem(response, 412, "precondition_failed", "The policy was changed meanwhile.", { version: 2 });
    });
    save("p.json", strict);
    const stale = await say(url, ["set", "p.json", "--yes"]);
    expect(stale.code).toBe(1);
    expect(stale.err).toBe(
      "The policy was changed meanwhile.\nNothing was changed. Take what is in force with `policy show --json`, change that, and set it again.\n",
    );
    const inJson = await say(url, ["set", "p.json", "--yes", "--json"]);
    expect(JSON.parse(inJson.err).error).toMatchObject({ code: "precondition_failed", status: 412 });
    const before = fake.asked.length;
    save("bad.json", { ...strict, tools: { "a\u202eb": "deny", file_read: "allow" } });
    const bad = await say(url, ["set", "bad.json", "--yes"]);
    expect(bad.code).toBe(2);
    expect(bad.err).toContain('  tools.file_read: must be one of "auto_approve"');
    expect(bad.err).toContain("tools.a⟦U+202E⟧b: a tool's name");
    save("text.json", "not json");
    for (const file of ["text.json", "missing.json"]) expect((await say(url, ["set", file, "--yes"])).code).toBe(2);
    expect(fake.asked.slice(before).filter((one) => one.method === "PUT")).toEqual([]);
  });
});
