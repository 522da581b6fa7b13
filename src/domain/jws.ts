/**
 * What we sign, in one form: a compact JWS (RFC 7515), EdDSA only, over RFC 8785 bytes. Each kind of statement has a
 * `typ` of its own, so that one can never pass for another. Signing itself enters as a function. [TOK-*] [AUD-16]
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { z } from "zod";
import { canonicalJson } from "./canonical.ts";

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
function decode(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
const utf8 = new TextEncoder();
const header = z.strictObject({ alg: z.literal("EdDSA"), kid: z.string(), typ: z.string() });

/** RFC 7638: the name that an Ed25519 key gives itself, from its public part `x`. */
export function thumbprint(x: string): string {
  return encode(sha256(utf8.encode(canonicalJson({ crv: "Ed25519", kty: "OKP", x }))));
}

/** The ASCII bytes to sign, as text: `<header>.<payload>`, both base64url. */
export function jwsInput(typ: string, kid: string, said: unknown): string {
  const head = canonicalJson({ alg: "EdDSA", kid, typ });
  return `${encode(utf8.encode(head))}.${encode(utf8.encode(canonicalJson(said)))}`;
}

export function assembleJws(input: string, signature: Uint8Array): string {
  return `${input}.${encode(signature)}`;
}

export interface Signed<T> {
  readonly kid: string;
  readonly input: string;
  readonly signature: Uint8Array<ArrayBuffer>;
  readonly said: T;
}

/** Null for anything that is not of this type: another algorithm, extra headers, extra claims, bytes not canonical. */
export function readSigned<T>(typ: string, shape: z.ZodType<T>, jws: string): Signed<T> | null {
  const parts = jws.split(".");
  const [head, body, tail] = parts;
  if (parts.length !== 3 || head === undefined || body === undefined || tail === undefined) return null;
  try {
    const [headBytes, bodyBytes, signature] = [head, body, tail].map(decode);
    // A signature has one spelling only, so that one statement is one token.
    if (!headBytes || !bodyBytes || !signature || encode(signature) !== tail) return null;
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const headRead = header.safeParse(JSON.parse(text.decode(headBytes)));
    const bodyRead = shape.safeParse(JSON.parse(text.decode(bodyBytes)));
    if (!headRead.success || headRead.data.typ !== typ || !bodyRead.success) return null;
    const input = `${head}.${body}`;
    if (jwsInput(typ, headRead.data.kid, bodyRead.data) !== input) return null;
    return { kid: headRead.data.kid, input, signature, said: bodyRead.data };
  } catch {
    return null;
  }
}
