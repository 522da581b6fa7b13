/**
 * The audit chain of one object: each link's hash covers its own fields and the hash before it, so a row
 * that is altered, missing, out of place or cut off is found and named. Works on rows alone, offline. [AUD-*]
 */
import { cappedDetails, capReason } from "./audit-details.ts";
import { canonicalJson, sha256Hex } from "./canonical.ts";
import { type Message, partyOf } from "./message.ts";
import { type AuditView, auditView } from "./record-view.ts";

/** What is recorded, before the chain numbers and links it. */
export type AuditEvent = Omit<AuditView, "seq" | "prev_hash" | "hash">;
export interface ChainHead {
  readonly object: string;
  readonly seq: number;
  readonly hash: string;
}
export interface Fault {
  readonly ok: false;
  readonly fault: "altered" | "missing" | "reordered" | "truncated";
  readonly object: string;
  readonly seq: number;
  readonly detail: string;
}
export type Verification = { readonly ok: true; readonly heads: readonly ChainHead[] } | Fault;

/** `prev_hash` of a chain's first link. */
export const genesis = "0".repeat(64);

export function append(prev: ChainHead | null, event: AuditEvent): AuditView {
  return appendText(prev, event).link;
}

/**
 * The link, and its canonical JSON: what is hashed and what is stored differ by the hash alone, so both are written once.
 * `sha256` is SHA-256 in hex of a text's UTF-8; a caller with a faster one brings it.
 */
export function appendText(
  prev: ChainHead | null,
  event: AuditEvent,
  sha256: (text: string) => string = sha256Hex,
): { link: AuditView; body: string } {
  const { details, text } = cappedDetails(event.details);
  const fields = {
    ...event,
    reason: capReason(event.reason),
    details,
    seq: (prev?.seq ?? 0) + 1,
    prev_hash: prev?.hash ?? genesis,
  };
  const { before, after } = halves(fields, text);
  const hash = sha256(`${before},${after}`);
  return { link: { ...fields, hash }, body: `${before},"hash":"${hash}",${after}` };
}

/** The canonical JSON of a link without its hash, parted where the key `hash` belongs. */
function halves(link: Omit<AuditView, "hash">, detailsText: string = canonicalJson(link.details)) {
  const { actor, created_at, decision, details: _, event_type, ...rest } = link;
  const before = canonicalJson({ actor, created_at, decision });
  return {
    before: `${before.slice(0, -1)},"details":${detailsText},"event_type":${canonicalJson(event_type)}`,
    after: canonicalJson(rest).slice(1),
  };
}

/** Who an object's name is in the audit's words. */
export function actorOf(sender: string): AuditView["actor"] {
  const party = partyOf(sender);
  if (party === "verifier") return "verification_runner";
  // It only carries out what the runtime wants shown.
  return party === "courier" ? "runtime" : party;
}

/** The ids an audit event copies from the message it is about. */
export function about(message: Pick<Message, "message_id" | "trace_id" | "scope_id">) {
  return { message_id: message.message_id, trace_id: message.trace_id, scope_id: message.scope_id };
}

/**
 * Verifies the chains of any number of objects, each in the order given. With `heads`, each of those chains
 * must also reach its head and hold it: without them a cut-off end or a rewritten last row cannot be seen.
 */
export function verifyChain(links: readonly AuditView[], heads: readonly ChainHead[] = []): Verification {
  const fold = new ChainFold(heads);
  for (const link of links) fold.add(link);
  return fold.end();
}

interface Chain {
  seq: number;
  hash: string;
  /** Heads this chain must hold, lowest first; those already met are gone by. */
  readonly heads: readonly ChainHead[];
  met: number;
  fault: Fault | null;
  /** A later row stood where this one belongs: it is missing, unless it still comes. */
  gap: { readonly seq: number; readonly stood: number } | null;
}

/**
 * The same, row by row: it holds each chain's end and the heads, and no row. Every chain's rows come in the order they
 * are kept. A row is anything: what is no audit row counts as altered. [AUD-14]
 */
export class ChainFold {
  readonly #chains = new Map<string, Chain>();
  readonly #scope: string | null;
  #rows = 0;

  /** With `scope_id`, a row of another scope is a fault. `from` is where rows verified before left off. */
  constructor(heads: Iterable<ChainHead> = [], scope_id: string | null = null, from: ChainHead | null = null) {
    this.#scope = scope_id;
    const all = Map.groupBy(heads, (head) => head.object);
    for (const [object, own] of all) {
      const sorted = own.filter(({ seq }) => seq > 0).sort((a, b) => a.seq - b.seq);
      if (sorted.length > 0) this.#chains.set(object, chainFrom(null, sorted));
    }
    if (from !== null) {
      const ahead = this.#chains.get(from.object)?.heads.filter(({ seq }) => seq > from.seq) ?? [];
      this.#chains.set(from.object, chainFrom(from, ahead));
    }
  }

