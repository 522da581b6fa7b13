import { describe, expect, it, vi } from "vitest";
import { ArtifactFailure, SandboxFailure } from "../../src/agents/ports.ts";
import { home } from "../fakes/door-ports.ts";
import { attemptOf, itemOf } from "../fakes/views.ts";
import { plan, repo, taskBody, world } from "./world.ts";

function registered() {
  const all = world();
  all.runtime.repoRows.set(repo.url, { url: repo.url, default_ref: "main", added_by: "x", added_at: "x" });
  return all;
}

describe("asking for a task", () => {
  it("[HTTP-11] a task with a good plan and repository is accepted with its place", async () => {
    const { ask, deployment } = registered();
    const made = await ask("POST", "/api/tasks", { as: "submitter", body: { ...taskBody, plan } });
    expect([made.status, made.headers.get("location")]).toEqual([202, "/api/tasks/task-1"]);
    expect(made.body).toMatchObject({ id: "task-1", title: taskBody.title, created_by: "a submitter" });
    expect(deployment.resolved).toEqual([`${repo.url} main`]);
    expect(deployment.resolvedFor).toEqual([home]);
    expect((await ask("GET", "/api/tasks/task-1", { as: "viewer" })).body.id).toBe("task-1");
    expect((await ask("GET", "/api/tasks/task-1", { as: "viewer" })).status).toBe(200);
  });
  it("[HTTP-11] tasks come in pages, by status when asked", async () => {
    const { ask } = registered();
    for (let made = 0; made < 3; made++) await ask("POST", "/api/tasks", { as: "submitter", body: taskBody });
    await ask("POST", "/api/tasks/task-2/cancel", { as: "submitter", body: {} });
    const first = await ask("GET", "/api/tasks?limit=2", { as: "viewer" });
    expect([first.body.items.length, first.body.next_cursor]).toEqual([2, "2"]);
    const rest = await ask("GET", `/api/tasks?limit=2&cursor=${first.body.next_cursor}`, { as: "viewer" });
    expect([rest.body.items.length, rest.body.next_cursor]).toEqual([1, null]);
    const cancelled = await ask("GET", "/api/tasks?status=cancelled", { as: "viewer" });
    expect(cancelled.body.items.map((task: { id: string }) => task.id)).toEqual(["task-2"]);
  });
  it("[HTTP-12] a bad plan is 422 with line and column, before anything is asked or stored", async () => {
    const { ask, runtime, deployment } = registered();
    for (const bad of [
      plan.replace("goal:", "gaol:"),
      plan.replace("id: fix", "id: fix\n    depends_on: [none]"),
      "no plan",
      "---\na: [\n---\n",
    ]) {
      const answer = await ask("POST", "/api/tasks", { as: "submitter", body: { ...taskBody, plan: bad } });
      expect([answer.status, answer.body.code]).toEqual([422, "invalid_plan"]);
      expect(answer.body.problems.length).toBeGreaterThan(0);
      for (const problem of answer.body.problems) {
        expect(problem.line).toBeGreaterThan(0);
        expect(problem.column).toBeGreaterThan(0);
        expect(problem.message).not.toBe("");
      }
    }
    expect(runtime.calls).not.toContain("hasRepo");
    expect(deployment.resolved).toEqual([]);
  });
  it("[MIND-1] a plan for an agent that thinks is taken where a model for executors is configured, and else told what to set", async () => {
    const { ask, deployment } = registered();
    const thinks = plan.replace("runner: steps", "runner: loop").replace("goal:", "budget: { tokens: 1000 }\ngoal:");
    const asks = () => ask("POST", "/api/tasks", { as: "submitter", body: { ...taskBody, plan: thinks } });
    const refused = await asks();
    expect([refused.status, refused.body.code, refused.body.problems.length]).toEqual([422, "invalid_plan", 1]);
    expect(refused.body.detail).toContain("MODEL_EXECUTOR");
    deployment.executorMind = true;
    expect((await asks()).status).toBe(202);
  });
  it("[HTTP-13] an unregistered repository is 422 and nothing is fetched from it", async () => {
    const { ask, deployment, runtime } = world();
    for (const as of ["submitter", "admin"] as const) {
      const answer = await ask("POST", "/api/tasks", { as, body: taskBody });
      expect([answer.status, answer.body.code]).toEqual([422, "repo_not_registered"]);
    }
    expect(deployment.resolved).toEqual([]);
    expect(runtime.calls).not.toContain("createTask");
  });
  it("[HTTP-13] on the local host an admin's task registers its repository; a submitter's does not", async () => {
    const { ask, deployment, runtime } = world();
    deployment.localHost = true;
    const body = { title: "x", repo: { url: "/srv/code/" } };
    expect((await ask("POST", "/api/tasks", { as: "submitter", body })).body.code).toBe("repo_not_registered");
    const made = await ask("POST", "/api/tasks", { as: "admin", body });
    expect(made.body.repo).toEqual({ url: "file:///srv/code", ref: "HEAD" });
    expect([...runtime.repoRows.keys()]).toEqual(["file:///srv/code"]);
    expect((await ask("POST", "/api/tasks", { as: "submitter", body })).status).toBe(202);
  });
  it("[HTTP-13] what the sandbox host says of a repository becomes a problem that says what to do", async () => {
    const { ask, deployment, runtime } = registered();
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (const [code, status, answered] of [
      ["repo_unreachable", 422, "repo_unreachable"],
      ["ref_not_found", 422, "ref_not_found"],
      ["repo_not_allowed", 422, "repo_not_allowed"],
      ["unreachable", 503, "unavailable"],
      ["internal", 503, "unavailable"],
    ] as const) {
      deployment.resolving = () => {
        throw new SandboxFailure(code, "the host's words");
      };
      const answer = await ask("POST", "/api/tasks", { as: "submitter", body: taskBody });
      expect([answer.status, answer.body.code]).toEqual([status, answered]);
    }
    expect(log).not.toHaveBeenCalled();
    deployment.resolving = () => {
      throw new Error("a defect");
    };
    expect((await ask("POST", "/api/tasks", { as: "submitter", body: taskBody })).status).toBe(500);
    log.mockRestore();
    expect(runtime.calls).not.toContain("createTask");
  });
  it("[HTTP-36] a local repository below none of the allowed folders is refused with the flag that allows it", async () => {
    const { ask, deployment } = registered();
    const asked = async (said: string): Promise<string> => {
      deployment.resolving = () => {
        throw new SandboxFailure("repo_not_allowed", said);
      };
      return (await ask("POST", "/api/tasks", { as: "submitter", body: taskBody })).body.detail;
    };
    const detail = await asked("the repository /srv/a is not below any of the folders in REPO_ROOTS");
    expect(detail).toContain("--repo-root DIR");
    expect(detail).not.toContain("REPO_ROOTS");
    expect(await asked("it leads to an address in a private range")).toContain("private range");
  });
  it("[HTTP-13] a repository or ref that can never be right is refused without asking anyone", async () => {
    const { ask, deployment, runtime } = registered();
    for (const url of ["ssh://git@x.example/a", "https://u:p@git.example/a/b", "/etc", "https://127.0.0.1/a"])
      expect((await ask("POST", "/api/tasks", { as: "admin", body: { title: "x", repo: { url } } })).body.code).toBe(
        "repo_not_allowed",
      );
    const option = { title: "x", repo: { url: repo.url, ref: "--upload-pack=x" } };
    expect((await ask("POST", "/api/tasks", { as: "admin", body: option })).body.code).toBe("ref_not_found");
    expect([deployment.resolved, runtime.calls.includes("hasRepo")]).toEqual([[], false]);
  });
  it("[HTTP-15] the same key and body give the first answer again; another body is refused", async () => {
    const { ask, runtime } = registered();
    const headers = { "idempotency-key": "k-1" };
    const first = await ask("POST", "/api/tasks", { as: "submitter", body: taskBody, headers });
    expect(first.headers.get("idempotent-replay")).toBeNull();
    const reordered = { repo: { ref: repo.ref, url: repo.url }, title: taskBody.title };
    const again = await ask("POST", "/api/tasks", { as: "submitter", body: reordered, headers });
    expect([again.status, again.text, again.headers.get("idempotent-replay")]).toEqual([202, first.text, "true"]);
    expect(runtime.taskRows.size).toBe(1);
    const other = await ask("POST", "/api/tasks", { as: "submitter", body: { ...taskBody, title: "Other" }, headers });
    expect([other.status, other.body.code]).toEqual([422, "idempotency_mismatch"]);
    const bad = { as: "submitter", body: taskBody, headers: { "idempotency-key": "x".repeat(256) } } as const;
    expect((await ask("POST", "/api/tasks", bad)).body.errors[0].path).toBe("idempotency-key");
  });
});

