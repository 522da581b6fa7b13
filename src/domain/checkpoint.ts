/**
 * A checkpoint: the ends of all of a scope's chains at one time, signed, and chained to the checkpoint before it. What
 * stands below a signed end can no longer be cut off or rewritten unseen. Verifies offline, with the public keys. [AUD-*]
 */
import { z } from "zod";
import { type ChainHead, type Fault, genesis } from "./audit.ts";
import { sha256Hex } from "./canonical.ts";
import { jwsInput, readSigned } from "./jws.ts";

const typ = "countersign-checkpoint+jws";
const digest = z.string().regex(/^[0-9a-f]{64}$/);

export const checkpoint = z.strictObject({
  scope: z.string(),
  /** From 1, without a gap. */
  seq: z.number().int().positive(),
  /** SHA-256 of the checkpoint before, as it was signed; zeros for the first. */
  prev: digest,
  heads: z.array(z.strictObject({ object: z.string(), seq: z.number().int().positive(), hash: digest })),
  /** ISO 8601 in UTC. */
  at: z.string(),
});
export type Checkpoint = z.infer<typeof checkpoint>;
export type Verify = (kid: string, input: string, signature: Uint8Array<ArrayBuffer>) => Promise<boolean>;

export function checkpointInput(kid: string, said: Checkpoint): string {
  return jwsInput(typ, kid, said);
}
export function readCheckpoint(jws: string) {
  return readSigned(typ, checkpoint, jws);
}
export function checkpointHash(jws: string): string {
  return sha256Hex(jws);
}
/** How faults name the chain of checkpoints. */
export function checkpointsOf(scope_id: string): string {
  return `${scope_id}/checkpoints`;
}

export interface LastCheckpoint {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
}

/**
 * Checkpoints one by one, in the order they are kept. It remembers each head once, however many checkpoints repeat it,
 * so what it holds grows with what changed. [AUD-17]
 */
export class CheckpointFold {
  readonly #scope: string;
  readonly #verify: Verify;
  readonly #heads = new Map<string, ChainHead[]>();
  #last: LastCheckpoint | null = null;
  #fault: Fault | null = null;
  constructor(scope_id: string, verify: Verify) {
    this.#scope = scope_id;
    this.#verify = verify;
  }

  async add(jws: string): Promise<Fault | null> {
    this.#fault ??= await this.#check(jws);
    return this.#fault;
  }
  async #check(jws: string): Promise<Fault | null> {
    const seq = (this.#last?.seq ?? 0) + 1;
    const read = readCheckpoint(jws);
    if (read === null) return this.#fail("altered", seq, `checkpoint ${seq} is not a checkpoint as we sign them`);
    const { said } = read;
    if (!(await this.#verify(read.kid, read.input, read.signature)))
      return this.#fail("altered", seq, `checkpoint ${said.seq} is not signed by a known key (kid ${read.kid})`);
    if (said.scope !== this.#scope) return this.#fail("altered", seq, `checkpoint ${said.seq} is of another scope`);
    if (said.seq > seq) return this.#fail("missing", seq, `checkpoint ${seq} is not there`);
    if (said.seq < seq) return this.#fail("reordered", seq, `checkpoint ${said.seq} stands where ${seq} belongs`);
    if (said.prev !== (this.#last?.hash ?? genesis))
      return this.#fail("altered", seq, `checkpoint ${seq} does not follow the one before it`);
    for (const head of said.heads) {
      const own = this.#heads.get(head.object) ?? [];
      const before = own.at(-1);
      if (before !== undefined && head.seq < before.seq)
        return {
          ok: false,
          fault: "truncated",
          object: head.object,
          seq: head.seq + 1,
          detail: `checkpoint ${seq} signed row ${head.seq} as the end, the one before it row ${before.seq}`,
        };
      if (before?.seq !== head.seq || before.hash !== head.hash) own.push(head);
      this.#heads.set(head.object, own);
    }
    this.#last = { seq, hash: checkpointHash(jws), at: said.at };
    return null;
  }
  #fail(fault: Fault["fault"], seq: number, detail: string): Fault {
    return { ok: false, fault, object: checkpointsOf(this.#scope), seq, detail };
  }

  get last(): LastCheckpoint | null {
    return this.#last;
  }
  /** Every head that was signed, once. */
  heads(): ChainHead[] {
    return [...this.#heads.values()].flat();
  }
  /** Up to which row a chain is signed; 0 when it is not. */
  signedUpTo(object: string): number {
    return this.#heads.get(object)?.at(-1)?.seq ?? 0;
  }
}
