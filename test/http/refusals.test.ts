import { describe, expect, it, vi } from "vitest";
import { refusalCodes } from "../../src/domain/refusal.ts";
import { statusOf } from "../../src/http/problem.ts";
import { limits } from "../../src/limits.ts";
import { elsewhere } from "../fakes/door-ports.ts";
import { repo, taskBody, world } from "./world.ts";

describe("problems", () => {
  it("[HTTP-1] every refusal is a problem with type, title, status, detail, code and trace id", async () => {
    const { ask } = world();
    for (const [method, path, as] of [
      ["GET", "/api/nothing", undefined],
      ["GET", "/api/tasks", undefined],
      ["PUT", "/api/tasks", undefined],
      ["GET", "/api/tasks/none", "viewer"],
      ["GET", "/api/tasks?limit=0", "viewer"],
    ] as const) {
      const answer = await ask(method, path, as === undefined ? {} : { as });
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
      expect(answer.body.status).toBe(answer.status);
      expect(answer.body.type).toBe(`urn:countersign:problem:${answer.body.code}`);
      expect(answer.body.title.length).toBeGreaterThan(3);
      expect(answer.body.detail).toMatch(/[.!?]$|scope$/);
      expect(answer.body.trace_id).toMatch(/^[0-9a-f]{32}$/);
    }
  });
  it("[HTTP-1] what an object adds to its refusal joins the problem, and cannot replace its own fields", async () => {
    const { ask, runtime } = world();
    runtime.task = async () => ({
      ok: false,
      refusal: { code: "not_in_this_state", detail: "no.", extra: { phase: "qa", status: 200, code: "x" } },
    });
    const { body, status } = await ask("GET", "/api/tasks/task-1", { as: "viewer" });
    expect(status).toBe(409);
    expect(body).toMatchObject({ phase: "qa", status: 409, code: "not_in_this_state" });
  });
  it("[HTTP-2] every refusal code has one status, none of them a success", () => {
    for (const code of refusalCodes) expect(statusOf(code)).toBeGreaterThanOrEqual(400);
    expect(statusOf("invalid_plan")).toBe(422);
    expect(statusOf("already_resolved")).toBe(409);
    expect(statusOf("approval_not_found")).toBe(404);
    expect(statusOf("newer_data")).toBe(503);
  });
  it("[HTTP-2] a scope whose data is newer than the code is 503 and says to deploy that code again", async () => {
    const { ask, runtime } = world();
    runtime.task = async () => {
      throw Object.assign(new Error("the data of queue is at version 9, this code knows 1"), { name: "NewerData" });
    };
    const { body, status } = await ask("GET", "/api/tasks/task-1", { as: "viewer" });
    expect([status, body.code]).toEqual([503, "newer_data"]);
  });
  it("[HTTP-2] a defect is 500 and says nothing of its cause; an error that passes is 503 with Retry-After", async () => {
    const { ask, runtime } = world();
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    runtime.failing.set("task", new Error("secret internals"));
    const broken = await ask("GET", "/api/tasks/task-1", { as: "viewer" });
    expect(broken.status).toBe(500);
    expect(broken.text).not.toContain("secret internals");
    expect(log.mock.calls[0]?.[0]).toContain(broken.body.trace_id);
    log.mockRestore();
    runtime.failing.set("task", Object.assign(new Error("reset"), { retryable: true }));
    const passing = await ask("GET", "/api/tasks/task-1", { as: "viewer" });
    expect([passing.status, passing.body.code, passing.headers.get("retry-after")]).toEqual([503, "unavailable", "5"]);
  });
});

describe("what does not exist", () => {
  it("[HTTP-32] an unknown path is 404, also without a token; a wrong method is 405 and names the right ones", async () => {
    const { ask } = world();
    expect((await ask("GET", "/api/nothing")).status).toBe(404);
    expect((await ask("GET", "/auth/nothing")).status).toBe(404);
    expect((await ask("GET", "/.well-known/nothing")).status).toBe(404);
    const wrong = await ask("PATCH", "/api/tasks/task-1");
    expect([wrong.status, wrong.headers.get("allow"), wrong.body.code]).toEqual([405, "GET", "method_not_allowed"]);
    expect((await ask("DELETE", "/api/tasks")).headers.get("allow")).toBe("POST, GET");
    expect((await ask("OPTIONS", "/api/tasks")).status).toBe(405);
  });
  it("[HTTP-33] another scope's id is 404, as one that nobody made", async () => {
    const { ask, deployment, runtime } = world();
    await runtime.addRepo({ ...who }, { url: repo.url, default_ref: "main" });
    const made = await ask("POST", "/api/tasks", { as: "submitter", body: taskBody });
    expect(made.status).toBe(202);
    const stranger = { authorization: `Bearer ${deployment.token("admin", elsewhere)}` };
    for (const path of ["", "/events", "/patch", "/artifacts"])
      expect((await ask("GET", `/api/tasks/${made.body.id}${path}`, stranger)).body.code).toBe("task_not_found");
    for (const path of ["/api/approvals/x", "/api/agents/x", "/api/queues/x"])
      expect((await ask("GET", path, stranger)).status).toBe(404);
    expect((await ask("GET", `/api/tasks/${"x".repeat(300)}`, stranger)).status).toBe(404);
  });
  const who = { scope_id: elsewhere, subject: "x", role: "admin", via: "token", credential_id: "x" } as const;
});

