/**
 * `countersign audit ...`: search the audit, take it home as a file, and verify that file with no server: with this code,
 * a second implementation of the signature's check, and keys from where the reader trusts. [CLI-20] to [CLI-26]
 */
import { createWriteStream, existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { type FileHeader, type FileVerdict, NotAnExport, verifyFile } from "../domain/audit-file.ts";
import { checkpointsOf } from "../domain/checkpoint.ts";
import { auditTypes, auditView } from "../domain/record-view.ts";
import { page } from "../domain/view.ts";
import { visibleLine } from "../domain/visible.ts";
import { Problem, Unreachable } from "./client.ts";
import { type Call, type Command, type ExitCode, exit } from "./command.ts";
import { readKeys, verifierOf } from "./keys.ts";
import { BadLine, fileLines, linesOf } from "./lines.ts";
import { auditRow, storedVerdictText, verdictText } from "./show-audit.ts";
import { UsageError } from "./target.ts";

const string = { type: "string" } as const;
const progressMs = 1_000;

export const list: Command = {
  usage: "countersign audit list [--trace ID] [--type TYPE] [--limit N] [--cursor C]",
  options: { trace: string, type: string, limit: string, cursor: string },
  takes: [],
  async run(call) {
    const asked = { trace_id: call.text("trace"), event_type: call.text("type") };
    if (asked.event_type !== undefined && !auditTypes.some((type) => type === asked.event_type))
      throw new UsageError(`--type is one of ${auditTypes.join(", ")}`);
    const query = new URLSearchParams();
    const words = { ...asked, limit: call.text("limit"), cursor: call.text("cursor") };
    for (const [key, value] of Object.entries(words)) if (value !== undefined) query.set(key, value);
    const found = await call.client.get(`/api/audit?${query}`, page(auditView));
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(auditRow).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${found.next_cursor}`);
    return exit.done;
  },
};

export const exportFile: Command = {
  usage: "countersign audit export [--out FILE]",
  options: { out: string },
  takes: [],
  async run(call) {
    const out = call.text("out");
    const path = out === undefined ? null : resolve(call.terminal.cwd, out);
    if (path !== null && existsSync(path))
      throw new UsageError(`${visibleLine(path)} is there already: name another file`);
    const counted = progressOf(call, "exported");
    try {
      const bytes = Readable.from(counted.through(await call.client.stream("/api/audit/export")));
      if (path !== null) await pipeline(bytes, createWriteStream(path, { flags: "wx", mode: 0o600 }));
      else for await (const line of linesOf(bytes)) call.terminal.out(line);
    } catch (error) {
      if (error instanceof Problem || error instanceof Unreachable) throw error;
      if (path !== null) rmSync(path, { force: true });
      call.terminal.err(`The export broke off, and is no use: ${visibleLine(String(error))}`);
      return exit.failed;
    } finally {
      counted.end();
    }
    if (path === null) return exit.done;
    const told = { file: path, bytes: counted.bytes() };
    call.terminal.out(call.json ? JSON.stringify(told) : `Written: ${visibleLine(path)}, ${told.bytes} bytes.`);
    return exit.done;
  },
};

export const verify: Command = {
  usage: "countersign audit verify [FILE] [--keys FILE] [--checkpoint N]",
  options: { keys: string, checkpoint: string },
  takes: ["[FILE]"],
  async run(call) {
    const [file] = call.args;
    if (file !== undefined) return verifyOffline(call, resolve(call.terminal.cwd, file));
    for (const flag of ["keys", "checkpoint"])
      if (call.text(flag) !== undefined) throw new UsageError(`--${flag} goes with a FILE: the service knows its own`);
    return verifyThere(call);
  },
};

async function verifyOffline(call: Call, path: string): Promise<ExitCode> {
  const given = call.text("keys");
  const keys = given === undefined ? null : readKeys(resolve(call.terminal.cwd, given));
  if (!existsSync(path)) throw new UsageError(`${visibleLine(path)} is not there`);
  const asked = call.text("checkpoint");
  if (asked !== undefined && !/^[1-9]\d{0,14}$/.test(asked)) throw new UsageError("--checkpoint is a number from 1 on");
  const checkpoint = Number(asked ?? 0);
  const counted = progressOf(call, "checked");
  let found: FileVerdict;
  try {
    found = await verifyFile(
      () => counted.lines(fileLines(path)),
      (header: FileHeader) => verifierOf(keys ?? header.keys.keys),
    );
  } catch (error) {
    if (error instanceof NotAnExport || error instanceof BadLine || isIo(error))
      throw new UsageError(`${visibleLine(path)}: ${error.message}`);
    throw error;
  } finally {
    counted.end();
  }
  found = held(found, { signed: keys !== null, checkpoint });
  const keys_from = keys === null ? ("the file itself" as const) : ("--keys" as const);
  call.terminal.out(call.json ? JSON.stringify({ ...found, keys_from }) : verdictText(found, keys_from));
  return found.ok ? exit.done : exit.failed;
}

/** What the reader knows from elsewhere: that it is signed, by the keys given; and how far it went when last seen. */
function held(found: FileVerdict, known: { signed: boolean; checkpoint: number }): FileVerdict {
  const last = found.last_checkpoint?.seq ?? 0;
  const least = Math.max(known.checkpoint, known.signed ? 1 : 0);
  if (!found.ok || last >= least) return found;
  const detail =
    last === 0
      ? "nothing in the file is signed. The service signs within five minutes of a change: export it again then. If it had signed before, something was cut off"
      : `the file ends with checkpoint ${last}, and checkpoint ${least} was known`;
  const unsigned = last === 0 && known.checkpoint === 0;
  const fault = {
    fault: unsigned ? ("unsigned" as const) : ("truncated" as const),
    object: checkpointsOf(found.scope_id),
    seq: last + 1,
    detail,
  };
  return { ...found, ok: false, fault };
}

const chain = z.object({ object: z.string(), rows: z.number(), signed_up_to: z.number(), pending: z.number() });
export const storedVerdict = z.looseObject({
  ok: z.boolean(),
  checked_rows: z.number(),
  chains: z.array(chain),
  checkpoints: z.looseObject({ checked: z.number(), newest: z.object({ seq: z.number(), at: z.string() }).nullable() }),
  signing: z.boolean(),
  incomplete: z.string().nullable(),
  next_cursor: z.string().nullable(),
  fault: z.object({ fault: z.string(), object: z.string(), seq: z.number(), detail: z.string() }).nullable(),
});
/** Far more calls than any audit needs: each checks 100,000 rows. */
const mostCalls = 1_000;

/** Call by call until all is read or a fault is found; with --json one line a call. */
async function verifyThere(call: Call): Promise<ExitCode> {
  let cursor = "";
  let rows = 0;
  for (let calls = 0; calls < mostCalls; calls++) {
    const found = await call.client.get(`/api/audit/verify${cursor}`, storedVerdict);
    rows += found.checked_rows;
    if (call.json) call.terminal.out(JSON.stringify(found));
    if (found.next_cursor !== null && found.ok) {
      if (!call.json) call.terminal.err(`${rows} rows checked ...`);
      cursor = `?cursor=${encodeURIComponent(found.next_cursor)}`;
      continue;
    }
    if (!call.json) call.terminal.out(storedVerdictText(found, rows));
    return found.ok && found.incomplete === null ? exit.done : exit.failed;
  }
  call.terminal.err(`Not all was checked after ${mostCalls} calls.`);
  return exit.failed;
}

/** Says on stderr each second how far a long piece of work has come. */
function progressOf(call: Call, done: string) {
  let bytes = 0;
  let lines = 0;
  let told = false;
  const timer = setInterval(() => {
    told = true;
    call.terminal.err(lines > 0 ? `${lines} lines ${done} ...` : `${bytes} bytes ${done} ...`);
  }, progressMs);
  timer.unref();
  return {
    async *through(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
      const reader = stream.getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        bytes += read.value.length;
        yield read.value;
      }
    },
    async *lines(of: AsyncIterable<string>): AsyncGenerator<string> {
      for await (const line of of) {
        lines++;
        yield line;
      }
    },
    bytes: () => bytes,
    end() {
      clearInterval(timer);
      if (told) call.terminal.err(`${done}.`);
    },
  };
}

function isIo(error: unknown): error is Error {
  return error instanceof Error && "code" in error && typeof error.code === "string" && /^E[A-Z]+$/.test(error.code);
}
