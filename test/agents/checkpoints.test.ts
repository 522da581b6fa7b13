import { sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { AuditLog, auditSchema } from "../../durable-objects/audit-log.ts";
import { Checkpoints, checkpointSchema } from "../../durable-objects/runtime/checkpoints.ts";
import { applySchemas } from "../../durable-objects/sql.ts";
import type { ChainHead } from "../../src/domain/audit.ts";
import { CheckpointFold, readCheckpoint } from "../../src/domain/checkpoint.ts";
import { chainOf, eventOf, headOf, makeKey, scope_id, verifyWith } from "../fakes/audit-chains.ts";
import { nodeSql } from "../fakes/node-sql.ts";

const key = makeKey("k1");
const signer = {
  kid: key.kid,
  sign: async (text: string) => new Uint8Array(sign(null, new TextEncoder().encode(text), key.private)),
  verify: async () => false,
};
const proxy = chainOf("proxy", 9);
const minute = 60_000;

function scope() {
  const sql = nodeSql();
  applySchemas(sql, { audit: auditSchema, checkpoints: checkpointSchema });
  const audit = new AuditLog(sql);
  const checkpoints = new Checkpoints(sql, audit);
  const write = (now: number) => audit.append(eventOf("runtime", now), now);
  const own = (): ChainHead[] => {
    const head = audit.head();
    return head === null ? [] : [head];
  };
  /** Looks, signs and keeps, as the runtime does; true when there was something to sign. */
  const seal = async (now: number, agents: readonly ChainHead[] = []) => {
    const signed = await checkpoints.sign(scope_id, signer, [...own(), ...agents], now);
    checkpoints.looked(now);
    return signed !== null && checkpoints.keep(signed, now, () => write(now));
  };
  return { audit, checkpoints, write, own, seal };
}

describe("when a checkpoint is due", () => {
  it("[AUD-18] five minutes after the last look while the chain grows, soon after a task's end, at most one a minute, and never for its own record", async () => {
    const { checkpoints, write, seal } = scope();
    expect(checkpoints.nextDueAt()).toBeNull();
    write(0);
    expect(checkpoints.nextDueAt()).toBe(5 * minute);
    expect(checkpoints.isDue(5 * minute - 1)).toBe(false);
    expect(await seal(5 * minute)).toBe(true);
    expect(checkpoints.nextDueAt()).toBeNull();
    expect(checkpoints.isDue(9 * minute)).toBe(false);
    // Nothing new here, but another object may have grown by itself.
    expect(checkpoints.isDue(10 * minute)).toBe(true);
    expect(await seal(10 * minute)).toBe(false);
    write(11 * minute);
    expect(checkpoints.nextDueAt()).toBe(15 * minute);
    checkpoints.want(11 * minute);
    checkpoints.want(12 * minute);
    expect(checkpoints.nextDueAt()).toBe(11 * minute + 5_000);
    expect(await seal(11 * minute + 5_000)).toBe(true);
    write(11 * minute + 6_000);
    checkpoints.want(11 * minute + 6_000);
    expect(checkpoints.nextDueAt()).toBe(12 * minute + 5_000);
    expect(await seal(12 * minute + 5_000)).toBe(true);
    expect(await seal(20 * minute, [headOf(proxy, 1)])).toBe(true);
    expect(await seal(25 * minute, [headOf(proxy, 1)])).toBe(false);
  });
  it("[AUD-19] an object that does not answer, or answers with less than was signed, keeps the end that was signed of it", async () => {
    const { checkpoints, write, seal } = scope();
    write(0);
    await seal(1, [headOf(proxy, 4)]);
    for (const heard of [[], [headOf(proxy, 2)]]) {
      write(2);
      await seal(3, heard);
      const newest = checkpoints.unshipped(scope_id, 9).at(-1);
      expect(readCheckpoint(newest?.jws ?? "")?.said.heads).toContainEqual(headOf(proxy, 4));
    }
  });
  it("[AUD-20] one made meanwhile is not overtaken: the late one is dropped, and what came in between is still to be signed", async () => {
    const { checkpoints, write, own, seal } = scope();
    write(0);
    const late = await checkpoints.sign(scope_id, signer, own(), 1);
    if (late === null) throw new Error("nothing was signed");
    expect(await seal(2)).toBe(true);
    expect(checkpoints.keep(late, 3, () => expect.unreachable())).toBe(false);
    write(4);
    const slow = await checkpoints.sign(scope_id, signer, own(), 5);
    write(6);
    checkpoints.looked(7);
    expect(slow !== null && checkpoints.keep(slow, 7, () => write(7))).toBe(true);
    expect(checkpoints.nextDueAt()).toBe(7 + 5 * minute);
  });
  it("[AUD-20] they chain, verify, leave in order until confirmed, and the newest stays", async () => {
    const { checkpoints, write, seal } = scope();
    for (let n = 1; n <= 3; n++) {
      write(n);
      await seal(n);
    }
    const fold = new CheckpointFold(scope_id, verifyWith(key));
    const seqs = () => checkpoints.unshipped(scope_id, 9).map(({ seq }) => seq);
    for (const row of checkpoints.unshipped(scope_id, 9)) expect(await fold.add(row.jws)).toBeNull();
    expect(fold.last).toEqual(checkpoints.newest());
    expect(checkpoints.unshipped(scope_id, 2)).toHaveLength(2);
    checkpoints.shipped(2);
    checkpoints.shipped(1);
    expect([seqs(), checkpoints.shippedSeq()]).toEqual([[3], 2]);
    checkpoints.shipped(99);
    expect([seqs(), checkpoints.shippedSeq(), checkpoints.newest()?.seq]).toEqual([[], 3, 3]);
    write(9);
    expect(await seal(9)).toBe(true);
    expect(seqs()).toEqual([4]);
  });
});
