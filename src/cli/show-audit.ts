/** The audit, and what was found in it, as text. Whatever a row holds stands on one line and hides nothing. [CLI-1] */
import type { z } from "zod";
import type { FileVerdict } from "../domain/audit-file.ts";
import type { AuditView } from "../domain/record-view.ts";
import { visibleLine } from "../domain/visible.ts";
import type { storedVerdict } from "./audit.ts";
import { countOf } from "./counts.ts";

type StoredVerdict = z.infer<typeof storedVerdict>;

export function auditRow(row: AuditView): string {
  const why = row.reason === null ? "" : `  ${visibleLine(row.reason)}`;
  const said = row.decision === null ? "" : `  ${visibleLine(row.decision)}`;
  const place = `${visibleLine(row.object)} ${row.seq}`;
  return `${visibleLine(row.created_at)}  ${place}  ${row.event_type}  ${row.actor}${said}${why}  trace ${visibleLine(row.trace_id)}`;
}

interface NamedFault {
  readonly fault: string;
  readonly object: string;
  readonly seq: number;
  readonly detail: string;
}
function faultText({ fault, object, seq, detail }: NamedFault): string {
  return `${fault.toUpperCase()}: ${visibleLine(object)}, row ${seq}: ${visibleLine(detail)}.`;
}

export function verdictText(found: FileVerdict, keysFrom: "the file itself" | "--keys"): string {
  const about = `scope ${visibleLine(found.scope_id)}`;
  if (found.fault?.fault === "unsigned") return faultText(found.fault);
  if (found.fault !== null) return `${faultText(found.fault)}\nThe audit of ${about} is not as it was written.`;
  const last = found.last_checkpoint;
  const loose = found.chains.reduce((sum, chain) => sum + chain.seq - chain.signed_up_to, 0);
  return [
    `OK: ${countOf(found.rows, "row")} in ${countOf(found.chains.length, "chain")} of ${about}, each following the one before it.`,
    last === null
      ? "Nothing in it is signed: rows at the end of a chain could have been cut off, or all of it written anew."
      : `${countOf(found.checkpoints, "signed checkpoint")}; the last is ${last.seq}, of ${visibleLine(last.at)}. Keep that number: --checkpoint ${last.seq} holds a later file to it.`,
    last === null
      ? null
      : `Not covered: ${countOf(loose, "row")} after the last checkpoint. Rows that stood there could have been cut off without a trace.`,
    last === null
      ? null
      : keysFrom === "--keys"
        ? "Signatures were checked with the keys of --keys."
        : "Signatures were checked with keys from the file itself: who can write the file can sign it so. Give --keys FILE with the service's /.well-known/jwks.json.",
  ]
    .filter((line) => line !== null)
    .join("\n");
}

export function storedVerdictText(found: StoredVerdict, rows: number): string {
  if (found.fault !== null) return faultText(found.fault);
  const pending = found.chains.reduce((sum, chain) => sum + chain.pending, 0);
  const loose = found.chains.reduce((sum, chain) => sum + chain.rows - chain.signed_up_to, 0);
  const { newest, checked } = found.checkpoints;
  return [
    `OK: ${countOf(rows, "stored row")} follow each other, and each chain ends where its object says.`,
    found.signing ? null : "This deployment has no SIGNING_KEYS: nothing new is signed.",
    newest === null
      ? "There is no signed checkpoint yet."
      : `${countOf(checked, "signed checkpoint")}; the last is ${newest.seq}, of ${visibleLine(newest.at)}. ${countOf(loose, "row")} came after it, in the chains just read.`,
    pending === 0 ? null : `${countOf(pending, "row")} still on the way to the database.`,
    found.incomplete === null ? null : `NOT COMPLETE: ${visibleLine(found.incomplete)}.`,
  ]
    .filter((line) => line !== null)
    .join("\n");
}
