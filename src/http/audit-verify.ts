/**
 * The audit as D1 holds it, verified: every chain from its first row against the signed checkpoints, and against where
 * the living objects say that their chains end. Rows come in pages and none is kept. [HTTP-51] [HTTP-52] [HTTP-53]
 */
import { z } from "zod";
import { ChainFold, type ChainHead, type Fault } from "../domain/audit.ts";
import { CheckpointFold, checkpointsOf, type Verify } from "../domain/checkpoint.ts";
import type { CheckpointRow } from "../domain/records.ts";
import { limits } from "../limits.ts";
import type { ChainEnds } from "./doors.ts";
import type { RecordsPort } from "./ports.ts";

const place = z.tuple([z.literal("verified"), z.string(), z.number().int().positive()]);

export const auditVerdict = z.strictObject({
  ok: z.boolean(),
  checked_rows: z.number().int(),
  chains: z.array(
    z.strictObject({
      object: z.string(),
      rows: z.number().int(),
      head: z.strictObject({ seq: z.number().int(), hash: z.string() }).nullable(),
      /** Rows up to this one cannot be cut off or rewritten unseen. */
      signed_up_to: z.number().int(),
      /** Rows the object has and the database does not have yet. */
      pending: z.number().int(),
    }),
  ),
  checkpoints: z.strictObject({
    checked: z.number().int(),
    newest: z.strictObject({ seq: z.number().int(), at: z.string() }).nullable(),
    pending: z.number().int(),
  }),
  /** False when the deployment has no SIGNING_KEYS: then nothing is signed, and a cut-off end is seen only against the living objects. */
  signing: z.boolean(),
  /** Objects that did not answer: what their chains still owe is not known. */
  unanswered: z.array(z.string()),
  /** What this answer leaves out, in a sentence; null when it covers everything. */
  incomplete: z.string().nullable(),
  next_cursor: z.string().nullable(),
  fault: z
    .strictObject({
      fault: z.enum(["altered", "missing", "reordered", "truncated"]),
      object: z.string(),
      seq: z.number().int(),
      detail: z.string(),
    })
    .nullable(),
});
export type AuditVerdict = z.infer<typeof auditVerdict>;

interface Stored {
  readonly scope_id: string;
  readonly records: RecordsPort;
  /** As the objects said before anything was read from D1: all they call shipped is there by now. */
  readonly ends: ChainEnds;
  readonly verify: Verify;
}

export async function verifyStored(stored: Stored, cursor: string | null): Promise<AuditVerdict> {
  const { scope_id, records, ends } = stored;
  const signed = await foldCheckpoints(stored);
  const from = await startOf(records, scope_id, cursor);
  const living = ends.chains.map(({ object, seq, hash }) => ({ object, seq, hash }));
  const fold = new ChainFold([...signed.fold.heads(), ...living], scope_id, from.head);
  const walk = new Walk(fold, ends, signed.fold, from.head?.object ?? "");
  let fault = signed.fault ?? from.fault;
  let after: { object: string; seq: number } | null = from.head;
  let more = true;
  while (fault === null && more && fold.rows < limits.verify_rows) {
    const rows = await records.chainRows(scope_id, after, limits.records_page);
    for (const row of rows) {
      // The query gives both, by the types of their columns.
      after = { object: String(row.object), seq: Number(row.seq) };
      fault = walk.enter(after.object) ?? fold.add(row);
      if (fault !== null) break;
    }
    more = rows.length === limits.records_page;
  }
  if (fault === null && !more) fault = walk.end();
  const unfinished = fault === null && more && after !== null;
  const left = [
    unfinished ? `rows after row ${after?.seq} of ${after?.object} were not read: go on with next_cursor` : null,
    signed.left,
    ends.silent.length > 0 ? `${ends.silent.join(", ")} did not answer` : null,
  ].filter((said) => said !== null);
  return {
    ok: fault === null,
    checked_rows: fold.rows,
    chains: walk.chains(),
    checkpoints: {
      checked: signed.count,
      newest: signed.fold.last === null ? null : { seq: signed.fold.last.seq, at: signed.fold.last.at },
      pending: Math.max(0, (ends.checkpoint?.seq ?? 0) - (signed.fold.last?.seq ?? 0)),
    },
    signing: ends.signing,
    unanswered: [...ends.silent],
    incomplete: left.length === 0 ? null : left.join("; "),
    next_cursor: unfinished && after !== null ? encode(["verified", after.object, after.seq]) : null,
    fault: fault === null ? null : { fault: fault.fault, object: fault.object, seq: fault.seq, detail: fault.detail },
  };
}