  get rows(): number {
    return this.#rows;
  }

  /** The fault, once it is certain: no later row can mend it. */
  add(row: unknown): Fault | null {
    this.#rows++;
    const read = auditView.safeParse(row);
    const object = read.data?.object ?? named(row);
    const chain = this.#chains.get(object) ?? chainFrom(null, []);
    this.#chains.set(object, chain);
    if (chain.fault !== null) return chain.fault;
    if (!read.success) return fail(chain, "altered", object, chain.seq + 1, "it is not an audit row");
    const link = read.data;
    if (this.#scope !== null && (link.scope_id !== this.#scope || !object.startsWith(`${this.#scope}/`)))
      return fail(chain, "altered", object, link.seq, `row ${link.seq} belongs to another scope`);
    if (chain.gap !== null) return this.#afterGap(chain, chain.gap, link);
    const seq = chain.seq + 1;
    if (link.seq < seq) return fail(chain, "reordered", object, seq, `row ${link.seq} stands where row ${seq} belongs`);
    if (link.seq > seq) {
      chain.gap = { seq, stood: link.seq };
      return null;
    }
    if (hashOrNull(link) !== link.hash)
      return fail(chain, "altered", object, seq, `row ${seq} does not match its own hash`);
    if (link.prev_hash !== chain.hash) {
      const before = Math.max(chain.seq, 1);
      return fail(chain, "altered", object, before, `row ${before} is not the row its successor recorded`);
    }
    for (; chain.heads[chain.met]?.seq === seq; chain.met++)
      if (chain.heads[chain.met]?.hash !== link.hash)
        return fail(chain, "altered", object, seq, `row ${seq} is not the row that was recorded as the chain's end`);
    chain.seq = seq;
    chain.hash = link.hash;
    return null;
  }
  #afterGap(chain: Chain, gap: NonNullable<Chain["gap"]>, link: AuditView): Fault | null {
    if (link.seq !== gap.seq) return null;
    return fail(chain, "reordered", link.object, gap.seq, `row ${gap.stood} stands where row ${gap.seq} belongs`);
  }

  /**
   * A chain whose rows are all in: what is still missing of it, or null. Signed rows past `stored` are still on their
   * way to where the rows came from, and not demanded.
   */
  close(object: string, stored: number = Number.POSITIVE_INFINITY): Fault | null {
    const chain = this.#chains.get(object);
    if (chain === undefined || chain.fault !== null) return chain?.fault ?? null;
    if (chain.gap !== null) return fail(chain, "missing", object, chain.gap.seq, `row ${chain.gap.seq} is not there`);
    const owed = chain.heads.slice(chain.met).findLast(({ seq }) => seq <= stored);
    if (owed === undefined) return null;
    const detail = `the chain ends before row ${owed.seq}, which was recorded as its end`;
    return fail(chain, "truncated", object, chain.seq + 1, detail);
  }
  /** Up to which row a chain was verified; 0 when none of it was seen. */
  reached(object: string): number {
    return this.#chains.get(object)?.seq ?? 0;
  }
  end(): Verification {
    for (const object of this.#chains.keys()) {
      const fault = this.close(object);
      if (fault !== null) return fault;
    }
    return { ok: true, heads: this.heads() };
  }
  /** How far each chain was verified. */
  heads(): ChainHead[] {
    return [...this.#chains].flatMap(([object, { seq, hash }]) => (seq === 0 ? [] : [{ object, seq, hash }]));
  }
}

function chainFrom(from: ChainHead | null, heads: readonly ChainHead[]): Chain {
  return { seq: from?.seq ?? 0, hash: from?.hash ?? genesis, heads, met: 0, fault: null, gap: null };
}
function fail(chain: Chain, fault: Fault["fault"], object: string, seq: number, detail: string): Fault {
  chain.fault = { ok: false, fault, object, seq, detail };
  return chain.fault;
}
/** Whose row it says it is, when it is a row no more. */
function named(row: unknown): string {
  const object = typeof row === "object" && row !== null && "object" in row ? row.object : null;
  return typeof object === "string" ? object : "?";
}

/** Null for a row that has no canonical form: nothing we wrote lacks one. */
function hashOrNull({ hash: _, ...link }: AuditView): string | null {
  try {
    const { before, after } = halves(link);
    return sha256Hex(`${before},${after}`);
  } catch {
    return null;
  }
}