describe("a task's life by HTTP", () => {
  it("[HTTP-16] a submitter says more and cancels, once; nobody does either to a task that is not there", async () => {
    const { ask, runtime } = registered();
    await ask("POST", "/api/tasks", { as: "submitter", body: taskBody });
    const said = await ask("POST", "/api/tasks/task-1/messages", {
      as: "submitter",
      body: { text: " also the header " },
    });
    expect([said.status, said.body.message_id]).toEqual([202, "message-1"]);
    expect(runtime.messages).toEqual(["also the header"]);
    expect((await ask("POST", "/api/tasks/task-1/messages", { as: "submitter", body: { text: " " } })).status).toBe(
      400,
    );
    const cancelled = await ask("POST", "/api/tasks/task-1/cancel", { as: "submitter", body: {} });
    expect(cancelled.body).toMatchObject({ status: "cancelled", reason: "cancelled by a submitter" });
    expect((await ask("POST", "/api/tasks/task-1/cancel", { as: "submitter", body: {} })).body.code).toBe(
      "not_in_this_state",
    );
    expect((await ask("POST", "/api/tasks/none/cancel", { as: "submitter", body: {} })).body.code).toBe(
      "task_not_found",
    );
    expect((await ask("POST", "/api/tasks/none/messages", { as: "submitter", body: { text: "x" } })).status).toBe(404);
  });
  it("[HTTP-14] the patch is the newest of every item, in the items' order, as text git can apply", async () => {
    const { ask, runtime, deployment, send } = registered();
    await ask("POST", "/api/tasks", { as: "submitter", body: taskBody });
    expect((await ask("GET", "/api/tasks/task-1/patch", { as: "viewer" })).body.code).toBe("not_found");
    const task = runtime.taskRows.get("task-1");
    if (task === undefined) throw new Error("no task");
    const attempts = [attemptOf("b1", "b", 1), attemptOf("a1", "a", 1), attemptOf("a2", "a", 2)];
    runtime.taskRows.set("task-1", { ...task, items: [itemOf("a"), itemOf("b")], attempts });
    runtime.patches.set(
      "task-1",
      ["a2", "b1", "a1"].map((attempt_id) => ({ attempt_id, key: `${attempt_id}.patch`, bytes: 3 })),
    );
    for (const id of ["a1", "a2", "b1"])
      await deployment.artifacts.put(`${id}.patch`, new TextEncoder().encode(`${id}\n`));
    const whole = await send("GET", "/api/tasks/task-1/patch", { as: "viewer" });
    expect([await whole.text(), whole.headers.get("content-type")]).toEqual(["a2\nb1\n", "text/x-diff; charset=utf-8"]);
    expect((await ask("GET", "/api/tasks/task-1/patch?attempt=a1", { as: "viewer" })).text).toBe("a1\n");
    expect((await ask("GET", "/api/tasks/task-1/patch?attempt=none", { as: "viewer" })).status).toBe(404);
    const listed = await ask("GET", "/api/tasks/task-1/artifacts", { as: "viewer" });
    expect(listed.body.items).toContainEqual({ attempt_id: "b1", kind: "patch", bytes: 3 });
    expect(listed.text).not.toContain("b1.patch");
    deployment.stored.delete("b1.patch");
    expect((await ask("GET", "/api/tasks/task-1/patch", { as: "viewer" })).body.code).toBe("unavailable");
    deployment.artifacts.get = () => Promise.reject(new ArtifactFailure("away"));
    const away = await ask("GET", "/api/tasks/task-1/patch", { as: "viewer" });
    expect([away.status, away.body.code]).toEqual([503, "unavailable"]);
  });
});

