/** The patch of a task: what its work items changed, as one text that git can apply. [HTTP-14] */
import type { Context } from "hono";
import type { TaskView } from "../domain/view.ts";
import { limits } from "../limits.ts";
import type { CallerEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";

interface PatchKey {
  readonly attempt_id: string;
  readonly key: string;
  readonly bytes: number;
}

/** With an attempt its patch alone, else the newest of every item in the items' order. */
export async function patchOf(
  c: Context<CallerEnv>,
  taskId: string,
  attemptId: string | null,
): Promise<Uint8Array<ArrayBuffer>> {
  const { runtime, caller, ports } = c.var;
  const keys = take(await runtime.patchKeys(caller, taskId));
  const chosen =
    attemptId === null
      ? newestOfEach(take(await runtime.task(caller, taskId)), keys)
      : keys.filter((key) => key.attempt_id === attemptId);
  if (chosen.length === 0)
    throw new Refused(
      "not_found",
      "There is no patch yet: it appears when an attempt has ended, see GET /api/tasks/{id}/artifacts.",
    );
  if (chosen.reduce((sum, key) => sum + key.bytes, 0) > 2 * limits.patch_bytes)
    throw new Refused(
      "bad_request",
      "The patches together are too large for one answer: take them one by one with ?attempt=.",
    );
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const { key } of chosen) {
    const bytes = await ports.artifacts.get(key);
    if (bytes === null) throw new Refused("unavailable", "The patch is not in the store now: try again in a moment.");
    parts.push(new Uint8Array(bytes));
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function newestOfEach(task: TaskView, keys: readonly PatchKey[]): PatchKey[] {
  const byAttempt = new Map(keys.map((key) => [key.attempt_id, key]));
  return task.items.flatMap((item) => {
    const tried = task.attempts.filter((attempt) => attempt.work_item_id === item.id && byAttempt.has(attempt.id));
    const newest = tried.sort((a, b) => b.number - a.number)[0];
    const key = newest === undefined ? undefined : byAttempt.get(newest.id);
    return key === undefined ? [] : [key];
  });
}
