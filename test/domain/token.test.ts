import { generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import fc from "fast-check";
import { compactVerify, importJWK } from "jose";
import { describe, expect, it } from "vitest";
import { createSigner } from "../../src/adapters/signer.ts";
import { emptyCard } from "../../src/domain/approval.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { assembleJws } from "../../src/domain/jws.ts";
import {
  checkStatement,
  contentHash,
  itemHash,
  readJws,
  type Statement,
  type Subject,
  signingInput,
} from "../../src/domain/token.ts";
import { variants } from "../fakes/variants.ts";

const keys = generateKeyPairSync("ed25519");
const subject: Subject = {
  type: "work_item",
  work_item_id: "p1.fix",
  item_hash: "a".repeat(64),
  plan_hash: "b".repeat(64),
};
const said: Statement = {
  scope: "scopescopescope1",
  task: "task-1",
  approval_id: "approval-1",
  content_hash: "c".repeat(64),
  subject,
  approver: "ada",
  nonce: "0123456789abcdef0123456789abcdef",
  iat: 1_800_000_000,
  exp: 1_800_000_600,
};
const inTime = 1_800_000_300_000;

const signBy = (key: KeyObject, input: string) => assembleJws(input, sign(null, Buffer.from(input), key));
const ours = signBy(keys.privateKey, signingInput("k1", said));
const b64 = (text: string) => Buffer.from(text).toString("base64url");
/** A well-signed token with any header and payload. */
const forged = (head: unknown, body: unknown) =>
  signBy(keys.privateKey, `${b64(canonicalJson(head))}.${b64(canonicalJson(body))}`);
const goodHead = { alg: "EdDSA", kid: "k1", typ: "countersign+jws" };

const card: Card = {
  ...emptyCard({
    kind: "plan",
    title: "Countersign the plan",
    why: "A plan runs only with your approval.",
    repo: "/repos/sample",
    taint: "member",
    policy_hash: "d".repeat(64),
    requested_by: "planner",
  }),
  base_commit: "e".repeat(40),
  publishes: "countersign/task-1",
  plan_hash: "f".repeat(64),
  environment: { setup: [["npm", "ci"]], hosts: ["npm"], cache: ["npm"] },
  items: [
    {
      id: "fix",
      item_hash: "1".repeat(64),
      title: "Fix it",
      runner: "steps",
      depends_on: ["first"],
      grants: { tools: ["shell_execute"], paths: ["src/**"], commands: ["npm test"], hosts: [], secrets: [] },
      protect: ["test/**"],
      verify: [["npm", "test"]],
      steps: ["npm test"],
      max_attempts: 3,
    },
  ],
  tool: { name: "shell_execute", arguments: '{"command":"ls"}', workspace_tree: "2".repeat(40) },
  facts: ["a fact"],
  budget: { tokens: 1, usd: 2, minutes: null },
};
const bound = {
  scope: "scopescopescope1",
  task: "task-1",
  plan_hash: "b".repeat(64),
  repo: "/repos/sample",
  base_commit: "e".repeat(40),
  environment: { setup: [["npm", "ci"]], hosts: ["npm"], cache: [] },
  item: {
    id: "fix",
    title: "Fix",
    steps: ["npm test", "true"],
    allow: { paths: ["src/**"], secrets: [] },
    max_attempts: 3,
    section: "Do it.",
  },
};

describe("what is hashed", () => {
  it("[TOK-1] any change of a card, however small, changes its content_hash, and the order of keys does not", () => {
    const hash = contentHash(card);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const changed = variants(card);
    expect(changed.length).toBeGreaterThan(60);
    for (const other of changed) expect(contentHash(other as Card), JSON.stringify(other)).not.toBe(hash); // a variant is a card bent on purpose
    const turned = Object.fromEntries(Object.entries(card).reverse());
    expect(contentHash(turned as Card)).toBe(hash); // the same keys, so it is a card
  });
  it("[TOK-2] any change of what an item is bound to changes its item_hash", () => {
    const hash = itemHash(bound);
    const changed = variants(bound);
    expect(changed.length).toBeGreaterThan(30);
    for (const other of changed) expect(itemHash(other as typeof bound), JSON.stringify(other)).not.toBe(hash); // bent on purpose
  });
  it("[TOK-2] one byte of a step, a grant or a section is enough", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (text, at, by) => {
        const place = at % text.length;
        const other = `${text.slice(0, place)}${String.fromCharCode((text.charCodeAt(place) + by) % 256)}${text.slice(place + 1)}`;
        fc.pre(other !== text && text.isWellFormed());
        const step = (script: string) => itemHash({ ...bound, item: { ...bound.item, steps: [script] } });
        return step(other) !== step(text);
      }),
    );
  });
});