describe("repositories", () => {
  const add = (all: ReturnType<typeof world>, url: string) =>
    all.ask("POST", "/api/repos", { as: "admin", body: { url } });
  it("[HTTP-21] an admin registers a repository that answers, in its normal form, and removes it in any form", async () => {
    const all = world();
    const made = await add(all, "https://Git.Example:443/a//b/");
    expect([made.status, made.body.url, made.body.default_ref]).toEqual([201, repo.url, "HEAD"]);
    expect((await add(all, repo.url)).status).toBe(201);
    expect((await all.ask("GET", "/api/repos", { as: "viewer" })).body.items).toHaveLength(1);
    const gone = `/api/repos?url=${encodeURIComponent("https://git.example/a/b/")}`;
    expect((await all.ask("DELETE", gone, { as: "admin" })).body).toEqual({ url: repo.url });
    expect((await all.ask("DELETE", gone, { as: "admin" })).body.code).toBe("repo_not_found");
    expect((await all.ask("DELETE", "/api/repos", { as: "admin" })).status).toBe(400);
  });
  it("[HTTP-21] one that does not answer or may not be used is not registered", async () => {
    const all = world();
    expect((await add(all, "git://x.example/a")).body.code).toBe("repo_not_allowed");
    all.deployment.resolving = () => {
      throw new SandboxFailure("repo_unreachable", "x");
    };
    expect((await add(all, repo.url)).body.code).toBe("repo_unreachable");
    expect(all.runtime.calls).not.toContain("addRepo");
  });
});

