/** Whether anything will move an open task, and whether a scope has come to rest: read from what is stored, at any step. */

import type { TaskRow } from "../../../durable-objects/runtime/rows.ts";
import { isFinal } from "../../../src/domain/task.ts";
import type { HostedObject } from "../platform/objects.ts";
import type { Platform } from "../platform/platform.ts";
import { scopeOf } from "./queue-laws.ts";

function objectsOf(platform: Platform, scope: string): HostedObject[] {
  // An object that died while it was first made has no tables yet.
  return platform.objects().filter(({ name, disk }) => scopeOf(name) === scope && disk.commits > 0);
}
const one = (object: HostedObject, sql: string, ...params: string[]) =>
  Number(object.disk.all(sql, ...params)[0]?.n ?? 0);

/** The open tasks that nothing will ever move: no card, no message under way, no death a person is still to hear of, no run. */
export function deadEnds(platform: Platform, scope: string): string[] {
  const runtime = platform.object(`${scope}/runtime`);
  const objects = objectsOf(platform, scope);
  return openTasks(runtime).flatMap(({ id, trace_id, status, phase }) => {
    if (one(runtime, "SELECT count(*) AS n FROM approvals WHERE task_id = ? AND status = 'pending'", id) > 0) return [];
    // An agent is still to hear that it shall send a dead letter again.
    const again = "SELECT count(*) AS n FROM kills WHERE task_id = ? AND json_extract(doc, '$.what') = 'revive'";
    if (one(runtime, again, id) > 0) return [];
    const moves = objects.some((object) => {
      if (one(object, "SELECT count(*) AS n FROM queue_rows WHERE trace_id = ? AND state <> 'dead'", trace_id) > 0)
        return true;
      const sent = `SELECT count(*) AS n FROM outbox WHERE json_extract(body, '$.task_id') = ?
        AND (died_at IS NULL OR message_id IN (SELECT message_id FROM letters))`;
      if (one(object, sent, id) > 0) return true;
      // A death that the runtime is still to hear of: it will ask a person.
      const untold = "SELECT count(*) AS n FROM letters JOIN queue_rows USING (message_id) WHERE trace_id = ?";
      if (one(object, untold, trace_id) > 0) return true;
      if (object === runtime) return false;
      return one(object, "SELECT count(*) AS n FROM runs WHERE json_extract(doc, '$.message.task_id') = ?", id) > 0;
    });
    return moves ? [] : [`task ${id} is ${status} in ${phase}, and nothing will move it`];
  });
}
function openTasks(runtime: HostedObject): TaskRow[] {
  return runtime.disk
    .all("SELECT doc FROM tasks")
    .map(({ doc }) => JSON.parse(String(doc)) as TaskRow) // as rows.ts wrote it
    .filter((task) => !isFinal(task.status));
}

/** What still keeps a scope from rest: nothing when every task is final or waits for a person, and all else is done. */
export async function unrest(platform: Platform, scope: string): Promise<string[]> {
  const runtime = platform.object(`${scope}/runtime`);
  const found = openTasks(runtime)
    .filter(
      (task) =>
        one(runtime, "SELECT count(*) AS n FROM approvals WHERE task_id = ? AND status = 'pending'", task.id) === 0,
    )
    .map((task) => `task ${task.id} is ${task.status} in ${task.phase} and waits for nobody`);
  if (one(runtime, "SELECT count(*) AS n FROM kills") > 0) found.push("an agent has not heard what to call off");
  for (const object of objectsOf(platform, scope)) {
    const say = (what: string, n: number) => {
      if (n > 0) found.push(`${object.name}: ${n} ${what}`);
    };
    say("messages not confirmed", one(object, "SELECT count(*) AS n FROM outbox WHERE died_at IS NULL"));
    say("rows not done", one(object, "SELECT count(*) AS n FROM queue_rows WHERE state <> 'dead'"));
    if (object !== runtime) say("runs open", one(object, "SELECT count(*) AS n FROM runs"));
    const links = one(object, "SELECT coalesce(max(seq), 0) AS n FROM audit_chain");
    const stored = await platform.database
      .prepare("SELECT count(*) AS n FROM audit WHERE object = ?")
      .bind(object.name)
      .all();
    const inD1 = Number((stored.results[0] as { n: number } | undefined)?.n ?? 0); // the query's only column
    if (inD1 !== links) found.push(`${object.name}: ${links} links and ${inD1} in D1`);
    say("links not confirmed", links - one(object, "SELECT seq AS n FROM audit_shipped"));
    if (object !== runtime) continue;
    const made = "SELECT coalesce(max(checkpoints.seq) - max(shipped), 0) AS n FROM checkpoints, checkpoint_state";
    say("checkpoints not confirmed", one(object, made));
  }
  const boxes = (await platform.memory.sandboxes()).filter((box) => box.scope_id === scope);
  if (boxes.length > 0) found.push(`${boxes.length} sandboxes stand: ${boxes.map(({ id }) => id).join(" ")}`);
  return found;
}
