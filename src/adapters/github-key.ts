/**
 * The App's private key as GitHub hands it out (PKCS#1) or as people convert it (PKCS#8), and the short-lived token that
 * it signs. Every other key is refused in words that say how to convert it and hold none of its bytes. [GHA-3] [GHA-4]
 */
import { SignJWT } from "jose";

export type PrivateKeyRead =
  | { readonly ok: true; readonly pkcs8: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly why: string };

/** Algorithm identifier of an RSA key: `SEQUENCE { OID 1.2.840.113549.1.1.1, NULL }`. */
const rsa = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

export function readPrivateKey(text: string): PrivateKeyRead {
  const refused = (why: string): PrivateKeyRead => ({ ok: false, why });
  // Variables often carry their line breaks spelled out.
  const pem = text.replaceAll("\\n", "\n").replaceAll("\r", "").trim();
  const found = /^-----BEGIN ([A-Z0-9 ]{1,40})-----\n([\s\S]*)\n-----END \1-----$/.exec(pem);
  if (found === null) return refused("it is no PEM file: give the whole file that GitHub let you download");
  const [, kind = "", body = ""] = found;
  if (kind === "ENCRYPTED PRIVATE KEY" || body.includes("ENCRYPTED"))
    return refused("it has a passphrase; take it off with `openssl pkcs8 -topk8 -nocrypt -in key.pem -out plain.pem`");
  if (kind === "OPENSSH PRIVATE KEY")
    return refused("it is in OpenSSH's format; convert it with `ssh-keygen -p -m PEM -f key.pem`");
  if (kind !== "RSA PRIVATE KEY" && kind !== "PRIVATE KEY")
    return refused("it is no private RSA key: make one on the App's page at GitHub and give that file");
  const der = bytesOf(body);
  if (der === null) return refused("its content is damaged: give the whole file that GitHub let you download");
  if (kind === "RSA PRIVATE KEY") return { ok: true, pkcs8: wrapped(der) };
  return holds(der, rsa)
    ? { ok: true, pkcs8: der }
    : refused("it is no RSA key: make one on the App's page at GitHub and give that file");
}

/** DER of a base64 body; null when it is no base64 or no DER sequence of that length. */
function bytesOf(body: string): Uint8Array<ArrayBuffer> | null {
  const base64 = body.replace(/\s/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return null;
  const der = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const header = der[1] === 0x82 ? 4 : der[1] === 0x81 ? 3 : 2;
  const length = header === 2 ? (der[1] ?? 0) : der.slice(2, header).reduce((sum, byte) => sum * 256 + byte, 0);
  return der[0] === 0x30 && der.length === header + length ? der : null;
}

function holds(der: Uint8Array, part: readonly number[]): boolean {
  // It stands after the outer sequence and the version.
  for (let at = 0; at < 12; at++) if (part.every((byte, index) => der[at + index] === byte)) return true;
  return false;
}

/** PKCS#1 as PKCS#8, which is all that WebCrypto reads: `SEQUENCE { 0, rsa, OCTET STRING { PKCS#1 } }`. */
function wrapped(pkcs1: Uint8Array): Uint8Array<ArrayBuffer> {
  return tagged(0x30, [0x02, 0x01, 0x00, ...rsa, ...tagged(0x04, [...pkcs1])]);
}
/** No RSA key is shorter than 256 bytes, so all lengths take two. */
function tagged(tag: number, content: readonly number[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([tag, 0x82, content.length >> 8, content.length & 0xff, ...content]);
}

/** Issued a minute ago, for clocks that go behind ours; GitHub takes ten minutes at most from its own now. */
const backS = 60;
const validS = 9 * 60;

export interface AppToken {
  readonly jwt: string;
  readonly expiresAt: string;
}

/** Signs tokens of the App; the key cannot be read out of it again. `off_s`: how far GitHub's clock is ahead of ours. */
export function appSigner(
  app_id: number,
  pkcs8: Uint8Array<ArrayBuffer>,
  now_ms: () => number,
): (off_s: number) => Promise<AppToken> {
  let imported: Promise<CryptoKey> | undefined;
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  return async (off_s) => {
    imported ??= crypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]);
    const now_s = Math.floor(now_ms() / 1_000) + off_s;
    const jwt = await new SignJWT()
      .setProtectedHeader({ alg: "RS256", typ: "JWT" })
      .setIssuer(String(app_id))
      .setIssuedAt(now_s - backS)
      .setExpirationTime(now_s + validS)
      .sign(await imported);
    return { jwt, expiresAt: new Date((now_s + validS) * 1_000).toISOString() };
  };
}