describe("agents, queues, records", () => {
  it("[HTTP-19] agents show their state, life and inbox", async () => {
    const { ask } = world();
    const get = (path: string) => ask("GET", path, { as: "viewer" });
    expect((await get("/api/agents")).body.items).toHaveLength(2);
    expect((await get("/api/agents/proxy")).body.word).toBe("Ready");
    expect((await get("/api/agents/proxy/transitions")).body.items[0].event).toBe("start");
    expect((await get("/api/agents/proxy/queue")).body.name).toBe("proxy");
    for (const path of ["", "/transitions", "/queue"])
      expect((await get(`/api/agents/none${path}`)).body.code).toBe("agent_not_found");
  });
  it("[HTTP-19] queues are the shared ones and every inbox; a name nobody has makes no object", async () => {
    const { ask, deployment } = world();
    const get = (path: string) => ask("GET", path, { as: "viewer" });
    const names = (await get("/api/queues")).body.items.map((queue: { name: string }) => queue.name);
    expect(names).toEqual(["runtime_queue", "executor_queue", "proxy", "planner"]);
    expect((await get("/api/queues/executor_queue")).body.name).toBe("executor_queue");
    expect((await get("/api/queues/proxy")).body.name).toBe("proxy");
    expect((await get("/api/queues/executor_queue/dead-letters")).body.items).toEqual([]);
    deployment.agent = () => {
      throw new Error("an object was made");
    };
    for (const name of ["none", "None", "a%2Fb"])
      for (const path of ["", "/dead-letters"])
        expect((await get(`/api/queues/${name}${path}`)).body.code).toBe("queue_not_found");
  });
  it("[HTTP-83] the list of queues says which agents did not answer", async () => {
    const { ask, runtime } = world();
    runtime.silent = ["crew-1"];
    const { items, silent } = (await ask("GET", "/api/queues", { as: "viewer" })).body;
    expect([items.length, silent]).toEqual([4, ["crew-1"]]);
  });
  it("[HTTP-20] the audit is searched in the caller's own scope; when it is down only the search is", async () => {
    const { ask, deployment } = world();
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const found = await ask("GET", "/api/audit?trace_id=trace-1&event_type=approval&limit=5&cursor=c", {
      as: "viewer",
    });
    expect(found.body).toEqual({ items: [], next_cursor: null });
    expect(deployment.auditAsked).toEqual([
      { scope_id: "abcdefghij012345", trace_id: "trace-1", event_type: "approval", limit: 5, cursor: "c" },
    ]);
    expect((await ask("GET", "/api/audit?event_type=nothing", { as: "viewer" })).status).toBe(400);
    deployment.auditing = () => {
      throw new Error("D1 is down");
    };
    expect((await ask("GET", "/api/audit", { as: "viewer" })).body.code).toBe("unavailable");
    expect((await ask("GET", "/api/tasks", { as: "viewer" })).status).toBe(200);
    log.mockRestore();
  });
});
