/** The scope's memory as people meet it: searched by whoever may look, forgotten by an admin. [MEM-*] */
import { type MemoryView, memoryTexts } from "../../src/domain/memory.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { MemoryQuery, RuntimeDoor } from "../../src/http/doors.ts";
import type { Scope } from "./scope.ts";
import type { Tx } from "./tx.ts";

type Door = Pick<RuntimeDoor, "memories" | "forgetMemory">;

/** Where it came from an attempt's report, the words stand in the attempt's row too. */
function blankInsights(tx: Tx, task_id: string, { kind, text }: MemoryView): void {
  for (const attempt of tx.rows.attempts.ofTask(task_id)) {
    const { insights = [] } = attempt;
    const is = (one: (typeof insights)[number]) => one.kind === kind && memoryTexts("", one.text).text === text;
    if (!insights.some(is)) continue;
    // Its place stays, for others are named by theirs.
    const blanked = insights.map((one) => (is(one) ? { ...one, text: "" } : one));
    tx.rows.attempts.put({ ...attempt, insights: blanked });
  }
}

export class MemoryDoor implements Door {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, after: () => Promise<void>) {
    this.#scope = scope;
    this.#after = after;
  }

  async memories(_caller: Caller, asked: MemoryQuery): Promise<Result<Page<MemoryView>>> {
    const { query, kind, limit, offset } = asked;
    const found = this.#scope.stores.memory.search({ query, kind, limit: limit + 1, offset });
    const next_cursor = found.length > limit ? String(offset + limit) : null;
    return ok({ items: found.slice(0, limit), next_cursor });
  }
  async forgetMemory(caller: Caller, id: string, reason: string): Promise<Result<MemoryView>> {
    if (caller.role !== "admin") return refuse("forbidden", "Having something forgotten needs the role admin.");
    const done = this.#scope.commit((tx): Result<MemoryView> => {
      const { memory } = tx.stores;
      const known = memory.get(id);
      if (known === null) return refuse("memory_not_found", `There is no memory ${id} in this scope.`);
      if (known.forgotten) return ok(known);
      memory.forget(id);
      const task = known.task_id === null ? null : tx.rows.tasks.get(known.task_id);
      if (task !== null) blankInsights(tx, task.id, known);
      tx.audit("transition", task ?? { trace_id: "scope" }, {
        ...{ actor: "user", decision: "memory_forgotten", reason },
        details: { memory_id: id, kind: known.kind, by: caller.subject },
      });
      return ok(memory.get(id) ?? known);
    });
    await this.#after();
    return done;
  }
}
