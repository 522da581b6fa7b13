/**
 * A call of git's as its container is handed it: everything but the bundle is read and written anew, and the bundle goes
 * through as the bytes it came in. It may be half of all the memory an object has, so it is held once and never as text. [CON-20]
 */
import { SandboxFailure } from "../agents/ports.ts";
import { limits } from "../limits.ts";

export interface Call {
  /** The whole call, with nothing in the bundle's place. */
  readonly document: unknown;
  /** Its base64 as it came in; null where it brings none. */
  readonly bundle: readonly Uint8Array[] | null;
}

// As `JSON.stringify` writes the field. Inside of a string its quotes would be escaped.
const mark = new TextEncoder().encode('"bundle":"');
const quote = 0x22;
/** What stands before a bundle: an id, a commit and a branch. Without a mark by then it is read whole. */
const headBytes = 64 * 1024;
const most = limits.container_bundle_body_bytes;

export async function readCall(request: Request): Promise<Call> {
  const refusal = `the commits to be handed to git take more than ${most >> 20} MB as they travel, which is more than an object can hold: split the work into smaller tasks, or leave large files out of it`;
  const pieces = await readUpTo(request.body, most);
  if (pieces === null) throw new SandboxFailure("patch_too_large", refusal);
  const at = indexIn(headOf(pieces), mark);
  if (at < 0) return { document: JSON.parse(textOf(pieces)), bundle: null };
  const { before, bundle, after } = parted(pieces, at + mark.length);
  return { document: JSON.parse(`${textOf(before)}${textOf(after)}`), bundle };
}

/** What is sent: made for each try, for a stream can be read once. */
export function writeCall(document: object, bundle: Call["bundle"]): BodyInit {
  const text = JSON.stringify(document);
  if (bundle === null) return text;
  const utf8 = new TextEncoder();
  const left = [utf8.encode(`${text.slice(0, -1)},"bundle":"`), ...bundle, utf8.encode('"}')];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
}

/** The pieces of a body; null when there are more bytes in it, of which no more is read. */
export async function readUpTo(
  body: ReadableStream<Uint8Array> | null,
  max_bytes: number,
): Promise<readonly Uint8Array[] | null> {
  const pieces: Uint8Array[] = [];
  if (body === null) return pieces;
  const reader = body.getReader();
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return pieces;
    bytes += value.length;
    if (bytes > max_bytes) {
      void reader.cancel().catch(() => {});
      return null;
    }
    pieces.push(value);
  }
}
/** A container's answer, where it is to be short. */
export async function shortAnswer(answer: Response, method: string): Promise<Response> {
  const said = await readUpTo(answer.body, limits.container_short_answer_bytes);
  if (said === null) throw new SandboxFailure("internal", `the container's answer to "${method}" is too long`);
  return new Response(textOf(said), { status: answer.status });
}
export function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}

/** The bundle ends at the next quote, for base64 has none; what follows begins with that quote. */
function parted(pieces: readonly Uint8Array[], begin: number) {
  const before: Uint8Array[] = [];
  const bundle: Uint8Array[] = [];
  const after: Uint8Array[] = [];
  let left = begin;
  let ended = false;
  for (const piece of pieces) {
    const start = Math.min(left, piece.length);
    left -= start;
    if (start > 0) before.push(piece.subarray(0, start));
    const rest = piece.subarray(start);
    const end: number = ended ? 0 : rest.indexOf(quote);
    if (end !== 0) bundle.push(end < 0 ? rest : rest.subarray(0, end));
    if (end >= 0) after.push(rest.subarray(end));
    ended ||= end >= 0;
  }
  return { before, bundle, after };
}
function headOf(pieces: readonly Uint8Array[]): Uint8Array {
  const head = new Uint8Array(headBytes);
  let bytes = 0;
  for (const piece of pieces) {
    const part = piece.subarray(0, headBytes - bytes);
    head.set(part, bytes);
    bytes += part.length;
  }
  return head.subarray(0, bytes);
}
function indexIn(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at + 1))
    if (wanted.every((byte, n) => bytes[at + n] === byte)) return at;
  return -1;
}
