/**
 * The deployment's Ed25519 keys: the active one signs, every one verifies. Keys that do not fit together are refused as
 * a whole, before anything is signed with them. [TOK-5] [TOK-30] [TOK-31]
 */
import { createPrivateKey, createPublicKey } from "node:crypto";
import { z } from "zod";

/** 32 bytes, as base64url spells them. */
const part = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const publicJwk = z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: part });
const privateJwk = publicJwk.extend({ d: part });
type Jwk = z.infer<typeof publicJwk> & { d?: string };

/** The secret SIGNING_KEYS, as JSON: `{active, keys: {kid: {private, public}}}`; a retired key may lack its private part. */
export const signingKeys = z.strictObject({
  active: z.string(),
  keys: z.record(
    z.string().regex(/^[\w.:-]{1,128}$/),
    z.strictObject({ private: privateJwk.optional(), public: publicJwk }),
  ),
});
export type SigningKeys = z.infer<typeof signingKeys>;
/** RFC 7517, as published at /.well-known/jwks.json. */
export const publicKeys = z.object({ keys: z.array(publicJwk.extend({ kid: z.string() })) });
export type PublicKeys = z.infer<typeof publicKeys>;
export type SigningKeysRead =
  | { readonly ok: true; readonly keys: SigningKeys }
  | { readonly ok: false; readonly why: string };

/** The keys, or why they cannot be used, in words that name keys and hold none of their bytes. */
export function readSigningKeys(text: string): SigningKeysRead {
  const refused = (why: string): SigningKeysRead => ({ ok: false, why });
  // Nothing in it needs one, and a name spelled with one would hide from the count below.
  if (text.includes("\\")) return refused("it holds a backslash");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused("it is not JSON");
  }
  const read = signingKeys.safeParse(value);
  if (!read.success) {
    const where = read.error.issues[0]?.path.map(String).join(".") ?? "";
    return refused(`it is not {active, keys: {kid: {private, public}}} with Ed25519 keys (look at ${where || "it"})`);
  }
  const { active, keys } = read.data;
  const kids = Object.keys(keys);
  // JSON keeps the last of two equal names and says nothing: the first would silently be gone.
  if (times(text, "public") !== kids.length || times(text, "active") !== 1)
    return refused("a key's name, or `active`, stands in it twice");
  const own = Object.hasOwn(keys, active) ? keys[active] : undefined;
  if (own === undefined) return refused(`its active key ${active} is not among its keys`);
  if (own.private === undefined) return refused(`its active key ${active} has no private part`);
  const publics = new Map<string, string>();
  for (const [kid, pair] of Object.entries(keys)) {
    const twin = publics.get(pair.public.x);
    if (twin !== undefined) return refused(`${twin} and ${kid} are one key under two names`);
    publics.set(pair.public.x, kid);
    if (pair.private !== undefined && !belongTogether(pair.private, pair.public))
      return refused(`the private and the public part of key ${kid} do not belong together`);
  }
  return { ok: true, keys: read.data };
}
function times(text: string, name: string): number {
  return text.split(new RegExp(`"${name}"\\s*:`)).length - 1;
}
/** A private JWK carries a public part of its own, which nothing else holds to the private one. */
function belongTogether(own: z.infer<typeof privateJwk>, known: z.infer<typeof publicJwk>): boolean {
  try {
    const derived = createPublicKey(createPrivateKey({ key: own, format: "jwk" })).export({ format: "jwk" });
    return own.x === known.x && derived.x === known.x;
  } catch {
    return false;
  }
}

const algorithm = { name: "Ed25519" };
const utf8 = new TextEncoder();

export function createSigner(keys: SigningKeys) {
  const loaded = new Map<string, Promise<CryptoKey>>();
  const load = (id: string, { kty, crv, x, d }: Jwk, use: "sign" | "verify") => {
    const name = `${use}:${id}`;
    const found = loaded.get(name);
    if (found !== undefined) return found;
    const material: JsonWebKey = use === "sign" && d !== undefined ? { kty, crv, x, d } : { kty, crv, x };
    const made = crypto.subtle.importKey("jwk", material, algorithm, false, [use]);
    loaded.set(name, made);
    return made;
  };
  return {
    kid: keys.active,
    async sign(text: string): Promise<Uint8Array> {
      const own = keys.keys[keys.active]?.private;
      if (own === undefined) throw new Error("SIGNING_KEYS has no private part for its active key");
      return new Uint8Array(
        await crypto.subtle.sign(algorithm, await load(keys.active, own, "sign"), utf8.encode(text)),
      );
    },
    async verify(kid: string, text: string, signature: Uint8Array<ArrayBuffer>): Promise<boolean> {
      const known = Object.hasOwn(keys.keys, kid) ? keys.keys[kid]?.public : undefined;
      return (
        known !== undefined &&
        crypto.subtle.verify(algorithm, await load(kid, known, "verify"), signature, utf8.encode(text))
      );
    },
    /** RFC 7517 set of the public keys. */
    jwks() {
      const published = Object.entries(keys.keys).map(([kid, pair]) => ({ kid, ...pair.public }));
      return { keys: published.map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid, alg: "EdDSA", use: "sig" })) };
    },
  };
}
export type KeySigner = ReturnType<typeof createSigner>;
