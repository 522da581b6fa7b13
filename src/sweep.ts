/**
 * The minute's tick: each scope's runtime looks after itself and its agents, sandboxes nobody will come back for are
 * destroyed, slots that ended are given back. One that fails or hangs keeps none of the others. [RCV-2] [RCV-4]
 */
import { inTime } from "../durable-objects/in-time.ts";
import { githubAppOf, poolOf, runtimeOf } from "../durable-objects/remote.ts";
import { type Bindings, worldOf } from "./env.ts";
import { limits } from "./limits.ts";

export async function sweep(bindings: Bindings): Promise<void> {
  const { records } = worldOf(bindings);
  const until = Date.now() + limits.sweep_ms;
  await apart("the pool's slots", poolOf(bindings).endSlots());
  await apart("the scopes", scopes(bindings, until), limits.sweep_ms + limits.sweep_scope_ms);
  await apart(
    "old telemetry",
    records.pruneTelemetry(new Date(Date.now() - limits.telemetry_retention_ms).toISOString()),
  );
  await apart("sandboxes", clearSandboxes(bindings), limits.sweep_ms);
  // Last: it waits on GitHub.
  if (worldOf(bindings).githubConfig !== null)
    await apart("GitHub's installations", githubAppOf(bindings).sweep(), limits.sweep_ms);
}

/** As many as there is time for; the next tick goes on where this one stopped, and begins anew after the last. */
async function scopes(bindings: Bindings, until: number): Promise<void> {
  const pool = poolOf(bindings);
  let cursor = await pool.sweepFrom();
  do {
    const page = await worldOf(bindings).records.scopes(cursor, limits.sweep_page);
    await someAtOnce(page.items, ({ id }) => apart(`scope ${id}`, runtimeOf(bindings, id).sweep(id)));
    cursor = page.next_cursor;
  } while (cursor !== null && Date.now() < until);
  await pool.sweptTo(cursor);
}

/** Sandboxes whose work is over are destroyed: what an agent left behind when it could not clean up. */
async function clearSandboxes(bindings: Bindings): Promise<void> {
  const { sandboxes, missing } = worldOf(bindings);
  if (missing.some(({ name }) => name === "SANDBOX_URL" || name === "SANDBOX")) return;
  const standing = Map.groupBy(await sandboxes.sandboxes(), (sandbox) => sandbox.scope_id);
  await someAtOnce([...standing], async ([scope, own]) => {
    const clear = async (): Promise<void> => {
      const owners = own.map((sandbox) => sandbox.owner);
      const over = await runtimeOf(bindings, scope).ownersOver(scope, owners);
      for (const { id, owner } of own) if (over.includes(owner)) await apart(`sandbox ${id}`, sandboxes.destroy(id));
    };
    await apart(`sandboxes of ${scope}`, clear(), limits.sweep_ms);
  });
}

async function someAtOnce<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await each(item);
  };
  await Promise.all(Array.from({ length: limits.sweep_at_once }, worker));
}
async function apart(what: string, work: Promise<unknown>, ms: number = limits.sweep_scope_ms): Promise<void> {
  try {
    await inTime(work, ms, what);
  } catch (error) {
    console.error(`sweep: ${what} failed; the next minute tries again`, error);
  }
}