describe("bodies", () => {
  const post = (raw: string | Uint8Array<ArrayBuffer> | ReadableStream, headers = {}) => {
    const { ask, runtime } = world();
    return ask("POST", "/api/tasks", { as: "submitter", raw, headers }).then((answer) => ({ ...answer, runtime }));
  };
  it("[HTTP-7] a body over 1 MB is 413, by its declared length and by what arrives", async () => {
    const big = JSON.stringify({ ...taskBody, description: "x".repeat(limits.request_body_bytes) });
    expect((await post(big)).status).toBe(413);
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    const answer = await post(endless);
    expect([answer.status, answer.body.code]).toEqual([413, "body_too_large"]);
    expect(sent).toBeLessThan(limits.request_body_bytes + 10 * 65_536);
  });
  it("[HTTP-7] a stranger's body is not read at all", async () => {
    const { ask } = world();
    let pulled = 0;
    const pull = () => {
      pulled += 1;
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    expect((await ask("POST", "/api/tasks", { raw: body })).status).toBe(401);
    expect(pulled).toBe(0);
  });
  it("[HTTP-8] another content type is 415, and so is none", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"])
      expect((await post("{}", { "content-type": type })).body.code).toBe("unsupported_media_type");
    expect((await world().ask("POST", "/api/tasks", { as: "submitter" })).status).toBe(415);
    expect((await post("{}", { "content-type": "Application/JSON; charset=utf-8" })).status).toBe(400);
  });
  it("[HTTP-8] malformed JSON is 400 and names the place", async () => {
    const answer = await post('{"title": "a",\n  "repo": 1,}');
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain("line 2, column 13");
    expect((await post('{"title": "a"')).body.detail).toContain("line 1, column");
    expect((await post("nope")).status).toBe(400);
    expect((await post("")).body.detail).toContain("empty");
    expect(answer.runtime.calls).not.toContain("createTask");
  });
  it("[HTTP-8] bytes that are not UTF-8 and half a surrogate pair are 400", async () => {
    expect((await post(new Uint8Array([0x7b, 0xff, 0x7d]))).body.detail).toContain("UTF-8");
    expect((await post('{"title": "\\ud800", "repo": {"url": "https://x.example/a"}}')).body.detail).toContain(
      "surrogate",
    );
    expect((await post(`{"title": "\\ud800", "x": ${"[".repeat(5000)}${"]".repeat(5000)}}`)).status).toBe(400);
  });
  it("[HTTP-9] an unknown field is 400 and named; every wrong field is listed", async () => {
    const unknown = await post(JSON.stringify({ ...taskBody, titel: "x", repo: { ...repo, brnach: "y" } }));
    expect(unknown.status).toBe(400);
    expect(unknown.body.errors.map((error: { path: string }) => error.path).sort()).toEqual(["repo.brnach", "titel"]);
    expect(unknown.body.detail).toContain("unknown field");
    const wrong = await post(JSON.stringify({ title: " ", repo: { url: 5 } }));
    expect(wrong.body.errors.map((error: { path: string }) => error.path)).toEqual(["title", "repo.url"]);
    for (const raw of ["[]", "null", "5", '"x"', '{"__proto__": {"admin": true}}'])
      expect((await post(raw)).status).toBe(400);
  });
  it("[HTTP-9] a wrong query is 400: unknown, out of range, twice", async () => {
    const { ask } = world();
    for (const query of [
      "limit=0",
      "limit=201",
      "limit=x",
      "limit=1&limit=2",
      "statsu=done",
      "status=finished",
      "cursor=",
    ])
      expect((await ask("GET", `/api/tasks?${query}`, { as: "viewer" })).status).toBe(400);
  });
});
