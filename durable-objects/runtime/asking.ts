/** What an agent is asked to do until it has answered: to call off work, or to send a dead letter again. [RTO-*] */
import type { KillRow } from "./call-rows.ts";
import type { Tx } from "./tx.ts";

/** Asked anew while the one before is on its way, both are meant: no answer to the first ends the second. */
export function askAgent(
  tx: Tx,
  asked: Pick<KillRow, "task_id" | "agent" | "owner" | "what"> & { calls: readonly string[] },
): void {
  const id = `${asked.agent}.${asked.owner}`;
  const before = tx.rows.kills.get(id);
  tx.rows.kills.put({
    ...asked,
    id,
    calls: [...new Set([...(before?.calls ?? []), ...asked.calls])],
    version: (before?.version ?? 0) + 1,
    since: before?.since ?? tx.now,
    next_at: tx.now,
    tries: 0,
  });
}
