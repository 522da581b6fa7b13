/**
 * What must hold of D1: each row is of the scope whose object made it, each link is the one the object has, and each
 * checkpoint is signed, follows the one before it, and speaks of heads that the objects really had.
 */
import { CheckpointFold } from "../../../src/domain/checkpoint.ts";
import { type Platform, signer } from "../platform/platform.ts";
import { must, type QueueLaws, scopeOf } from "./queue-laws.ts";

interface Stored {
  readonly object: string;
  readonly scope_id: string;
  readonly seq: number;
  readonly hash: string;
}

/** Looks at all that D1 holds. Returns how many checkpoints that is. */
export async function checkRecords({ database }: Platform, queues: QueueLaws): Promise<number> {
  // The queries name their columns.
  const all = async <T>(query: string) => (await database.prepare(query).all()).results as T[];
  for (const { object, scope_id, seq, hash } of await all<Stored>("SELECT object, scope_id, seq, hash FROM audit")) {
    must(scopeOf(object) === scope_id, `D1: link ${seq} of ${object} is of scope ${scope_id}`);
    must(queues.hashOf(object, seq) === hash, `D1: link ${seq} of ${object} is not the one it has`);
  }
  const crossed =
    "SELECT object, scope_id FROM telemetry WHERE substr(object, 1, length(scope_id) + 1) <> scope_id || '/'";
  for (const { object, scope_id } of await all<Stored>(crossed))
    must(false, `D1: telemetry of ${object} is of scope ${scope_id}`);

  const checkpoints = await all<{ scope_id: string; jws: string }>(
    "SELECT scope_id, jws FROM checkpoints ORDER BY scope_id, seq",
  );
  for (const scope of new Set(checkpoints.map(({ scope_id }) => scope_id))) {
    const fold = new CheckpointFold(scope, signer.verify);
    for (const { jws } of checkpoints.filter(({ scope_id }) => scope_id === scope)) {
      const fault = await fold.add(jws);
      must(fault === null, `D1: ${fault?.detail}`);
    }
    for (const { object, seq, hash } of fold.heads()) {
      must(scopeOf(object) === scope, `D1: a checkpoint of ${scope} signs ${object}`);
      must(
        queues.hashOf(object, seq) === hash,
        `D1: a checkpoint of ${scope} signs a head ${object} never had at ${seq}`,
      );
    }
  }
  return checkpoints.length;
}
