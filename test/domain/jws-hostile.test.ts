/** What a hostile or careless hand can do to a token, one by one; and the same bytes read by another library. */
import { createHmac, generateKeyPairSync, sign, verify } from "node:crypto";
import { CompactSign, compactVerify, createLocalJWKSet, importJWK } from "jose";
import { describe, expect, it } from "vitest";
import { createSigner, readSigningKeys } from "../../src/adapters/signer.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { checkpointInput, readCheckpoint } from "../../src/domain/checkpoint.ts";
import { assembleJws, thumbprint } from "../../src/domain/jws.ts";
import { readJws, type Statement, signingInput } from "../../src/domain/token.ts";

const pair = generateKeyPairSync("ed25519");
const own = pair.privateKey.export({ format: "jwk" });
const x = own.x ?? "";
const kid = thumbprint(x);
const read = readSigningKeys(
  JSON.stringify({ active: kid, keys: { [kid]: { private: own, public: { kty: "OKP", crv: "Ed25519", x } } } }),
);
if (!read.ok) throw new Error(read.why);
const signer = createSigner(read.keys);

const said: Statement = {
  scope: "scopescopescope1",
  task: "task-1",
  // Five of these bring a sign that the two alphabets of base64 write differently.
  approval_id: "approval-1~~~~~",
  content_hash: "c".repeat(64),
  subject: { type: "work_item", work_item_id: "p1.fix", item_hash: "a".repeat(64), plan_hash: "b".repeat(64) },
  approver: "ada",
  nonce: "0123456789abcdef0123456789abcdef",
  iat: 1_800_000_000,
  exp: 1_800_000_600,
};
const head = { alg: "EdDSA", kid, typ: "countersign+jws" };
const b64 = (bytes: string | Uint8Array) => Buffer.from(bytes).toString("base64url");
const signed = (input: string) => assembleJws(input, sign(null, Buffer.from(input), pair.privateKey));
const input = signingInput(kid, said);
const ours = signed(input);
const [headPart = "", bodyPart = "", tail = ""] = ours.split(".");
const body = canonicalJson(said);
/** Well signed, whatever it is. */
const forged = (headText: string, bodyText: string) => signed(`${b64(headText)}.${b64(bodyText)}`);
const withHead = (change: Record<string, unknown>) => forged(canonicalJson({ ...head, ...change }), body);
const withBody = (from: string, to: string) => forged(canonicalJson(head), body.replace(from, to));

/** As every entry does it: read, then verified by the key it names. */
async function stands(jws: string): Promise<boolean> {
  const token = readJws(jws);
  return token !== null && (await signer.verify(token.kid, token.input, token.signature));
}
const hmac = (headText: string, secret: string | Buffer) => {
  const text = `${b64(headText)}.${b64(body)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
};
const publicPem = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
/** The same scalar plus the group's order: some verifiers take it for the same signature. */
function malleable(): string {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const bytes = Buffer.from(tail, "base64url");
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString("hex")}`) + order;
  const other = Buffer.from(scalar.toString(16).padStart(64, "0"), "hex").reverse();
  return `${headPart}.${bodyPart}.${b64(Buffer.concat([bytes.subarray(0, 32), other]))}`;
}

