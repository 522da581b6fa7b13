/** Tasks as people ask for them: made, listed, read, spoken to, cancelled. [RTO-*] */

import type { EventView } from "../../src/domain/record-view.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller, Page, TaskInput, TaskSummary, TaskView, ThoughtView } from "../../src/domain/view.ts";
import type { Created, Idempotency, PageQuery, RuntimeDoor } from "../../src/http/doors.ts";
import { newId } from "../random.ts";
import { thoughtsOf } from "./mind-rows.ts";
import { unknownEffects } from "./open-calls.ts";
import type { Scope } from "./scope.ts";
import { cancelTask, createTask, followUp } from "./tasks.ts";
import { taskSummaryOf, taskViewOf, thoughtViewOf } from "./views.ts";

type Door = Pick<
  RuntimeDoor,
  "createTask" | "tasks" | "task" | "taskEvents" | "thoughts" | "patchKeys" | "cancelTask" | "addMessage"
>;

export class TaskDoor implements Door {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, after: () => Promise<void>) {
    this.#scope = scope;
    this.#after = after;
  }

  async createTask(
    caller: Caller,
    input: TaskInput & { register_repo: boolean },
    idempotency: Idempotency | null,
  ): Promise<Result<Created<TaskView>>> {
    const id = `t${newId().slice(0, 15)}`;
    const { register_repo, ...task } = input;
    const made = this.#scope.commit((tx): Result<Created<TaskView>> => {
      const own = idempotency === null ? null : { ...idempotency, subject: caller.subject };
      const before = own === null ? null : this.#scope.idempotency.find(own, tx.now);
      if (before?.found === "mismatch")
        return refuse("idempotency_mismatch", "This Idempotency-Key was used for another body. Use a new key.");
      // The answer of the same key is what this method stored below.
      if (before?.found === "replay") return ok({ body: before.body as TaskView, replay: true });
      const known = this.#scope.directory.hasRepo(task.repo.url);
      if (!known && !register_repo)
        return refuse("repo_not_registered", "Register this repository first: POST /api/repos, as an admin.");
      const created = createTask(tx, caller, task, id);
      if (!created.ok) return created;
      if (!known)
        this.#scope.directory.addRepo({
          url: task.repo.url,
          default_ref: "HEAD",
          added_by: caller.subject,
          added_at: tx.at,
        });
      const body = taskViewOf(tx.rows, created.value);
      if (own !== null) this.#scope.idempotency.store(own, 202, body, tx.now);
      return ok({ body, replay: false });
    });
    await this.#after();
    return made;
  }
  async tasks(_caller: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<TaskSummary>>> {
    const page = this.#scope.stores.rows.tasks.page(query.status, query.limit, query.cursor);
    const unknown = unknownEffects(this.#scope.stores.rows);
    return ok({
      items: page.items.map((task) => taskSummaryOf(task, unknown.get(task.id))),
      next_cursor: page.next_cursor,
    });
  }
  async task(_caller: Caller, task_id: string): Promise<Result<TaskView>> {
    const task = this.#scope.stores.rows.tasks.get(task_id);
    return task === null ? noTask(task_id) : ok(taskViewOf(this.#scope.stores.rows, task));
  }
  async taskEvents(_caller: Caller, task_id: string, query: PageQuery): Promise<Result<Page<EventView>>> {
    if (this.#scope.stores.rows.tasks.get(task_id) === null) return noTask(task_id);
    return ok(this.#scope.stores.events.byTask(task_id, query.cursor, query.limit));
  }
  async thoughts(_caller: Caller, task_id: string, query: PageQuery): Promise<Result<Page<ThoughtView>>> {
    if (this.#scope.stores.rows.tasks.get(task_id) === null) return noTask(task_id);
    const { items, next_cursor } = thoughtsOf(this.#scope.sql, task_id, query);
    return ok({ items: items.map(thoughtViewOf), next_cursor });
  }
  async patchKeys(
    _caller: Caller,
    task_id: string,
  ): Promise<Result<{ attempt_id: string; key: string; bytes: number }[]>> {
    if (this.#scope.stores.rows.tasks.get(task_id) === null) return noTask(task_id);
    const newest = new Map(
      this.#scope.stores.rows.attempts
        .ofTask(task_id)
        .flatMap((row) => (row.patch === null ? [] : [[row.work_item_id, row] as const])),
    );
    return ok(
      [...newest.values()].map((row) => ({
        attempt_id: row.id,
        key: row.patch?.key ?? "",
        bytes: row.patch?.bytes ?? 0,
      })),
    );
  }
  async cancelTask(caller: Caller, task_id: string, reason: string): Promise<Result<TaskView>> {
    const done = this.#scope.commit((tx) => {
      const task = tx.rows.tasks.get(task_id);
      if (task === null) return noTask(task_id);
      const cancelled = cancelTask(tx, caller, task, reason);
      return cancelled.ok ? ok(taskViewOf(tx.rows, cancelled.value)) : cancelled;
    });
    await this.#after();
    return done;
  }
  async addMessage(caller: Caller, task_id: string, text: string): Promise<Result<{ message_id: string }>> {
    const cause = newId();
    const done = this.#scope.commit((tx): Result<{ message_id: string }> => {
      const task = tx.rows.tasks.get(task_id);
      if (task === null) return noTask(task_id);
      if (isFinal(task.status))
        return refuse("not_in_this_state", `This task is already ${task.status}.`, { status: task.status });
      return followUp(tx, caller, task, { cause, text });
    });
    await this.#after();
    return done;
  }
}

function noTask(id: string) {
  return refuse("task_not_found", `There is no task ${id} in this scope.`);
}
