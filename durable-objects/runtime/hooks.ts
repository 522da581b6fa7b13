/**
 * Hooks as an admin makes them, and what is sent to one: a request whose signature the door has checked becomes a task,
 * once, with an outsider's words and a submitter's standing. [HOOK-*]
 */
import {
  type HookBody,
  type HookInput,
  type HookView,
  hookLabels,
  hookSubject,
  hookTitle,
} from "../../src/domain/hooks.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { RuntimeDoor } from "../../src/http/doors.ts";
import { limits } from "../../src/limits.ts";
import { newId } from "../random.ts";
import type { HookRow } from "./hooks-rows.ts";
import type { Scope } from "./scope.ts";
import { createTask } from "./tasks.ts";
import type { Tx } from "./tx.ts";

type Door = Pick<RuntimeDoor, "hooks" | "addHook" | "removeHook" | "rotateHook" | "hookSecrets" | "runHook">;
const hour_ms = 3_600_000;

export class HooksDoor implements Door {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, after: () => Promise<void>) {
    this.#scope = scope;
    this.#after = after;
  }

  async hooks(caller: Caller): Promise<Result<HookView[]>> {
    if (caller.role !== "admin") return forbidden;
    return ok(this.#scope.stores.hooks.all().map((row) => viewOf(row, Date.now())));
  }
  async addHook(caller: Caller, input: HookInput & { id: string }): Promise<Result<HookView>> {
    return this.#change(caller, (tx) => {
      const { hooks } = tx.stores;
      if (!this.#scope.directory.hasRepo(input.repo)) return unregistered(input.repo);
      if (hooks.named(input.name) !== null)
        return refuse("not_in_this_state", `There is a hook named ${input.name} already: choose another name.`);
      if (hooks.all().length >= limits.hooks_per_scope)
        return refuse("too_many", `A scope has at most ${limits.hooks_per_scope} hooks: remove one.`);
      const more = { secret_version: 1, old_secret_until: null, created_by: caller.subject, created_at: tx.at };
      const row = hooks.put({ ...input, ...more });
      tell(tx, row, "made", caller);
      return ok(viewOf(row, tx.now));
    });
  }
  async removeHook(caller: Caller, id: string): Promise<Result<HookView>> {
    return this.#change(caller, (tx) => {
      const row = tx.stores.hooks.get(id);
      if (row === null) return unknown;
      tx.stores.hooks.remove(id);
      tell(tx, row, "removed", caller);
      return ok(viewOf(row, tx.now));
    });
  }
  /** The secret before is good for one more day, and no older one. */
  async rotateHook(caller: Caller, id: string): Promise<Result<HookView>> {
    return this.#change(caller, (tx) => {
      const row = tx.stores.hooks.get(id);
      if (row === null) return unknown;
      const old_secret_until = tx.now + limits.webhook_old_secret_ms;
      const rotated = tx.stores.hooks.put({ ...row, secret_version: row.secret_version + 1, old_secret_until });
      tell(tx, rotated, "given a new secret", caller);
      return ok(viewOf(rotated, tx.now));
    });
  }

  /** Versions of the secrets that sign for it now, newest first; none when there is no such hook. */
  async hookSecrets(scope_id: string, id: string): Promise<readonly number[]> {
    const self = this.#scope.directory.self();
    const row = self?.scope_id === scope_id ? this.#scope.stores.hooks.get(id) : null;
    if (row === null) return [];
    const { secret_version, old_secret_until } = row;
    const old = old_secret_until !== null && Date.now() < old_secret_until;
    return old ? [secret_version, secret_version - 1] : [secret_version];
  }
  async runHook(
    scope_id: string,
    id: string,
    sent: { message_id: string; body: HookBody },
  ): Promise<Result<{ task_id: string; replay: boolean }>> {
    if (this.#scope.directory.self()?.scope_id !== scope_id) return unknown;
    const task_id = `t${newId().slice(0, 15)}`;
    const done = this.#scope.commit((tx) => this.#run(tx, id, { ...sent, task_id }));
    await this.#after();
    return done;
  }
  #run(
    tx: Tx,
    id: string,
    sent: { message_id: string; body: HookBody; task_id: string },
  ): Result<{ task_id: string; replay: boolean }> {
    const { hooks } = tx.stores;
    const hook = hooks.get(id);
    if (hook === null) return unknown;
    const before = hooks.taken(id, sent.message_id);
    if (before !== null) return ok({ task_id: before, replay: true });
    if (!this.#scope.directory.hasRepo(hook.repo)) return unregistered(hook.repo);
    const { count, oldest } = hooks.since(id, tx.now - hour_ms);
    if (count >= hook.max_per_hour) {
      const retry_after_s = Math.max(1, Math.ceil(((oldest ?? tx.now) + hour_ms - tx.now) / 1_000));
      const detail = `The hook ${hook.name} took ${hook.max_per_hour} requests within an hour: try again later.`;
      return refuse("too_many", detail, { retry_after_s });
    }
    const { title, description, plan, labels } = sent.body;
    const input = {
      title: hookTitle(hook.title, { title, name: hook.name, id: sent.message_id }),
      description,
      repo: { url: hook.repo, ref: hook.ref },
      labels: hookLabels(hook.labels, labels),
      ...(plan === undefined ? {} : { plan }),
    };
    const made = createTask(tx, callerOf(tx, hook), input, sent.task_id, { taint: "outsider" });
    if (!made.ok) return made;
    hooks.claim({ hook_id: id, message_id: sent.message_id, task_id: sent.task_id }, tx.now);
    return ok({ task_id: sent.task_id, replay: false });
  }

  async #change<T>(caller: Caller, change: (tx: Tx) => Result<T>): Promise<Result<T>> {
    if (caller.role !== "admin") return forbidden;
    const done = this.#scope.commit(change);
    await this.#after();
    return done;
  }
}

const forbidden = refuse("forbidden", "Hooks need the role admin.");
const unknown = refuse("hook_not_found", "There is no such hook in this scope.");
function unregistered(url: string) {
  return refuse(
    "repo_not_registered",
    `${url} is not registered with this scope: an admin adds it with POST /api/repos.`,
  );
}
/** Nobody signed in: it asks as a submitter may, and its labels are nobody's word. */
function callerOf(tx: Tx, hook: HookRow): Caller {
  return {
    ...{ scope_id: tx.scope.scope_id, subject: hookSubject(hook.name), role: "submitter" },
    ...{ via: "token", credential_id: hook.id },
  };
}
function viewOf(row: HookRow, now: number): HookView {
  const lives = row.old_secret_until !== null && row.old_secret_until > now;
  const old_secret_until = lives ? new Date(row.old_secret_until ?? now).toISOString() : null;
  return { ...row, path: `/hooks/${row.id}`, old_secret_until };
}
function tell(tx: Tx, { id, name, repo }: HookRow, what: string, caller: Caller): void {
  tx.audit(
    "transition",
    { trace_id: "scope" },
    {
      ...{ actor: "user", decision: `hook_${what}` },
      details: { hook_id: id, name, repo, by: caller.subject },
    },
  );
  const detail = `The hook ${name} was ${what}.`;
  tx.event("hook_changed", null, { actor: caller.subject, detail, what, hook_name: name });
}
