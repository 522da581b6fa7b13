/**
 * What must stand where something ended: a done item has one done attempt, a run that is over has left its mark, a done
 * task has its branch, which moved once, and what was put into R2 lies below the name of the scope that put it.
 */
import type { AttemptRow, ItemRow, TaskRow } from "../../../durable-objects/runtime/rows.ts";
import type { Disk } from "../platform/disk.ts";
import type { Platform } from "../platform/platform.ts";
import type { Change } from "./changes.ts";
import { repo } from "./programs.ts";
import { must, scopeOf } from "./queue-laws.ts";

/** Who puts into R2 and belongs to no scope: the worker, for what it carries between them. */
const ofAllScopes = /^(worker\(|cron$|outside$)/;

export class EndLaws {
  readonly #platform: Platform;
  readonly #branches = new Map<string, string>();
  #put = 0;
  readonly counts = { items_done: 0, runs_ended: 0, branches: 0, blobs: 0 };
  constructor(platform: Platform) {
    this.#platform = platform;
  }

  check(disk: Disk, changes: readonly Change[]): void {
    for (const { table, old, now } of changes) {
      if (table === "runs" && old !== null && now === null) this.#runEnded(disk, String(old.id));
      if (typeof now?.doc !== "string") continue;
      // The documents of these tables, as rows.ts wrote them.
      if (table === "items") this.#item(disk, JSON.parse(now.doc) as ItemRow);
      if (table === "attempts") this.#attempt(disk, JSON.parse(now.doc) as AttemptRow);
      if (table === "tasks") this.#task(JSON.parse(now.doc) as TaskRow);
    }
  }

  #item(disk: Disk, item: ItemRow): void {
    if (item.state !== "done") return;
    this.counts.items_done++;
    const done = attemptsOf(disk, item.id).filter(({ state }) => state === "done");
    must(done.length === 1, `item ${item.id}: it is done and has ${done.length} attempts that are done`);
    for (const { id, message_id } of done)
      must(
        disk.all("SELECT 1 FROM queue_processed WHERE queue = 'executor_queue' AND message_id = ?", message_id).length >
          0,
        `attempt ${id}: it is done, and its message ${message_id} has no mark that it was processed`,
      );
  }
  #attempt(disk: Disk, attempt: AttemptRow): void {
    if (attempt.state !== "done") return;
    const [row] = disk.all("SELECT status FROM items WHERE id = ?", attempt.work_item_id);
    must(row?.status === "done", `attempt ${attempt.id}: it is done and its item is ${row?.status}`);
  }
  /** An executor's run of shared work is marked at the executor, everything else in the inbox it came from, where it may have died, too. */
  #runEnded(disk: Disk, id: string): void {
    this.counts.runs_ended++;
    const marks = disk.all("SELECT queue FROM queue_processed WHERE message_id = ?", id).map(({ queue }) => queue);
    const dead = disk.all("SELECT 1 FROM queue_rows WHERE message_id = ? AND state = 'dead'", id).length > 0;
    const wanted = disk.name.includes("/crew-") ? "executor_queue" : "inbox";
    must(dead || marks.includes(wanted), `${disk.name}: run ${id} is over without its mark`);
  }
  #task(task: TaskRow): void {
    if (task.status !== "done") return;
    const at = this.#branchesNow()?.get(task.branch);
    const tip = task.tip?.commit;
    must(
      at === tip && task.published === (tip ?? null),
      `task ${task.id}: it is done at ${tip} and ${task.branch} is at ${at}`,
    );
  }

  #branchesNow(): ReadonlyMap<string, string> | undefined {
    return this.#platform.memory.repos.get(repo)?.branches;
  }
  /** To be asked after the host was asked to publish. */
  pushes(): void {
    for (const [branch, commit] of this.#branchesNow() ?? []) {
      const before = this.#branches.get(branch);
      must(before === undefined || before === commit, `${branch}: it was at ${before} and was moved to ${commit}`);
      if (before === undefined && branch.startsWith("countersign/")) this.counts.branches++;
      this.#branches.set(branch, commit);
    }
  }
  blobs(): void {
    const { blobsPut } = this.#platform;
    for (; this.#put < blobsPut.length; this.#put++) {
      const { by, key } = blobsPut[this.#put] ?? { by: "", key: "" };
      this.counts.blobs++;
      must(ofAllScopes.test(by) || scopeOf(by) === scopeOf(key), `${by} put ${key}: another scope's`);
    }
  }
}

function attemptsOf(disk: Disk, item: string): AttemptRow[] {
  return disk
    .all("SELECT doc FROM attempts WHERE json_extract(doc, '$.work_item_id') = ?", item)
    .map(({ doc }) => JSON.parse(String(doc)) as AttemptRow); // as rows.ts wrote it
}
