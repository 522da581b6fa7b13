/**
 * Reads a request's JSON once, within bounds: at most 1 MB however it is sent, only
 * `application/json`, only well-formed text, and malformed JSON named by its place. [HTTP-7] [HTTP-8] [HTTP-9]
 */
import type { Context } from "hono";
import { limits } from "../limits.ts";
import { Refused } from "./problem.ts";

/** Leaves the text where the validators look for it. */
export async function readJson(c: Context): Promise<void> {
  demandJson(c);
  const text = decode(await readBytes(c.req.raw));
  checkJson(text);
  c.req.raw = new Request(c.req.raw, { body: text });
}

export function demandJson(c: Context): void {
  if (mediaType(c.req.header("content-type")) !== "application/json")
    throw new Refused(
      "unsupported_media_type",
      "Send the body as JSON, with the header Content-Type: application/json.",
    );
}

function mediaType(header: string | undefined): string {
  return (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** At most `most` bytes, counted as they come. */
export async function readBytes(
  request: Request,
  most: number = limits.request_body_bytes,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = new Refused(
    "body_too_large",
    `The body is larger than ${most} bytes: send less, or put large files into the repository.`,
  );
  if (Number(request.headers.get("content-length") ?? 0) > most) throw tooLarge;
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    // The length a client declares is not believed: what arrives is counted.
    if (size > most) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge;
    }
    chunks.push(value);
  }
  return join(chunks, size);
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new Refused("bad_request", "The body is not valid UTF-8: encode the JSON as UTF-8.");
  }
}

/** The value of a text that is JSON and can be hashed. */
export function checkJson(text: string): unknown {
  if (text.trim() === "") throw new Refused("bad_request", "The body is empty: send a JSON object, at least {}.");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw new Refused("bad_request", `The body is not valid JSON${place(text, why)}: correct it and send it again.`);
  }
  // Such a string has no canonical form, so nothing that holds one can be hashed, signed or compared.
  if (/\\ud[89a-f]/i.test(text) && !wellFormed(value))
    throw new Refused("bad_request", "A string in the body holds half a surrogate pair: send whole characters.");
  return value;
}

/** V8 names the offset in some of its messages; a person wants line and column. */
function place(text: string, why: string): string {
  const at = /position (\d+)/.exec(why)?.[1];
  const offset = at !== undefined ? Number(at) : /end of JSON/.test(why) ? text.length : null;
  if (offset === null) return "";
  const before = text.slice(0, offset).split("\n");
  return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** No body of ours is nested deeper than `depth`, so what is deeper may fail here without being read. */
function wellFormed(value: unknown, depth = 20): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.entries(value).every(([key, inner]) => key.isWellFormed() && wellFormed(inner, depth - 1));
}
