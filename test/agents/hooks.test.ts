/** Hooks in a scope's runtime: a signed request becomes one task, with an outsider's words. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TaskDoor } from "../../durable-objects/runtime/doors-tasks.ts";
import { HooksDoor } from "../../durable-objects/runtime/hooks.ts";
import type { TaskRow } from "../../durable-objects/runtime/rows.ts";
import { type HookBody, type HookInput, hookBody, hookId, hookInput } from "../../src/domain/hooks.ts";
import { derivedId } from "../../src/domain/ids.ts";
import type { Result } from "../../src/domain/refusal.ts";
import { limits } from "../../src/limits.ts";
import { callerOf, HeldScope, must, repo, scopeId } from "../fakes/held-scope.ts";
import { plan, StandingScope } from "../fakes/standing-scope.ts";

const admin = callerOf("ada#adm001", "admin");
const key = new Uint8Array(32).fill(7);
let held: HeldScope;
let door: HooksDoor;
let made = 0;
beforeEach(() => {
  held = new HeldScope();
  door = new HooksDoor(held.scope, async () => {});
  const url = { url: repo, default_ref: "HEAD", added_by: "ada", added_at: "t" };
  held.sql.transaction(() => held.scope.directory.addRepo(url));
});
afterEach(() => held.close());

const input = (more: Partial<HookInput> = {}) =>
  hookInput.parse({ name: `hook-${++made}`, repo, title: "[{name}] {title}", labels: ["from-ci"], ...more });
const add = async (more: Partial<HookInput> = {}) => {
  const id = hookId(key, scopeId, derivedId(String(made), "hook", 0));
  return must(await door.addHook(admin, { ...input(more), id }));
};
const run = (id: string, message_id: string, body: Partial<HookBody> = {}) =>
  door.runHook(scopeId, id, { message_id, body: hookBody.parse({ title: "Fix it", ...body }) });
const codeOf = (result: Result<unknown>) => (result.ok ? "ok" : result.refusal.code);

describe("what a hook makes of a request", () => {
  it("[HOOK-10] one task, asked for by the hook, with an outsider's taint and a submitter's standing; again it answers the same", async () => {
    const hook = await add();
    const first = must(await run(hook.id, "m-1", { description: "the build broke", labels: ["urgent"] }));
    expect(first.replay).toBe(false);
    const task = held.rows.tasks.get(first.task_id);
    expect(task).toMatchObject({
      ...{ title: `[${hook.name}] Fix it`, description: "the build broke", repo, ref: "HEAD" },
      ...{
        created_by: `hook:${hook.name}`,
        taint: "outsider",
        labels: ["from-ci", "urgent"],
        labels_by_role: "submitter",
      },
    });
    expect(task?.taint_sources).toMatchObject([{ taint: "outsider", source: `task text by hook:${hook.name}` }]);
    const again = must(await run(hook.id, "m-1", { title: "Something else" }));
    expect(again).toEqual({ task_id: first.task_id, replay: true });
    expect(held.rows.tasks.all()).toHaveLength(1);
    const sent = held.scope.stores.outbox.due(held.now, 10).map(({ message }) => message);
    expect(sent).toMatchObject([{ message_kind: "user_message", taint: "outsider" }]);
    // Another hook's ids are its own.
    const other = await add();
    expect(must(await run(other.id, "m-1")).task_id).not.toBe(first.task_id);
  });
  it("[HOOK-10] the claim and the task are one commit, and the claim outlives a restart and is forgotten after thirty days", async () => {
    const hook = await add();
    const { task_id } = must(await run(hook.id, "m-1"));
    held.reopen();
    door = new HooksDoor(held.scope, async () => {});
    expect(must(await run(hook.id, "m-1"))).toEqual({ task_id, replay: true });
    held.now += limits.hook_claims_kept_ms + 1;
    must(await run(hook.id, "m-2"));
    expect(held.scope.stores.hooks.taken(hook.id, "m-1")).toBeNull();
    held.sql.run("CREATE TRIGGER no_claim BEFORE INSERT ON hook_claims BEGIN SELECT raise(ABORT, 'no'); END");
    await expect(run(hook.id, "m-3")).rejects.toThrow("no");
    expect(held.rows.tasks.all()).toHaveLength(2);
  });
  it("[HOOK-11] over its number an hour it takes nothing, says when it will, and counts only what it took", async () => {
    const hook = await add({ max_per_hour: 2 });
    must(await run(hook.id, "m-1"));
    held.now += 600_000;
    must(await run(hook.id, "m-2"));
    must(await run(hook.id, "m-2"));
    const refused = await run(hook.id, "m-3");
    expect(refused).toMatchObject({ refusal: { code: "too_many", extra: { retry_after_s: 3_000 } } });
    expect(must(await run(hook.id, "m-1")).replay).toBe(true);
    held.now += 3_000_000 - 1;
    expect(codeOf(await run(hook.id, "m-3"))).toBe("too_many");
    held.now += 1;
    expect(codeOf(await run(hook.id, "m-3"))).toBe("ok");
  });
  it("[HOOK-12] no standing approval speaks for what a hook asked for by its labels", async () => {
    held.close();
    const scope = new StandingScope();
    held = scope;
    scope.sql.transaction(() =>
      scope.scope.directory.addRepo({ url: repo, default_ref: "HEAD", added_by: "ada", added_at: "t" }),
    );
    door = new HooksDoor(scope.scope, async () => {});
    const hook = await add({ labels: ["chore"] });
    const made = await scope.made({ uses: 5 }, { who: [`hook:${hook.name}`], taint: "outsider" });
    const chore = async (message_id: string, change: Partial<TaskRow> = {}) => {
      const { task_id } = must(await run(hook.id, message_id, { plan, labels: ["chore"] }));
      const task = scope.rows.tasks.get(task_id);
      if (task !== null) scope.rows.tasks.put({ ...task, ...change });
      await scope.replan(task_id, plan);
      await scope.flush();
      return scope.approval(task_id).status;
    };
    expect(await chore("m-1")).toBe("pending");
    // It is the labels alone that keep it from being used.
    expect(await chore("m-2", { labels_by_role: "approver" })).toBe("approved");
    expect((await scope.standing(made.id)).used).toHaveLength(1);
  });
  it("[HOOK-13] a hook that is gone, another scope's, or whose repository is not registered any more takes nothing", async () => {
    const hook = await add();
    expect(codeOf(await door.runHook("anotherscope0000", hook.id, { message_id: "m", body: hookBody.parse({}) }))).toBe(
      "hook_not_found",
    );
    held.sql.transaction(() => held.scope.directory.removeRepo(repo));
    expect(codeOf(await run(hook.id, "m-1"))).toBe("repo_not_registered");
    must(await door.removeHook(admin, hook.id));
    expect(codeOf(await run(hook.id, "m-1"))).toBe("hook_not_found");
    expect(held.rows.tasks.all()).toEqual([]);
  });
});

describe("what an admin does", () => {
  it("[HOOK-14] makes, lists, rotates and removes hooks, each on record; nobody of a lesser role does", async () => {
    const hook = await add();
    expect(hook).toMatchObject({ path: `/hooks/${hook.id}`, secret_version: 1, created_by: admin.subject });
    expect(must(await door.hooks(admin))).toEqual([hook]);
    for (const role of ["viewer", "submitter", "approver"] as const) {
      const caller = callerOf("eve#x", role);
      const asked = [
        door.hooks(caller),
        door.addHook(caller, { ...input(), id: "x" }),
        door.rotateHook(caller, hook.id),
      ];
      for (const refused of await Promise.all([...asked, door.removeHook(caller, hook.id)]))
        expect(refused).toMatchObject({ refusal: { code: "forbidden" } });
    }
    must(await door.removeHook(admin, hook.id));
    expect(codeOf(await door.removeHook(admin, hook.id))).toBe("hook_not_found");
    expect(codeOf(await door.rotateHook(admin, hook.id))).toBe("hook_not_found");
    const said = held.scope.stores.audit.after(0, 1_000).filter(({ decision }) => decision?.startsWith("hook_"));
    expect(said.map(({ decision }) => decision)).toEqual(["hook_made", "hook_removed"]);
  });
  it("[HOOK-14] a name is taken once, a repository must be registered, and there are at most twenty", async () => {
    const hook = await add();
    expect(codeOf(await door.addHook(admin, { ...input({ name: hook.name }), id: "x" }))).toBe("not_in_this_state");
    expect(codeOf(await door.addHook(admin, { ...input({ repo: "file:///repos/other" }), id: "x" }))).toBe(
      "repo_not_registered",
    );
    for (let more = 1; more < limits.hooks_per_scope; more++) await add();
    expect(codeOf(await door.addHook(admin, { ...input(), id: "x" }))).toBe("too_many");
  });
  it("[HOOK-15] after a rotation two secrets are taken for a day; of a hook that is not there none is", async () => {
    const hook = await add();
    expect(await door.hookSecrets(scopeId, hook.id)).toEqual([1]);
    expect(must(await door.rotateHook(admin, hook.id))).toMatchObject({ secret_version: 2 });
    expect(await door.hookSecrets(scopeId, hook.id)).toEqual([2, 1]);
    held.now += limits.webhook_old_secret_ms;
    expect(await door.hookSecrets(scopeId, hook.id)).toEqual([2]);
    expect(await door.hookSecrets("anotherscope0000", hook.id)).toEqual([]);
    must(await door.removeHook(admin, hook.id));
    expect(await door.hookSecrets(scopeId, hook.id)).toEqual([]);
  });
  it("[HOOK-10] a task of a hook is an ordinary task: a person reads and cancels it", async () => {
    const hook = await add();
    const { task_id } = must(await run(hook.id, "m-1"));
    const tasks = new TaskDoor(held.scope, async () => {});
    expect(must(await tasks.cancelTask(admin, task_id, "not now")).status).toBe("cancelled");
    expect(must(await run(hook.id, "m-1"))).toEqual({ task_id, replay: true });
  });
});