describe("what is signed", () => {
  it("[TOK-3] a third party verifies our token from the published keys alone", async () => {
    const { d, x } = keys.privateKey.export({ format: "jwk" });
    const pair = { kty: "OKP", crv: "Ed25519", x: x ?? "" } as const;
    const signer = createSigner({ active: "k1", keys: { k1: { private: { ...pair, d: d ?? "" }, public: pair } } });
    const input = signingInput(signer.kid, said);
    const jws = assembleJws(input, await signer.sign(input));
    const [published] = signer.jwks().keys;
    if (published === undefined) throw new Error("no key is published");
    expect(published).not.toHaveProperty("d");
    const read = await compactVerify(jws, await importJWK(published, "EdDSA"), { algorithms: ["EdDSA"] });
    expect(read.protectedHeader).toEqual(goodHead);
    expect(JSON.parse(new TextDecoder().decode(read.payload))).toEqual(said);
    expect(new TextDecoder().decode(read.payload)).toBe(canonicalJson(said));
    expect(jws).toBe(ours);
  });
  it("[TOK-3] what was signed is read back as it was said, and its signature fits the input", () => {
    const read = readJws(ours);
    if (read === null) throw new Error("our own token is not read");
    expect(read).toMatchObject({ kid: "k1", statement: said });
    expect(verify(null, Buffer.from(read.input), keys.publicKey, read.signature)).toBe(true);
  });
  it("[TOK-3] every kind of subject comes back as it went in", () => {
    const subjects: Subject[] = [
      subject,
      { type: "call", attempt_id: "a", call_id: "step-1", tool: "shell_execute", arguments: "{}", workspace_tree: "" },
      { type: "attempt", attempt_id: "a", patch_tree: "t" },
      { type: "escalation", work_item_id: "w", attempts: 3 },
    ];
    for (const each of subjects)
      expect(readJws(`${signingInput("k1", { ...said, subject: each })}.AAAA`)?.statement.subject).toEqual(each);
  });
});

describe("what is not read", () => {
  it("[TOK-4] another algorithm, type or header is no token of ours, however well it is signed", () => {
    expect(readJws(forged(goodHead, said))).not.toBeNull();
    const heads: unknown[] = [
      { ...goodHead, alg: "none" },
      { ...goodHead, alg: "HS256" },
      { ...goodHead, alg: "ES256" },
      { ...goodHead, alg: "eddsa" },
      { ...goodHead, alg: ["EdDSA"] },
      { ...goodHead, typ: "JWT" },
      { ...goodHead, kid: 1 },
      { ...goodHead, jwk: { kty: "OKP" } },
      { ...goodHead, crit: ["exp"] },
      { ...goodHead, b64: false },
      { alg: "EdDSA", typ: "countersign+jws" },
      [goodHead],
      null,
    ];
    for (const head of heads) expect(readJws(forged(head, said)), JSON.stringify(head)).toBeNull();
  });
  it("[TOK-4] a claim too many, too few or of another type is no statement", () => {
    const bodies: unknown[] = [
      { ...said, admin: true },
      { ...said, subject: { ...subject, also: "x" } },
      { ...said, subject: { ...subject, type: "anything" } },
      { ...said, nonce: "short" },
      { ...said, nonce: said.nonce.toUpperCase() },
      { ...said, exp: "1800000600" },
      { ...said, exp: 1_800_000_600.5 },
      { ...said, iat: null },
      [said],
      "said",
      ...Object.keys(said).map((gone) => Object.fromEntries(Object.entries(said).filter(([key]) => key !== gone))),
    ];
    for (const body of bodies) expect(readJws(forged(goodHead, body)), JSON.stringify(body)).toBeNull();
  });
  it("[TOK-4] bytes that are not the canonical ones are refused, though they say the same", () => {
    const head = b64(canonicalJson(goodHead));
    const bodies = [
      JSON.stringify(said, null, 1),
      JSON.stringify(Object.fromEntries(Object.entries(said).reverse())),
      canonicalJson(said).replace('"exp":1800000600', '"exp":1.8000006e9'),
      canonicalJson(said).replace('"exp":', '"exp":1,"exp":'),
      canonicalJson(said).replace("ada", "\\u0061da"),
      `\uFEFF${canonicalJson(said)}`,
    ];
    for (const body of bodies) {
      expect(() => JSON.parse(body.replace("\uFEFF", ""))).not.toThrow();
      expect(readJws(signBy(keys.privateKey, `${head}.${b64(body)}`)), body).toBeNull();
    }
  });
  it("[TOK-4] a signature spelled otherwise makes no second token out of one", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = ours.at(-1) ?? "";
    const twins = [...letters].filter(
      (letter) =>
        Math.floor(letters.indexOf(letter) / 16) === Math.floor(letters.indexOf(last) / 16) && letter !== last,
    );
    expect(twins).toHaveLength(15);
    for (const letter of twins) expect(readJws(ours.slice(0, -1) + letter)).toBeNull();
    for (const end of ["=", "==", " ", "\n"]) expect(readJws(ours + end)).toBeNull();
  });
  it("[TOK-4] whatever the text, reading it answers and never throws", () => {
    const parts = ours.split(".");
    for (const text of [
      "",
      ".",
      "..",
      "a.b.c",
      "a.a.a",
      parts.slice(0, 2).join("."),
      `${ours}.${parts[2]}`,
      ours.replaceAll(".", ","),
      "\u{1F511}.x.y",
    ])
      expect(readJws(text), text).toBeNull();
    expect(readJws(`${b64("\u0000")}.${b64("{")}.${parts[2]}`)).toBeNull();
    expect(readJws(`${Buffer.from([0xff, 0xfe]).toString("base64url")}.${parts[1]}.${parts[2]}`)).toBeNull();
    fc.assert(fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => readJws(`${a}.${b}.${c}`) === null));
    fc.assert(
      fc.property(fc.nat({ max: ours.length - 1 }), fc.integer({ min: 33, max: 126 }), (at, code) => {
        const bent = ours.slice(0, at) + String.fromCharCode(code) + ours.slice(at + 1);
        const read = readJws(bent);
        return bent === ours || read === null || !verify(null, Buffer.from(read.input), keys.publicKey, read.signature);
      }),
      { numRuns: 500 },
    );
  });
});

