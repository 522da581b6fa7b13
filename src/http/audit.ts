/**
 * Doors of the audit as a whole: verified where it stands, and handed out as a file that verifies without us. A viewer
 * may do both: every row is one they may list, and who audits should need no power to change anything. [HTTP-50] to [HTTP-55]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { lineOf } from "../domain/audit-file.ts";
import { sha256Hex } from "../domain/canonical.ts";
import { readCheckpoint, type Verify } from "../domain/checkpoint.ts";
import { limits } from "../limits.ts";
import { auditVerdict, verifyStored } from "./audit-verify.ts";
import type { ChainEnds } from "./doors.ts";
import { asks, json, problems } from "./openapi.ts";
import type { DoorEnv, DoorPorts } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const verify = createRoute({
  method: "get",
  path: "/api/audit/verify",
  summary: "Verify the audit that is stored",
  description:
    "Every chain from its first row, every signed checkpoint, and what the living objects say; 200 whether or not a fault is found. " +
    "At most 100,000 rows a call: `incomplete` says what is left, and `next_cursor` goes on there.",
  ...asks("viewer", "audit"),
  request: { query: z.strictObject({ cursor: z.string().min(1).max(500).optional() }) },
  responses: { 200: json("What was found", auditVerdict.openapi("AuditVerdict")), ...problems(400, 401, 500, 503) },
});
const ndjson = { "application/x-ndjson": { schema: z.string() } };
const exported = createRoute({
  method: "get",
  path: "/api/audit/export",
  summary: "Export the audit as a file that can be verified offline",
  description:
    "NDJSON of canonical JSON lines: a header with the public keys; every row by object and seq; every signed checkpoint " +
    "whose rows are all stored; a last line with the counts. A file without its last line is not whole.",
  ...asks("viewer", "audit"),
  responses: { 200: { description: "The file, streamed", content: ndjson }, ...problems(401, 500, 503) },
});

export const wholeAudit = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(verify, async (c) => {
    const { ports, caller, runtime } = c.var;
    const ends = take(await runtime.chainEnds(caller));
    const verifySignature: Verify = (...signed) => ports.verifySignature(...signed);
    const stored = { scope_id: caller.scope_id, records: ports.records, ends, verify: verifySignature };
    return c.json(await whileItAnswers(() => verifyStored(stored, c.req.valid("query").cursor ?? null)), 200);
  })
  .openapi(exported, async (c) => {
    const { ports, caller, runtime } = c.var;
    const ends = take(await runtime.chainEnds(caller));
    if (ends.silent.length > 0)
      throw new Refused(
        "unavailable",
        `${ends.silent.join(", ")} did not answer, so it is not known which checkpoints are whole. Try again in a moment.`,
      );
    const lines = linesOf(ports, caller.scope_id, ends);
    // The first page is read before the answer begins: a database that is down is a refusal, not a broken file.
    const first = await whileItAnswers(() => lines.next());
    const headers = { "content-type": "application/x-ndjson" };
    // The route's types know JSON, plain text and nothing else: for this media type they allow no answer at all.
    return new Response(streamOf(first, lines), { headers }) as never;
  });

/** Pieces of the file, one page of the database each. */
async function* linesOf(ports: DoorPorts, scope_id: string, ends: ChainEnds): AsyncGenerator<string, void> {
  const header = {
    format: "countersign-audit" as const,
    version: 1 as const,
    scope_id,
    exported_at: new Date(ports.now()).toISOString(),
    keys: { keys: ports.publicKeys.map((key) => ({ ...key })) },
  };
  const first = lineOf(header);
  let piece = `${first}\n`;
  let rows = 0;
  for (let after: { object: string; seq: number } | null = null, more = true; more; ) {
    const page = await ports.records.chainRows(scope_id, after, limits.export_page);
    for (const row of page) piece += `${lineOf(row)}\n`;
    rows += page.length;
    if (rows > limits.export_rows) throw new Error(`the audit has more than ${limits.export_rows} rows`);
    const last = page.at(-1);
    more = page.length === limits.export_page && last !== undefined;
    // The query gives both, by the types of their columns.
    if (last !== undefined) after = { object: String(last.object), seq: Number(last.seq) };
    yield piece;
    piece = "";
  }
  const shipped = new Map(ends.chains.map((end) => [end.object, end.shipped]));
  let count = 0;
  for (let more = true; more; ) {
    const page = await ports.records.checkpoints(scope_id, count, limits.records_page);
    // One whose rows were still on their way when we began would accuse a file that cannot hold them yet.
    const whole = page.findIndex(({ jws }) => (readCheckpoint(jws)?.said.heads ?? []).some(isAhead(shipped)));
    const taken = whole === -1 ? page : page.slice(0, whole);
    for (const { jws } of taken) piece += `${lineOf({ checkpoint: jws })}\n`;
    count += taken.length;
    more = whole === -1 && page.length === limits.records_page;
    if (more) {
      yield piece;
      piece = "";
    }
  }
  yield `${piece}${lineOf({ end: { rows, checkpoints: count, header: sha256Hex(first) } })}\n`;
}
function isAhead(shipped: ReadonlyMap<string, number>) {
  return ({ object, seq }: { object: string; seq: number }) => seq > (shipped.get(object) ?? Number.POSITIVE_INFINITY);
}

/** Asked for piece by piece, so that a slow reader costs no memory. */
function streamOf(
  first: IteratorResult<string, void>,
  lines: AsyncGenerator<string, void>,
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  let next: Promise<IteratorResult<string, void>> = Promise.resolve(first);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const piece = await next;
        if (piece.done) return controller.close();
        controller.enqueue(utf8.encode(piece.value));
        next = lines.next();
        // Awaited at the next pull; until then a failure is nobody's surprise.
        next.catch(() => undefined);
      } catch (error) {
        console.error("an export broke off", error);
        controller.error(error);
      }
    },
    async cancel() {
      await lines.return();
    },
  });
}

async function whileItAnswers<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    console.error("the record database did not answer", error);
    throw new Refused("unavailable", "The audit cannot be read now; tasks and approvals go on. Try again in a moment.");
  }
}
