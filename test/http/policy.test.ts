/** The doors of the policy: who may see, change and try one, and from which version a change is made. */
import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/domain/canonical.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";
import { limits } from "../../src/limits.ts";
import { elsewhere } from "../fakes/door-ports.ts";
import { policyOf } from "../fakes/policy-door.ts";
import { type Asking, world } from "./world.ts";

const strict = { ...defaultPolicy, tools: { ...defaultPolicy.tools, file_read: "deny" } };
const tag = (policy: object) => `"${hashOf(policy)}"`;
const current = tag(defaultPolicy);

function policyWorld() {
  const all = world();
  const put = (policy: unknown, headers: Record<string, string> = { "if-match": current }, more: Asking = {}) =>
    all.ask("PUT", "/api/policy", { as: "admin", body: { policy, reason: " no reading " }, headers, ...more });
  const evaluate = (body: unknown, as: Asking["as"] = "viewer") =>
    all.ask("POST", "/api/policy/evaluate", { as, body });
  return { ...all, put, evaluate };
}
const paths = (body: { errors: { path: string }[] }) => body.errors.map(({ path }) => path);

describe("the policy in force", () => {
  it("[HTTP-100] is shown to anybody of the scope, its hash as the ETag", async () => {
    const { ask } = policyWorld();
    const { status, body, headers } = await ask("GET", "/api/policy", { as: "viewer" });
    expect([status, headers.get("etag")]).toEqual([200, current]);
    expect(body).toEqual(policyOf(1));
    expect((await ask("GET", "/api/policy")).status).toBe(401);
  });
  it("[HTTP-101] another is put in force by an admin who names the version it was made from", async () => {
    const { put, runtime, ask } = policyWorld();
    const { status, body, headers } = await put(strict);
    expect([status, headers.get("etag")]).toEqual([200, tag(strict)]);
    expect(body).toMatchObject({
      ...{ version: 2, changed: true, changed_by: "a admin", reason: "no reading", policy_hash: hashOf(strict) },
      changes: [{ path: "tools.file_read", before: "auto_approve", after: "deny" }],
    });
    expect(runtime.policyRows).toHaveLength(2);
    expect((await ask("GET", "/api/policy", { as: "viewer" })).headers.get("etag")).toBe(tag(strict));
  });
  it("[HTTP-102] without If-Match it is 428; from another version 412 with the one in force; the same again is 200", async () => {
    const { put, runtime } = policyWorld();
    for (const headers of [{}, { "if-match": "" }, { "if-match": " " }] as Record<string, string>[]) {
      const { status, body } = await put(strict, headers);
      expect([status, body.code]).toEqual([428, "precondition_required"]);
    }
    expect(runtime.calls).not.toContain("changePolicy");
    const stale = await put(strict, { "if-match": tag({ other: 1 }) });
    expect([stale.status, stale.body.code]).toEqual([412, "precondition_failed"]);
    expect(stale.body).toMatchObject({ version: 1, policy_hash: hashOf(defaultPolicy) });
    expect((await put(strict)).status).toBe(200);
    // A lost answer is asked for again with what was seen then.
    const again = await put(strict);
    expect([again.status, again.body.changed, again.headers.get("etag")]).toEqual([200, false, tag(strict)]);
    expect((await put(defaultPolicy)).status).toBe(412);
    expect(runtime.policyRows).toHaveLength(2);
  });
  it("[HTTP-102] of two admins who saw the same version one wins", async () => {
    const { put, runtime } = policyWorld();
    const other = { ...defaultPolicy, gates: [] };
    const answers = await Promise.all([put(strict), put(other)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 412]);
    expect(runtime.policyRows).toHaveLength(2);
  });
  it("[HTTP-103] If-Match names versions: one or several in quotes; `*`, a weak tag and anything else replace nothing", async () => {
    const { put, runtime } = policyWorld();
    for (const bad of [
      "*",
      "*, *",
      hashOf(defaultPolicy),
      `'${hashOf(defaultPolicy)}'`,
      `${current},`,
      '"a" "b"',
      'w/"a"',
    ]) {
      const { status, body } = await put(strict, { "if-match": bad });
      expect([bad, status, body.code]).toEqual([bad, 400, "bad_request"]);
    }
    const weak = await put(strict, { "if-match": `W/${current}` });
    expect([weak.status, weak.body.code]).toEqual([412, "precondition_failed"]);
    expect(weak.body.detail).toContain("without the W/");
    expect((await put(strict, { "if-match": `"${"x".repeat(3_000)}"` })).status).toBe(400);
    expect(runtime.policyRows).toHaveLength(1);
    expect((await put(strict, { "if-match": `"old" , W/"x",${current}` })).status).toBe(200);
  });
  it("[HTTP-107] a key that stands twice is refused, although a parser would keep the last", async () => {
    const { put, runtime } = policyWorld();
    const text = JSON.stringify({ policy: strict });
    const raw = text.replace('"tools":{', '"tools":{"file_read":"deny","file_read":"auto_approve",');
    const { status, body } = await put(strict, { "if-match": current, "content-type": "application/json" }, { raw });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('"file_read" stands twice')]);
    expect(runtime.calls).not.toContain("changePolicy");
  });
  it("[HTTP-104] what is no policy is 400 with each problem by its path, and nothing changes", async () => {
    const { put, runtime, ask } = policyWorld();
    const wrong = await put({ ...defaultPolicy, tools: { file_read: "allow" }, roles: { king: {} } });
    expect([wrong.status, paths(wrong.body)]).toEqual([400, ["policy.tools.file_read", "policy.roles.king"]]);
    expect(wrong.body.errors[0].message).toContain('"require_approval"');
    expect(wrong.body.detail).toMatch(
      /^The policy is not right: policy\.tools\.file_read: .*\(and 1 more, see errors\)/,
    );
    const hostile = JSON.stringify({ policy: defaultPolicy }).replace(
      '"tools":{',
      '"tools":{"__proto__":"auto_approve",',
    );
    const raw = await ask("PUT", "/api/policy", { as: "admin", raw: hostile, headers: { "if-match": current } });
    expect([raw.status, paths(raw.body)]).toEqual([400, ["policy.tools.__proto__"]]);
    for (const body of [
      {},
      { policy: null },
      { policy: strict, extra: 1 },
      { policy: strict, reason: "x".repeat(2_001) },
    ])
      expect((await put(strict, undefined, { body })).status).toBe(400);
    const large = await put({ ...defaultPolicy, tools: { "*": "x".repeat(limits.policy_bytes) } });
    expect([large.status, large.body.code]).toEqual([413, "body_too_large"]);
    const deep = `{"policy":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect((await ask("PUT", "/api/policy", { as: "admin", raw: deep, headers: { "if-match": current } })).status).toBe(
      400,
    );
    expect(runtime.policyRows).toHaveLength(1);
  });
  it("[HTTP-101] only an admin changes it, of the own scope, from the own page", async () => {
    const { put, runtime, deployment, ask } = policyWorld();
    for (const as of ["viewer", "submitter", "approver"] as const) {
      const { status, body } = await put(strict, undefined, { as });
      expect([status, body.code, body.needs]).toEqual([403, "forbidden", "admin"]);
    }
    const foreign = await ask("PUT", "/api/policy", {
      authorization: `Bearer ${deployment.token("admin", elsewhere)}`,
      body: { policy: strict },
      headers: { "if-match": current },
    });
    expect(foreign.status).toBe(200);
    expect([runtime.policyRows.length, deployment.runtime(elsewhere).policyRows.length]).toEqual([1, 2]);
  });
  it("[HTTP-105] its versions are listed page by page, and each is shown as it was", async () => {
    const { put, ask } = policyWorld();
    await put(strict);
    const list = (await ask("GET", "/api/policy/versions?limit=1", { as: "viewer" })).body;
    expect(list.items).toMatchObject([{ version: 2, changed_by: "a admin", reason: "no reading" }]);
    expect(list.items[0].policy).toBeUndefined();
    const rest = (await ask("GET", `/api/policy/versions?cursor=${list.next_cursor}`, { as: "viewer" })).body;
    expect([rest.items.length, rest.next_cursor]).toEqual([1, null]);
    const first = await ask("GET", "/api/policy/versions/1", { as: "viewer" });
    expect([first.body.policy, first.headers.get("etag")]).toEqual([defaultPolicy, current]);
    for (const wrong of ["9", "0", "-1", "x", "1.5", "__proto__"])
      expect([wrong, (await ask("GET", `/api/policy/versions/${wrong}`, { as: "viewer" })).status]).toEqual([
        wrong,
        404,
      ]);
  });
});

describe("trying a policy out", () => {
  const write = { tool: "file_write", args: { path: "src/a" } };
  it("[HTTP-106] one call is answered with its rule and why, by the policy in force or by a candidate", async () => {
    const { evaluate, runtime } = policyWorld();
    expect((await evaluate({ call: write })).body).toEqual({
      ...{ decision: "ask", rule: "tool:file_write", reason: "the policy asks for file_write", notes: [] },
      policy_hash: hashOf(defaultPolicy),
    });
    const grant = { tools: ["file_write"], paths: ["src/**"] };
    expect((await evaluate({ call: write, grant })).body).toMatchObject({ decision: "run", rule: "token" });
    expect((await evaluate({ call: write, grant, role: "witness" })).body).toMatchObject({
      decision: "deny",
      rule: "role:witness",
    });
    const search = { call: { tool: "web_search", args: { query: "x" } }, holds_secret: true };
    expect((await evaluate({ ...search, taint: "web" })).body).toMatchObject({
      decision: "ask",
      rule: "gate:rule-of-two",
    });
    const candidate = { ...defaultPolicy, tools: { "*": "deny" } };
    expect((await evaluate({ call: write, policy: candidate })).body).toMatchObject({
      ...{ decision: "deny", rule: "tool:file_write", policy_hash: hashOf(candidate) },
    });
    expect(runtime.policyRows).toHaveLength(1);
  });
  it("[HTTP-106] a task's calls are answered by both, and only what would change is listed, cut short", async () => {
    const { evaluate, runtime } = policyWorld();
    const context = { role: "crew", taint: "owner", holds_secret: false, token: null } as const;
    const long = JSON.stringify({ path: `src/${"a".repeat(4_000)}` });
    const call = (tool: string, at: number) => ({
      ...{ call_id: `c${at}`, attempt_id: "attempt-1", tool, arguments: long, context },
    });
    runtime.recorded.set("task-1", { calls: [call("file_read", 1), call("file_write", 2)], left_out: 3 });
    const { status, body } = await evaluate({ task_id: "task-1", policy: strict });
    expect([status, body.checked, body.left_out, body.changed.length]).toEqual([200, 2, 3, 1]);
    expect([body.policy_hash, body.candidate_hash]).toEqual([hashOf(defaultPolicy), hashOf(strict)]);
    expect(body.changed[0]).toMatchObject({
      ...{ call_id: "c1", tool: "file_read" },
      before: { decision: "run", rule: "tool:file_read", reason: "the policy allows file_read" },
      after: { decision: "deny", rule: "tool:file_read", reason: "the policy denies file_read" },
    });
    expect(body.changed[0].arguments).toHaveLength(limits.replay_argument_bytes);
    expect((await evaluate({ task_id: "none", policy: strict })).body.code).toBe("task_not_found");
  });
  it("[HTTP-106] a question that is neither, or that cannot be judged, is told what is wrong with it", async () => {
    const { evaluate, ask } = policyWorld();
    let deep: unknown = "x";
    for (let depth = 0; depth < 100; depth++) deep = [deep];
    for (const [body, path] of [
      [{}, "call"],
      [{ call: write, task_id: "task-1", policy: strict }, "call"],
      [{ task_id: "task-1" }, "policy"],
      [{ task_id: "task-1", policy: strict, role: "crew" }, "role"],
      [{ call: { tool: "", args: {} } }, "call.tool"],
      [{ call: { tool: "x", args: deep } }, "call.args"],
      [{ call: write, role: "king" }, "role"],
      [{ call: write, grant: { tools: "x" } }, "grant.tools"],
      [{ call: write, policy: { tools: {} } }, "policy.roles"],
    ] as const) {
      const answer = await evaluate(body);
      expect([answer.status, paths(answer.body)[0]]).toEqual([400, path]);
    }
    expect((await ask("POST", "/api/policy/evaluate", { body: { call: write } })).status).toBe(401);
  });
});
