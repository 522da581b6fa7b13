/** Ed25519 by WebCrypto over the deployment's keys: the active one signs, every one verifies. [TOK-*] */
import { z } from "zod";

const jwk = z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: z.string(), d: z.string().optional() });
/** The secret SIGNING_KEYS, as JSON: `{active, keys: {kid: {private, public}}}`; a retired key may lack its private part. */
export const signingKeys = z.strictObject({
  active: z.string(),
  keys: z.record(z.string(), z.object({ private: jwk.optional(), public: jwk })),
});
export type SigningKeys = z.infer<typeof signingKeys>;

const algorithm = { name: "Ed25519" };
const utf8 = new TextEncoder();

export function createSigner(keys: SigningKeys) {
  const loaded = new Map<string, Promise<CryptoKey>>();
  const load = (id: string, key: z.infer<typeof jwk>, use: "sign" | "verify") => {
    const name = `${use}:${id}`;
    const found = loaded.get(name);
    if (found !== undefined) return found;
    const { kty, crv, x, d } = key;
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
      return {
        keys: Object.entries(keys.keys).map(
          ([
            kid,
            {
              public: { kty, crv, x },
            },
          ]) => ({ kty, crv, x, kid, alg: "EdDSA", use: "sig" }),
        ),
      };
    },
  };
}
export type KeySigner = ReturnType<typeof createSigner>;
