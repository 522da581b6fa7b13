/**
 * What GitHub shows of a task follows its rows: every change marks the task's thread, and at most one look at GitHub a
 * task is under way. It shows the newest; when that moved meanwhile, the next follows, and a failed one is tried again
 * until the last version stands there or the repository is no longer linked. [GHR-70] to [GHR-77]
 */
import { githubShown } from "../../src/domain/github/shapes.ts";
import type { Message } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import type { EventType } from "../event-log.ts";
import { toCourier } from "./github-courier.ts";
import type { ThreadRow } from "./github-rows.ts";
import type { Tx } from "./tx.ts";

/** Events beside a task's own changes after which GitHub is to show something else. */
export const shownTypes: ReadonlySet<EventType> = new Set<EventType>([
  "approval_requested",
  "approval_recorded",
  "approval_resolved",
  "plan_ready",
  "verification_result",
  "merge_result",
]);

/** Something that is shown has changed. Of a task that came from elsewhere there is nothing to show. */
export function mark(tx: Tx, task_id: string): void {
  const row = tx.stores.github.thread(task_id);
  if (row !== null) begin(tx, { ...row, version: row.version + 1 });
}
/** The task is over, and everything about its end is on record: where its audit stands is shown with it. */
export function showEnd(tx: Tx, task_id: string): void {
  const row = tx.stores.github.thread(task_id);
  const end = tx.stores.audit.end();
  if (row === null || end === null) return;
  const audit_head = `${tx.scope.scope_id}/runtime@${end.seq} ${end.hash}`;
  begin(tx, { ...row, audit_head, version: row.version + 1 });
}
/** A word of the runtime's, to stand with the task there; null takes it away. */
export function say(tx: Tx, task_id: string, note: string | null): void {
  const row = tx.stores.github.thread(task_id);
  if (row === null || row.note === note) return;
  const words = note?.slice(0, limits.github_note_chars) ?? null;
  begin(tx, { ...row, note: words, version: row.version + 1 });
}

/** Begins a look, unless one is under way or it is too soon: then the end of that one, or the alarm, goes on with it. */
function begin(tx: Tx, row: ThreadRow): void {
  if (row.sync !== null || row.next_at > tx.now) tx.stores.github.putThread(row);
  else start(tx, row);
}
function start(tx: Tx, row: ThreadRow): void {
  const task = tx.rows.tasks.get(row.task_id);
  const linked = tx.stores.github.link(row.repository_id)?.state === "linked";
  if (task === null || !linked) {
    leave(tx, row);
    return;
  }
  const { task_id, version, failures } = row;
  const message = tx.message(task, `${task_id}/github/${version}/${failures}`, {
    message_kind: "github_sync",
    recipient: "courier",
    content: `show where ${task_id} stands`,
    payload: { task_id, version },
  });
  toCourier(tx, message);
  const sync = { message_id: message.message_id, at: tx.now };
  tx.stores.github.putThread({ ...row, sync, next_at: tx.now + limits.github_sync_lost_ms });
}
/** Nothing can be shown there now: it stays as it is until the repository is linked again. */
export function leave(tx: Tx, row: ThreadRow): void {
  tx.stores.github.putThread({ ...row, sync: null, shown_version: row.version, next_at: tx.now });
}

/** Looks whose time has come: those that were put off, and those that nobody told the end of. */
export function lookAgain(tx: Tx): void {
  for (const row of tx.stores.github.due(tx.now, limits.github_sync_batch))
    start(tx, row.sync === null ? row : { ...row, sync: null, failures: row.failures + 1 });
}

/** Takes a `github_shown`. What it says of comment, check and pull request is so whenever it comes. */
export function acceptShown(tx: Tx, message: Message): void {
  const told = githubShown.parse(message.payload);
  const row = tx.stores.github.thread(told.task_id);
  if (row === null || (row.shown !== null && told.version < row.shown.version)) {
    tx.audit("effect", message, { decision: "stale_result", reason: "nobody waits for it any more" });
    return;
  }
  // A card stands there since it was first shown, however often it is written again.
  const before = row.shown?.showed ?? null;
  const shown = told.showed?.content_hash === before?.content_hash ? { ...told, showed: before } : told;
  if (shown.failed !== null) {
    if (row.shown?.failed !== shown.failed)
      tx.audit("effect", message, {
        decision: "github_not_shown",
        reason: shown.failed,
        details: { task_id: row.task_id, version: shown.version },
      });
    return putOff(tx, { ...row, shown });
  }
  const soonest = (row.sync?.at ?? tx.now) + limits.github_sync_gap_ms;
  const next: ThreadRow = {
    ...{ ...row, shown, sync: null, failures: 0 },
    shown_version: Math.min(row.version, Math.max(row.shown_version, shown.version)),
    next_at: Math.max(tx.now, soonest),
  };
  if (next.version > next.shown_version) begin(tx, next);
  else tx.stores.github.putThread(next);
}
function putOff(tx: Tx, row: ThreadRow): void {
  const wait = Math.min(
    limits.github_sync_first_retry_ms * 2 ** Math.min(row.failures, 20),
    limits.github_sync_max_retry_ms,
  );
  tx.stores.github.putThread({ ...row, sync: null, failures: row.failures + 1, next_at: tx.now + wait });
}

/** The order to look, or its answer, was given up: it counts as failed, and no person has to decide about it. */
export function syncDied(tx: Tx, died: { message_id: string; message_kind: string; task_id: string | null }): boolean {
  const asked = died.message_kind === "github_sync";
  // How to write a command is no question for anybody.
  if (died.message_kind === "github_answer") return true;
  if (!asked && died.message_kind !== "github_shown") return false;
  const row = died.task_id === null ? null : tx.stores.github.thread(died.task_id);
  if (row?.sync != null && (!asked || row.sync.message_id === died.message_id)) putOff(tx, row);
  return true;
}
