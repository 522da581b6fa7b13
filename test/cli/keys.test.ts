import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSigner, readSigningKeys, type SigningKeys } from "../../src/adapters/signer.ts";
import { runKeys, usage } from "../../src/dev/key-commands.ts";
import { envFile, localSecrets } from "../../src/dev/secrets.ts";
import { lock, type StateFolder, stateFolder } from "../../src/dev/state.ts";
import { thumbprint } from "../../src/domain/jws.ts";
import { limits } from "../../src/limits.ts";

let folder: StateFolder;
beforeEach(() => {
  folder = stateFolder(mkdtempSync(join(tmpdir(), "countersign-keys-")));
});
afterEach(() => rmSync(folder.root, { recursive: true, force: true }));

function keys(...argv: string[]) {
  const said = { out: "", err: "" };
  const code = runKeys(argv, {
    out: (line) => {
      said.out += `${line}\n`;
    },
    err: (line) => {
      said.err += `${line}\n`;
    },
  });
  return { code, ...said };
}
const here = (...argv: string[]) => keys(...argv, "--state", folder.root);
function stored(): SigningKeys {
  const read = readSigningKeys(localSecrets(folder).SIGNING_KEYS);
  if (!read.ok) throw new Error(read.why);
  return read.keys;
}
/** Every private part that ever stood in the folder. */
function privates(set: SigningKeys): string[] {
  return Object.values(set.keys).flatMap((pair) => (pair.private === undefined ? [] : [pair.private.d]));
}

describe("the keys of a local service", () => {
  it("[START-30] the first start makes one key, named by its thumbprint", () => {
    const { active, keys: made } = stored();
    expect(Object.keys(made)).toEqual([active]);
    expect(active).toBe(thumbprint(made[active]?.public.x ?? ""));
  });
  it("[START-30] rotating makes a new key that signs; the old one verifies what it signed and cannot sign any more", async () => {
    const before = stored();
    const signature = await createSigner(before).sign("said before");
    const { code, out } = here("rotate");
    const after = stored();
    expect(code).toBe(0);
    expect(Object.keys(after.keys).sort()).toEqual([before.active, after.active].sort());
    expect(after.active).not.toBe(before.active);
    expect(after.active).toBe(thumbprint(after.keys[after.active]?.public.x ?? ""));
    expect(after.keys[before.active]).toEqual({ public: before.keys[before.active]?.public });
    const signer = createSigner(after);
    expect([signer.kid, await signer.verify(before.active, "said before", new Uint8Array(signature))]).toEqual([
      after.active,
      true,
    ]);
    expect(out).toContain(after.active);
    for (const secret of [...privates(before), ...privates(after)]) expect(out).not.toContain(secret);
  });
  it("[START-30] every other secret stays as it was, and the file stays its owner's only", () => {
    const { SIGNING_KEYS: _keys, ...others } = localSecrets(folder);
    here("rotate");
    const { SIGNING_KEYS: _new, ...after } = localSecrets(folder);
    expect(after).toEqual(others);
    expect(statSync(folder.secrets).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.root).filter((name) => /draft|lock/.test(name))).toEqual([]);
  });
  it("[START-30] a key of an old kind of name is rotated away like any other", () => {
    const secrets = localSecrets(folder);
    const [pair] = Object.values(stored().keys);
    const old = JSON.stringify({ active: "0a1b2c3d4e5f", keys: { "0a1b2c3d4e5f": pair } });
    writeFileSync(folder.secrets, envFile({ ...secrets, SIGNING_KEYS: old }));
    expect(here("rotate").code).toBe(0);
    expect(Object.keys(stored().keys)).toContain("0a1b2c3d4e5f");
  });
  it("[START-31] while a service runs on the folder no key changes; listing them is always possible", () => {
    const before = stored();
    const held = lock(folder);
    for (const argv of [["rotate"], ["retire", "k"], ["revoke", "k", "--yes"]]) {
      const { code, err } = here(...argv);
      expect([code, err]).toEqual([1, expect.stringMatching(/in use: a service runs.*Stop it/)]);
    }
    expect(here("list")).toMatchObject({ code: 0, out: `${before.active}  signs\n` });
    held.release();
    expect(stored()).toEqual(before);
  });
  it("[START-32] a key that does not sign any more can be retired, then revoked; the one that signs neither", () => {
    const secrets = localSecrets(folder);
    const set = stored();
    const made = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
    const known = { kty: "OKP", crv: "Ed25519", x: made.x };
    const two = { ...set, keys: { ...set.keys, other: { private: made, public: known } } };
    writeFileSync(folder.secrets, envFile({ ...secrets, SIGNING_KEYS: JSON.stringify(two) }));
    expect(here("list").out).toContain("other  verifies what it signed; its private part is still kept");
    expect(here("retire", "other").code).toBe(0);
    expect(stored().keys.other).toEqual({ public: known });
    const unsure = here("revoke", "other");
    expect([unsure.code, unsure.err]).toEqual([2, expect.stringMatching(/voids every approval.*--yes/)]);
    expect(stored().keys.other).toBeDefined();
    expect(here("revoke", "other", "--yes").code).toBe(0);
    expect(Object.keys(stored().keys)).toEqual([set.active]);
    for (const verb of ["retire", "revoke"]) {
      expect(here(verb, set.active, "--yes").err).toContain("rotate first");
      for (const strange of ["nobody", "constructor"])
        expect(here(verb, strange, "--yes").err).toContain("there is no key");
    }
    expect(stored()).toEqual(set);
  });
  it("[START-31] no more keys are kept than fit one secret", () => {
    stored();
    for (let made = 1; made < limits.signing_keys; made++) expect(here("rotate").code).toBe(0);
    const full = here("rotate");
    expect([full.code, full.err]).toEqual([1, expect.stringContaining("at most 20 keys")]);
    expect(Buffer.byteLength(localSecrets(folder).SIGNING_KEYS)).toBeLessThan(5 * 1024);
  });
  it("[START-31] a folder without keys gets none, and keys that cannot be used are not touched", () => {
    expect(keys("rotate", "--state", join(folder.root, "nothing"))).toMatchObject({ code: 1 });
    expect(existsSync(join(folder.root, "nothing"))).toBe(false);
    const secrets = localSecrets(folder);
    writeFileSync(folder.secrets, envFile({ ...secrets, SIGNING_KEYS: '{"active":"k","keys":{}}' }));
    const text = readFileSync(folder.secrets, "utf8");
    expect(here("rotate").err).toContain("active key k is not among its keys");
    expect(readFileSync(folder.secrets, "utf8")).toBe(text);
  });
});

