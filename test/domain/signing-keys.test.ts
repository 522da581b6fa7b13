/** The secret SIGNING_KEYS: what is taken for keys, and what a deployment says of those it cannot use. */
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readSigningKeys } from "../../src/adapters/signer.ts";
import { thumbprint } from "../../src/domain/jws.ts";
import { type Bindings, worldOf } from "../../src/env.ts";

function key() {
  const made = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const { d = "", x = "" } = made;
  const known = { kty: "OKP", crv: "Ed25519", x };
  return { kid: thumbprint(x), d, pair: { private: { ...known, d }, public: known } };
}
const [a, b] = [key(), key()];
const good = { active: a.kid, keys: { [a.kid]: a.pair, [b.kid]: b.pair } };
const text = JSON.stringify(good);

const unusable: Record<string, [string, RegExp]> = {
  "no JSON": ["active: k", /not JSON/],
  "a list": ["[]", /is not \{active/],
  "no keys": [JSON.stringify({ active: "k" }), /is not \{active/],
  "a word more": [JSON.stringify({ ...good, also: 1 }), /is not \{active/],
  "an RSA key": [
    text.replace('"kty":"OKP"', '"kty":"RSA"'),
    new RegExp(`is not \\{active.*look at keys.${a.kid}.private.kty`),
  ],
  "a key for agreement, not for signing": [text.replace('"crv":"Ed25519"', '"crv":"X25519"'), /is not \{active/],
  "a public part cut short": [
    JSON.stringify({ active: "k", keys: { k: { ...a.pair, public: { ...a.pair.public, x: "AAAA" } } } }),
    /look at keys.k.public.x/,
  ],
  "a name with a space": [JSON.stringify({ active: "a b", keys: { "a b": a.pair } }), /is not \{active/],
  "an active key that is not there": [JSON.stringify({ ...good, active: "k" }), /active key k is not among its keys/],
  "an active key of every object": [
    JSON.stringify({ ...good, active: "constructor" }),
    /active key constructor is not among its keys/,
  ],
  "an active key that cannot sign": [
    JSON.stringify({ active: a.kid, keys: { [a.kid]: { public: a.pair.public } } }),
    /has no private part/,
  ],
  "parts of two keys": [
    JSON.stringify({ active: a.kid, keys: { [a.kid]: { private: a.pair.private, public: b.pair.public } } }),
    new RegExp(`the private and the public part of key ${a.kid} do not belong together`),
  ],
  "a private part under another's public one": [
    JSON.stringify({
      active: a.kid,
      keys: { [a.kid]: { private: { ...a.pair.private, d: b.d }, public: a.pair.public } },
    }),
    /do not belong together/,
  ],
  "parts of two keys in one that does not sign": [
    JSON.stringify({ ...good, keys: { ...good.keys, [b.kid]: { ...b.pair, private: a.pair.private } } }),
    new RegExp(`part of key ${b.kid} do not belong together`),
  ],
  "one name twice": [
    `{"active":"k","keys":{"k":${JSON.stringify(a.pair)},"k":${JSON.stringify(b.pair)}}}`,
    /stands in it twice/,
  ],
  "an active key twice": [text.replace("{", `{"active":"${b.kid}",`), /stands in it twice/],
  "one name twice, once escaped": [
    `{"active":"k","keys":{"\\u006b":${JSON.stringify(a.pair)},"k":${JSON.stringify(b.pair)}}}`,
    /backslash/,
  ],
  "one key under two names": [JSON.stringify({ active: "k", keys: { k: a.pair, l: a.pair } }), /k and l are one key/],
};

describe("the secret SIGNING_KEYS", () => {
  it("[TOK-30] keys of any name are taken when they fit together; private parts of retired ones may be missing", () => {
    expect(readSigningKeys(text)).toEqual({ ok: true, keys: good });
    const old = { active: "0a1b2c", keys: { "0a1b2c": a.pair, [b.kid]: { public: b.pair.public } } };
    expect(readSigningKeys(JSON.stringify(old, null, 2))).toEqual({ ok: true, keys: old });
  });
  it("[TOK-30] whatever does not fit together is refused, with a reason that names keys and holds none", () => {
    for (const [name, [given, why]] of Object.entries(unusable)) {
      const read = readSigningKeys(given);
      if (read.ok) throw new Error(`${name} is taken`);
      expect(read.why, name).toMatch(why);
      for (const { d } of [a, b]) expect(read.why).not.toContain(d);
    }
  });
  it("[TOK-31] a deployment without usable keys has no signer, and says which secret is missing and why", () => {
    // Only these are looked at before something is asked of the others.
    const world = (SIGNING_KEYS?: string) => worldOf({ SIGNING_KEYS } as unknown as Bindings);
    const told = (SIGNING_KEYS?: string) =>
      world(SIGNING_KEYS).missing.find(({ name }) => name === "SIGNING_KEYS")?.detail;
    expect([told(text), world(text).signer?.kid]).toEqual([undefined, a.kid]);
    expect([world().signer, told()]).toEqual([null, expect.stringContaining("Set the secret SIGNING_KEYS.")]);
    const [mixed = ""] = unusable["parts of two keys"] ?? [];
    expect(world(mixed).signer).toBeNull();
    expect(told(mixed)).toMatch(/Nothing can be approved.*cannot be used: the private and the public part of key/);
  });
  it("[TOK-36] a key's own name is the thumbprint of RFC 7638, as RFC 8037 works it out", () => {
    expect(thumbprint("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")).toBe(
      "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    );
  });
});