const hostile: Record<string, string> = {
  "alg none, signed": withHead({ alg: "none" }),
  "alg none, unsigned": `${b64(canonicalJson({ ...head, alg: "none" }))}.${bodyPart}.`,
  "no signature": `${headPart}.${bodyPart}.`,
  "HS256 with the public key as text": hmac(canonicalJson({ ...head, alg: "HS256" }), publicPem),
  "HS256 with the public key's bytes": hmac(canonicalJson({ ...head, alg: "HS256" }), Buffer.from(x, "base64url")),
  "HMAC under our own header": hmac(canonicalJson(head), publicPem),
  "alg Ed25519, its newer name": withHead({ alg: "Ed25519" }),
  "alg EdDSA in another case": withHead({ alg: "EDDSA" }),
  "an unencoded payload": withHead({ b64: false, crit: ["b64"] }),
  "b64 true": withHead({ b64: true }),
  "a critical extension": withHead({ crit: ["exp"] }),
  "no critical extension": withHead({ crit: [] }),
  "a key of its own": withHead({ jwk: { kty: "OKP", crv: "Ed25519", x } }),
  "an address of keys": withHead({ jku: "https://evil.example/jwks.json" }),
  "a certificate": withHead({ x5c: ["AAAA"] }),
  "a kid of another key": withHead({ kid: "k2" }),
  "a kid that is a path": withHead({ kid: "../../dev/null" }),
  "a kid that is a property of every object": withHead({ kid: "constructor" }),
  "a kid of nothing": withHead({ kid: "" }),
  "typ of a checkpoint": withHead({ typ: "countersign-checkpoint+jws" }),
  "typ JWT": withHead({ typ: "JWT" }),
  "typ in another case": withHead({ typ: "Countersign+JWS" }),
  "a header name twice": forged(`{"alg":"none",${canonicalJson(head).slice(1)}`, body),
  "a claim twice, ours last": withBody("{", '{"approver":"eve",'),
  "a claim twice, ours first": withBody('"approver":"ada"', '"approver":"ada","approver":"eve"'),
  "a claim of a prototype": withBody("{", '{"__proto__":{"x":1},'),
  "an escape where a letter stands": withBody("ada", "\\u0061da"),
  "a slash escaped": withBody("ada", "a\\/da"),
  "a raw letter where an escape belongs": withBody("ada", "a\u0007da"),
  "half a surrogate pair": withBody("ada", "\\ud800"),
  "bytes that are no UTF-8": signed(`${headPart}.${b64(Buffer.from(body.replace("ada", "\u00ff"), "latin1"))}`),
  "a space between tokens": withBody(",", ", "),
  "a newline at the end": forged(canonicalJson(head), `${body}\n`),
  "a byte order mark": forged(canonicalJson(head), `\ufeff${body}`),
  "a number in exponent form": withBody("1800000600", "1.8000006e9"),
  "a number with a fraction of nothing": withBody("1800000600", "1800000600.0"),
  "a number past what a double holds": withBody("1800000600", "9007199254740993"),
  "a number past all": withBody("1800000600", "1e400"),
  "a negative zero": withBody("1800000000", "-0"),
  "a leading zero": withBody("1800000600", "01800000600"),
  "an expiry as text": withBody("1800000600", '"1800000600"'),
  "an expiry of null": withBody("1800000600", "null"),
  "claims in another order": forged(
    canonicalJson(head),
    JSON.stringify(Object.fromEntries(Object.entries(said).reverse())),
  ),
  "a payload that is a list": forged(canonicalJson(head), `[${body}]`),
  "padding after the header": `${headPart}=.${bodyPart}.${tail}`,
  "padding after the payload": signed(`${headPart}.${bodyPart}=`),
  "padding after the signature": `${ours}==`,
  "the other base64 alphabet": ours.replaceAll("-", "+").replaceAll("_", "/"),
  "a space before": ` ${ours}`,
  "a newline after": `${ours}\n`,
  "a null byte after": `${ours}\u0000`,
  "a fourth part": `${ours}.${tail}`,
  "a byte after the signature": `${headPart}.${bodyPart}.${b64(Buffer.concat([Buffer.from(tail, "base64url"), Buffer.from([0])]))}`,
  "a byte less of the signature": `${headPart}.${bodyPart}.${b64(Buffer.from(tail, "base64url").subarray(0, 63))}`,
  "a signature of zeros": `${headPart}.${bodyPart}.${b64(new Uint8Array(64))}`,
  "the signature's scalar plus the order": malleable(),
  "the JSON form of a JWS": JSON.stringify({ protected: headPart, payload: bodyPart, signature: tail }),
  "header and payload changed places": `${bodyPart}.${headPart}.${tail}`,
  "nothing between the dots": "..",
};
const lastLetter = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