describe("whose signature counts", () => {
  it("[TOK-5] only a key of the deployment, by its own name; a retired key verifies and no longer signs", async () => {
    const [old, stranger] = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
    const publicOf = (key: KeyObject) =>
      ({ kty: "OKP", crv: "Ed25519", x: key.export({ format: "jwk" }).x ?? "" }) as const;
    const signer = createSigner({
      active: "k0",
      keys: { k0: { public: publicOf(old.publicKey) }, k1: { public: publicOf(keys.publicKey) } },
    });
    const good = async (jws: string) => {
      const read = readJws(jws);
      return read !== null && (await signer.verify(read.kid, read.input, read.signature));
    };
    const by = (kid: string, key: KeyObject) => good(signBy(key, signingInput(kid, said)));
    expect(await by("k1", keys.privateKey)).toBe(true);
    expect(await by("k0", old.privateKey)).toBe(true);
    expect(await by("k0", keys.privateKey)).toBe(false);
    expect(await by("k1", stranger.privateKey)).toBe(false);
    for (const kid of ["k2", "__proto__", "constructor", ""]) expect(await by(kid, keys.privateKey), kid).toBe(false);
    expect(await good(`${signingInput("k1", said)}.`)).toBe(false);
    const other = signBy(keys.privateKey, signingInput("k1", { ...said, approver: "eve" }));
    expect(await good(`${signingInput("k1", said)}.${other.split(".")[2]}`)).toBe(false);
    await expect(signer.sign("anything")).rejects.toThrow("no private part");
  });
});

describe("what a token stands for", () => {
  const expected = { scope: said.scope, task: said.task, subject };
  it("[TOK-6] it stands for exactly its scope, task and subject", () => {
    expect(checkStatement(said, expected, inTime)).toBeNull();
    expect(checkStatement(said, { ...expected, scope: "scopescopescope2" }, inTime)).toContain("another scope");
    expect(checkStatement(said, { ...expected, task: "task-2" }, inTime)).toContain("another task");
    for (const other of variants(subject))
      expect(checkStatement(said, { ...expected, subject: other as Subject }, inTime)).toContain(
        "not what is stored now",
      ); // bent on purpose
    const patch: Subject = { type: "attempt", attempt_id: "a", patch_tree: "t" };
    expect(checkStatement(said, { ...expected, subject: patch }, inTime)).toContain("not what is stored now");
  });
  it("[TOK-6] it stands until its second of expiry and not in it", () => {
    const end = said.exp * 1000;
    expect(checkStatement(said, expected, end - 1)).toBeNull();
    for (const now of [end, end + 1, Number.MAX_SAFE_INTEGER])
      expect(checkStatement(said, expected, now)).toContain("expired");
  });
});
