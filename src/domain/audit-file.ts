/**
 * The audit as a file: NDJSON of a header, every row chain by chain, every checkpoint, and a last line that counts them.
 * Each line is canonical JSON, so no byte of it may change. Verified here line by line, with no server. [AUD-21] [AUD-22]
 */
import { z } from "zod";
import { ChainFold, type ChainHead, type Fault } from "./audit.ts";
import { canonicalJson, sha256Hex } from "./canonical.ts";
import { CheckpointFold, checkpointsOf, type LastCheckpoint, type Verify } from "./checkpoint.ts";
import { auditView } from "./record-view.ts";

export const publicKey = z.looseObject({ kty: z.string(), crv: z.string(), x: z.string(), kid: z.string() });
export type PublicKey = z.infer<typeof publicKey>;
export const keySet = z.looseObject({ keys: z.array(publicKey) });

export const fileHeader = z.strictObject({
  format: z.literal("countersign-audit"),
  version: z.literal(1),
  scope_id: z.string(),
  exported_at: z.string(),
  keys: keySet,
});
export type FileHeader = z.infer<typeof fileHeader>;
const checkpointLine = z.strictObject({ checkpoint: z.string() });
/** `header` is the hash of the first line, which no chain covers. */
const lastLine = z.strictObject({
  end: z.strictObject({ rows: z.number().int(), checkpoints: z.number().int(), header: z.string() }),
});
export type FileLine = FileHeader | z.infer<typeof checkpointLine> | z.infer<typeof lastLine> | Record<string, unknown>;

export function lineOf(value: FileLine): string {
  return canonicalJson(value);
}

/** It is no export of ours: nothing can be said about what is in it. */
export class NotAnExport extends Error {}

export interface FileVerdict {
  readonly ok: boolean;
  readonly scope_id: string;
  readonly rows: number;
  readonly chains: readonly (ChainHead & { readonly signed_up_to: number })[];
  readonly checkpoints: number;
  readonly last_checkpoint: LastCheckpoint | null;
  /** `unsigned`: whoever reads it asked for signatures, and there are none. */
  readonly fault: (Omit<Fault, "ok" | "fault"> & { readonly fault: Fault["fault"] | "unsigned" }) | null;
}

/**
 * `lines` is asked for twice: checkpoints stand last and must be known before the rows. Holds no row, whatever the
 * file's size. Throws NotAnExport when the first line is no header of ours.
 */
export async function verifyFile(
  lines: () => AsyncIterable<string>,
  verifyWith: (header: FileHeader) => Verify | Promise<Verify>,
): Promise<FileVerdict> {
  const { header, headerHash, signed, end } = await signedParts(lines(), verifyWith);
  const checkpoints = { checkpoints: signed.count, last_checkpoint: signed.fold.last };
  const chains = new ChainFold(signed.fold.heads(), header.scope_id);
  const verdict = (fault: Fault | null): FileVerdict => ({
    ok: fault === null,
    scope_id: header.scope_id,
    rows: chains.rows,
    chains: chains.heads().map((head) => ({ ...head, signed_up_to: signed.fold.signedUpTo(head.object) })),
    ...checkpoints,
    fault: fault === null ? null : withoutOk(fault),
  });
  if (signed.fault !== null) return verdict(signed.fault);
  const { fault, at } = await foldRows(lines(), chains, header, end !== null);
  if (fault !== null) return verdict(fault);
  const closed = chains.end();
  if (!closed.ok) return verdict(closed);
  if (end === null) {
    const detail = "the last line is not there: what stood after this place was cut off, or the export broke off";
    return verdict({ ok: false, fault: "truncated", object: at.object, seq: at.seq + 1, detail });
  }
  if (end.header !== headerHash) {
    const detail = "line 1 is not the header as it was written";
    return verdict({ ok: false, fault: "altered", object: `${header.scope_id}/*`, seq: 0, detail });
  }
  const short = (what: string, object: string, said: number, found: number): Fault | null =>
    said === found
      ? null
      : {
          ok: false,
          fault: said > found ? "truncated" : "altered",
          object,
          seq: Math.min(said, found) + 1,
          detail: `the last line counts ${said} ${what}, the file holds ${found}`,
        };
  return verdict(
    short("rows", `${header.scope_id}/*`, end.rows, chains.rows) ??
      short("checkpoints", checkpointsOf(header.scope_id), end.checkpoints, signed.count),
  );
}

function withoutOk({ ok: _, ...fault }: Fault): Omit<Fault, "ok"> {
  return fault;
}

async function signedParts(lines: AsyncIterable<string>, verifyWith: (header: FileHeader) => Verify | Promise<Verify>) {
  let header: FileHeader | null = null;
  let fold: CheckpointFold | null = null;
  let fault: Fault | null = null;
  let count = 0;
  let last = "";
  let headerHash = "";
  for await (const line of lines) {
    last = line;
    if (header === null || fold === null) {
      header = headerOf(line);
      headerHash = sha256Hex(line);
      fold = new CheckpointFold(header.scope_id, await verifyWith(header));
    } else if (line.startsWith('{"checkpoint"')) {
      count++;
      fault ??= await fold.add(checkpointLine.safeParse(canonical(line)).data?.checkpoint ?? "");
    }
  }
  if (header === null || fold === null) throw new NotAnExport("the file is empty");
  const end = lastLine.safeParse(canonical(last)).data?.end ?? null;
  return { header, headerHash, signed: { fold, fault, count }, end };
}
function headerOf(line: string): FileHeader {
  const value = json(line);
  const read = fileHeader.safeParse(value);
  if (read.success) return read.data;
  const ours = z.looseObject({ format: z.literal("countersign-audit") }).safeParse(value);
  const why = ours.success ? z.prettifyError(read.error) : 'it does not begin with {"format":"countersign-audit"...}';
  throw new NotAnExport(`line 1 is not the header of an audit export of version 1: ${why}`);
}

/**
 * Every line between the header and the last that is no checkpoint is a row, or was one; of a file that was cut off, the
 * last line may be a row too, or a piece of one. `at` is the last row that stands.
 */
async function foldRows(
  lines: AsyncIterable<string>,
  chains: ChainFold,
  header: FileHeader,
  whole: boolean,
): Promise<{ fault: Fault | null; at: { object: string; seq: number } }> {
  let number = 0;
  let at: { object: string; seq: number } = { object: `${header.scope_id}/?`, seq: 0 };
  let held: string | null = null;
  const take = (line: string): Fault | null => {
    if (line.startsWith('{"checkpoint"')) return null;
    const row = auditView.safeParse(canonical(line)).data;
    if (row !== undefined) {
      at = row;
      return chains.add(row);
    }
    const detail = `line ${number - 1} is no audit row as it was written`;
    return { ok: false, fault: "altered", object: at.object, seq: at.seq + 1, detail };
  };
  for await (const line of lines) {
    number++;
    const fault = held === null ? null : take(held);
    if (fault !== null) return { fault, at };
    held = number === 1 ? null : line;
  }
  const cutRow = whole || held === null || canonical(held) === undefined ? null : held;
  return { fault: cutRow === null ? null : take(cutRow), at };
}

/** Undefined for what is not, byte for byte, the one way its value is written. */
function canonical(line: string): unknown {
  const value = json(line);
  try {
    return value !== undefined && canonicalJson(value) === line ? value : undefined;
  } catch {
    return undefined;
  }
}
function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
