/** Chains, signed checkpoints and whole export files, as the objects and the doors make them. */

import { generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { type AuditEvent, append, type ChainHead, genesis } from "../../src/domain/audit.ts";
import { lineOf } from "../../src/domain/audit-file.ts";
import { sha256Hex } from "../../src/domain/canonical.ts";
import { type Checkpoint, checkpointHash, checkpointInput, type Verify } from "../../src/domain/checkpoint.ts";
import { assembleJws } from "../../src/domain/jws.ts";
import type { AuditView } from "../../src/domain/record-view.ts";

export const scope_id = "scopescopescope1";
export const at = "2026-01-01T00:00:00.000Z";

export interface TestKey {
  readonly kid: string;
  readonly private: KeyObject;
  readonly public: KeyObject;
  readonly jwk: { kty: string; crv: string; x: string; kid: string; alg: string; use: string };
}
export function makeKey(kid: string): TestKey {
  const pair = generateKeyPairSync("ed25519");
  const { kty = "", crv = "", x = "" } = pair.publicKey.export({ format: "jwk" });
  return {
    kid,
    private: pair.privateKey,
    public: pair.publicKey,
    jwk: { kty, crv, x, kid, alg: "EdDSA", use: "sig" },
  };
}
export function verifyWith(...keys: readonly TestKey[]): Verify {
  return async (kid, input, signature) => {
    const key = keys.find((one) => one.kid === kid);
    return key !== undefined && verify(null, new TextEncoder().encode(input), key.public, signature);
  };
}

export function eventOf(name: string, n: number, scope = scope_id): AuditEvent {
  return {
    object: `${scope}/${name}`,
    event_type: "enqueue",
    trace_id: `trace-${n % 3}`,
    message_id: `message-${n}`,
    scope_id: scope,
    actor: "runtime",
    decision: "accepted",
    reason: n % 2 === 0 ? null : `event ${n}`,
    details: { queue: "inbox", n, text: 'é"\n', deep: { list: [1, null, 1e21] } },
    created_at: at,
  };
}
export function chainOf(name: string, length: number, scope = scope_id): AuditView[] {
  const links: AuditView[] = [];
  for (let n = 1; n <= length; n++) links.push(append(links.at(-1) ?? null, eventOf(name, n, scope)));
  return links;
}
export function headOf(links: readonly AuditView[], seq = links.length): ChainHead {
  const link = links[seq - 1];
  if (link === undefined) throw new Error(`no row ${seq}`);
  return { object: link.object, seq: link.seq, hash: link.hash };
}

export function signCheckpoint(
  key: TestKey,
  before: string | null,
  heads: readonly ChainHead[],
  more: Partial<Checkpoint> & { seq: number },
): string {
  const prev = before === null ? genesis : checkpointHash(before);
  const input = checkpointInput(key.kid, { scope: scope_id, prev, heads: [...heads], at, ...more });
  return assembleJws(input, sign(null, new TextEncoder().encode(input), key.private));
}

/** One line each: header, rows, checkpoints, end. */
export function fileOf(rows: readonly AuditView[], checkpoints: readonly string[], keys: readonly TestKey[]): string[] {
  const header = lineOf({
    format: "countersign-audit",
    version: 1,
    scope_id,
    exported_at: at,
    keys: { keys: keys.map(({ jwk }) => jwk) },
  });
  return [
    header,
    ...rows.map((row) => lineOf({ ...row })),
    ...checkpoints.map((checkpoint) => lineOf({ checkpoint })),
    lineOf({ end: { rows: rows.length, checkpoints: checkpoints.length, header: sha256Hex(header) } }),
  ];
}

/** Two chains of 6 and 4 rows, two checkpoints, and one row of each chain after the last. */
export function sample(key: TestKey) {
  const runtime = chainOf("runtime", 6);
  const proxy = chainOf("proxy", 4);
  const first = signCheckpoint(key, null, [headOf(proxy, 1), headOf(runtime, 2)], { seq: 1 });
  const second = signCheckpoint(key, first, [headOf(proxy, 3), headOf(runtime, 4)], { seq: 2 });
  const third = signCheckpoint(key, second, [headOf(proxy, 3), headOf(runtime, 5)], { seq: 3 });
  return { runtime, proxy, checkpoints: [first, second, third], rows: [...proxy, ...runtime] };
}