describe("a token in hostile hands", () => {
  it("[TOK-32] every form that is not exactly ours is refused, however well it is signed", async () => {
    expect(await stands(ours)).toBe(true);
    expect(Object.keys(hostile).length).toBeGreaterThan(55);
    for (const [name, jws] of Object.entries(hostile)) {
      expect(jws, name).not.toBe(ours);
      expect(await stands(jws), name).toBe(false);
    }
  });
  it("[TOK-32] letters of base64url that carry no bits change nothing, so they may not differ", async () => {
    for (const [part, at] of [headPart, bodyPart, tail].map((text, index) => [text, index] as const)) {
      if (part.length % 4 === 0) continue;
      const last = lastLetter.indexOf(part.at(-1) ?? "");
      const free = part.length % 4 === 2 ? 16 : 4;
      for (let bits = 1; bits < free; bits++) {
        const twin = part.slice(0, -1) + lastLetter[(last & ~(free - 1)) | ((last + bits) & (free - 1))];
        expect(Buffer.from(twin, "base64url").equals(Buffer.from(part, "base64url"))).toBe(true);
        expect(await stands([headPart, bodyPart, tail].with(at, twin).join("."))).toBe(false);
      }
    }
  });
  it("[TOK-33] one bit flipped anywhere in a token is refused", async () => {
    const bytes = Buffer.from(ours);
    let flips = 0;
    for (let at = 0; at < bytes.length; at++)
      for (let bit = 0; bit < 8; bit++) {
        const bent = Buffer.from(bytes);
        bent[at] = (bent[at] ?? 0) ^ (1 << bit);
        if (await stands(bent.toString("latin1"))) throw new Error(`bit ${bit} of byte ${at} may be flipped`);
        flips++;
      }
    expect(flips).toBe(bytes.length * 8);
  });
  it("[TOK-33] one bit flipped in the signed bytes and spelled again is refused", async () => {
    const parts = [headPart, bodyPart, tail].map((part) => Buffer.from(part, "base64url"));
    for (const [index, part] of parts.entries())
      for (let bit = 0; bit < part.length * 8; bit++) {
        const bent = Buffer.from(part);
        bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const jws = parts.with(index, bent).map(b64).join(".");
        if (await stands(jws)) throw new Error(`bit ${bit} of part ${index} may be flipped`);
      }
  });
  it("[TOK-34] a token and a checkpoint never pass for each other", () => {
    const ends = { scope: said.scope, seq: 1, prev: "0".repeat(64), heads: [], at: "2026-01-01T00:00:00.000Z" };
    const checkpoint = signed(checkpointInput(kid, ends));
    expect(readCheckpoint(checkpoint)).not.toBeNull();
    expect(readJws(checkpoint)).toBeNull();
    expect(readCheckpoint(ours)).toBeNull();
    // Claims that would fit both must not be all that keeps them apart.
    const types = [ours, checkpoint].map(
      (jws) => JSON.parse(Buffer.from(jws.split(".")[0] ?? "", "base64url").toString()).typ,
    );
    expect(types).toEqual(["countersign+jws", "countersign-checkpoint+jws"]);
  });
});

describe("another library", () => {
  it("[TOK-35] jose finds the key by its name in our set and verifies our token", async () => {
    const found = await compactVerify(ours, createLocalJWKSet(signer.jwks()), { algorithms: ["EdDSA"] });
    expect(found.protectedHeader).toEqual(head);
    expect(new TextDecoder().decode(found.payload)).toBe(body);
  });
  it("[TOK-35] what jose signs with the same key over the same bytes is our token, byte for byte; in other words it is none", async () => {
    const key = await importJWK({ ...own, alg: "EdDSA" }, "EdDSA");
    const payload = new TextEncoder().encode(body);
    const same = await new CompactSign(payload).setProtectedHeader({ alg: "EdDSA", kid, typ: head.typ }).sign(key);
    expect(same).toBe(ours);
    const turned = await new CompactSign(payload).setProtectedHeader({ typ: head.typ, kid, alg: "EdDSA" }).sign(key);
    expect((await compactVerify(turned, createLocalJWKSet(signer.jwks()))).protectedHeader).toEqual(head);
    expect(await stands(turned)).toBe(false);
  });
  it("[TOK-35] node:crypto alone verifies it from the published key, as the documents show", () => {
    const [published] = signer.jwks().keys;
    if (published === undefined) throw new Error("no key is published");
    const good = verify(
      null,
      Buffer.from(`${headPart}.${bodyPart}`),
      { key: { ...published }, format: "jwk" },
      Buffer.from(tail, "base64url"),
    );
    expect(good).toBe(true);
  });
});