/** Goes through the chains in the order of their names, and misses those that should be there and are not. */
class Walk {
  readonly #fold: ChainFold;
  readonly #signed: CheckpointFold;
  readonly #ends: ReadonlyMap<string, ChainEnds["chains"][number]>;
  /** Chains that must come, in order of their names. */
  readonly #expected: string[];
  readonly #seen: string[] = [];
  constructor(fold: ChainFold, ends: ChainEnds, signed: CheckpointFold, from: string) {
    this.#fold = fold;
    this.#signed = signed;
    this.#ends = new Map(ends.chains.map((end) => [end.object, end]));
    const names = [...ends.chains, ...signed.heads()].map(({ object }) => object);
    this.#expected = [...new Set(names)].filter((object) => object >= from).sort();
    if (from !== "") this.#seen.push(from);
  }
  /** A row of this chain comes next. */
  enter(object: string): Fault | null {
    if (this.#seen.at(-1) === object) return null;
    const fault = this.#closeWhile((name) => name < object);
    this.#seen.push(object);
    return fault;
  }
  end(): Fault | null {
    return this.#closeWhile(() => true);
  }
  #closeWhile(passed: (object: string) => boolean): Fault | null {
    const last = this.#seen.at(-1);
    const before = last === undefined || this.#expected.includes(last) ? null : this.#close(last);
    if (before !== null) return before;
    for (let next = this.#expected[0]; next !== undefined && passed(next); next = this.#expected[0]) {
      this.#expected.shift();
      const fault = this.#close(next);
      if (fault !== null) return fault;
      if (!this.#seen.includes(next)) this.#seen.push(next);
    }
    return null;
  }
  #close(object: string): Fault | null {
    const stored = this.#ends.get(object)?.shipped ?? 0;
    const fault = this.#fold.close(object, stored);
    if (fault !== null) return fault;
    const reached = this.#fold.reached(object);
    if (reached >= stored) return null;
    const detail = `the chain ends before row ${stored}, which the object knows to have been stored`;
    return { ok: false, fault: "truncated", object, seq: reached + 1, detail };
  }

  chains(): AuditVerdict["chains"] {
    const heads = new Map(this.#fold.heads().map((head) => [head.object, head]));
    return [...new Set(this.#seen)].sort().map((object) => {
      const head = heads.get(object) ?? null;
      const rows = head?.seq ?? 0;
      return {
        object,
        rows,
        head: head === null ? null : { seq: head.seq, hash: head.hash },
        signed_up_to: Math.min(rows, this.#signed.signedUpTo(object)),
        pending: Math.max(0, (this.#ends.get(object)?.seq ?? 0) - rows),
      };
    });
  }
}

async function foldCheckpoints({ scope_id, records, ends, verify }: Stored) {
  const fold = new CheckpointFold(scope_id, verify);
  let count = 0;
  let fault: Fault | null = null;
  for (let more = true; more && fault === null && count < limits.verify_checkpoints; ) {
    const rows = await records.checkpoints(scope_id, fold.last?.seq ?? 0, limits.records_page);
    for (const row of rows) {
      count++;
      fault = (await fold.add(row.jws)) ?? mislabelled(row, fold, scope_id);
      if (fault !== null) break;
    }
    more = rows.length === limits.records_page;
  }
  const reached = fold.last?.seq ?? 0;
  const all = count < limits.verify_checkpoints;
  const newest = ends.checkpoint;
  if (fault === null && newest !== null && all) {
    const object = checkpointsOf(scope_id);
    if (reached < newest.shipped)
      fault = {
        ok: false,
        fault: "truncated",
        object,
        seq: reached + 1,
        detail: `checkpoint ${newest.shipped} was stored, and is not there`,
      };
    else if (reached === newest.seq && fold.last?.hash !== newest.hash)
      fault = {
        ok: false,
        fault: "altered",
        object,
        seq: reached,
        detail: `checkpoint ${reached} is not the one made`,
      };
  }
  return { fold, fault, count, left: all ? null : `checkpoints after ${reached} were not read` };
}

/** What stands beside a good signature is nobody's word. */
function mislabelled(row: CheckpointRow, fold: CheckpointFold, scope_id: string): Fault | null {
  const { seq = 0, hash, at } = fold.last ?? {};
  if (row.seq === seq && row.hash === hash && row.at === at) return null;
  const detail = `checkpoint ${seq} is not what the columns beside it say`;
  return { ok: false, fault: "altered", object: checkpointsOf(scope_id), seq, detail };
}

/** Where the call before left off; its last row's hash is what the next row must follow. */
async function startOf(
  records: RecordsPort,
  scope_id: string,
  cursor: string | null,
): Promise<{ head: ChainHead | null; fault: Fault | null }> {
  const from = cursor === null ? null : decode(cursor);
  if (from === null || !from[1].startsWith(`${scope_id}/`)) return { head: null, fault: null };
  const [, object, seq] = from;
  const row = await records.chainRow({ object, seq });
  if (row !== null) return { head: { object, seq, hash: row.hash }, fault: null };
  return { head: null, fault: { ok: false, fault: "missing", object, seq, detail: `row ${seq} is not there` } };
}

function encode(at: z.infer<typeof place>): string {
  return btoa(JSON.stringify(at)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
function decode(cursor: string): z.infer<typeof place> | null {
  try {
    return place.safeParse(JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")))).data ?? null;
  } catch {
    return null;
  }
}