describe("keys for a deployment", () => {
  it("[START-33] a new set is one line on stdout, how to set it on stderr, and nothing is stored", () => {
    const { code, out, err } = keys("generate");
    const read = readSigningKeys(out.trim());
    if (!read.ok) throw new Error(read.why);
    expect([code, Object.keys(read.keys.keys)]).toEqual([0, [read.keys.active]]);
    expect(err).toContain("wrangler secret put SIGNING_KEYS");
    expect(err).not.toContain(privates(read.keys)[0]);
    expect(existsSync(folder.secrets)).toBe(false);
  });
  it("[START-33] beside published keys it verifies what they signed", () => {
    const jwks = join(folder.root, "jwks.json");
    const old = stored();
    writeFileSync(jwks, JSON.stringify(createSigner(old).jwks()));
    const read = readSigningKeys(keys("generate", "--keep", jwks).out.trim());
    if (!read.ok) throw new Error(read.why);
    expect(read.keys.keys[old.active]).toEqual({ public: old.keys[old.active]?.public });
    expect(read.keys.active).not.toBe(old.active);
  });
  it("[START-33] what is no set of public keys is refused in one sentence", () => {
    const file = join(folder.root, "some");
    const [key] = createSigner(stored()).jwks().keys;
    const given: [string, RegExp][] = [
      ["{", /is no set of Ed25519 keys/],
      [JSON.stringify({ keys: [{ ...key, crv: "P-256" }] }), /is no set of Ed25519 keys/],
      [JSON.stringify({ keys: [key, { ...key, x: "A".repeat(43) }] }), /stands twice/],
      [JSON.stringify({ keys: [key, { ...key, kid: "twin" }] }), /one key under two names/],
      [" ".repeat(limits.key_set_bytes + 1), /too large/],
    ];
    for (const [text, why] of given) {
      writeFileSync(file, text);
      const { code, out, err } = keys("generate", "--keep", file);
      expect([code, out, err]).toEqual([1, "", expect.stringMatching(why)]);
    }
    expect(keys("generate", "--keep", join(folder.root, "absent")).code).toBe(1);
  });
  it("[START-34] what is asked wrongly is told with the usage, and changes nothing", () => {
    for (const argv of [
      [],
      ["spin"],
      ["rotate", "k"],
      ["retire"],
      ["revoke", "a", "b"],
      ["list", "--keep", "x"],
      ["generate", "--what"],
    ]) {
      const { code, out, err } = keys(...argv);
      expect([code, out], argv.join(" ")).toEqual([2, ""]);
      expect(err).toContain(usage);
    }
    expect(keys("--help")).toMatchObject({ code: 0, out: `${usage}\n` });
  });
});
