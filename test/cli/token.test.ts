import { generateKeyPairSync, sign } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../../src/cli/run.ts";
import { assembleJws, thumbprint } from "../../src/domain/jws.ts";
import { type IssuedToken, type Statement, signingInput } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import { command, type Fake, fakeService, json, problem } from "./fake.ts";

const pair = generateKeyPairSync("ed25519");
const { x = "" } = pair.publicKey.export({ format: "jwk" });
const kid = thumbprint(x);
const jwks = { keys: [{ kty: "OKP", crv: "Ed25519", x, kid, alg: "EdDSA", use: "sig" }] };
const said: Statement = {
  scope: "scopescopescope1",
  task: "task-1",
  approval_id: "approval-1",
  content_hash: "c".repeat(64),
  subject: { type: "work_item", work_item_id: "p1.fix", item_hash: "a".repeat(64), plan_hash: "b".repeat(64) },
  approver: "ada#1",
  nonce: "0123456789abcdef0123456789abcdef",
  iat: Date.parse("2026-03-01T10:00:00Z") / 1000,
  exp: Date.parse("2026-03-31T10:00:00Z") / 1000,
  policy_hash: "d".repeat(64),
  approvers: [
    { by: "bob#2", at: "2026-03-01T09:00:00.000Z", proof: "session", said: "e".repeat(64) },
    { by: "ada#1", at: "2026-03-01T10:00:00.000Z", proof: "token", said: "f".repeat(64) },
  ],
};
const inTime = ["--at", "2026-03-02"];
function signed(statement: Statement, name = kid): string {
  const input = signingInput(name, statement);
  return assembleJws(input, sign(null, Buffer.from(input), pair.privateKey));
}
const jws = signed(said);

let folder: string;
let file: string;
let keyFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-token-"));
  file = join(folder, "token.jws");
  keyFile = join(folder, "jwks.json");
  writeFileSync(file, `${jws}\n`);
  writeFileSync(keyFile, JSON.stringify(jwks));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** With no service anywhere: what answers at this address is nobody. */
const nowhere = "http://127.0.0.1:9";
const verify = (...more: string[]) => command(nowhere, ["token", "verify", file, "--keys", keyFile, ...more]);
async function piped(chunks: readonly Uint8Array[]) {
  const told = { out: "", err: "" };
  const code = await run(
    ["token", "verify", "-", "--keys", keyFile, ...inTime],
    {},
    {
      out: (text) => {
        told.out += `${text}\n`;
      },
      err: (text) => {
        told.err += `${text}\n`;
      },
      ask: null,
      cwd: folder,
      input: (async function* () {
        yield* chunks;
      })(),
    },
  );
  return { code, ...told };
}

describe("token verify", () => {
  it("[CLI-40] with the public keys and no service it says who approved what, for what, when, until when and by which key", async () => {
    const { code, out, err } = await verify(...inTime);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^VALID/);
    for (const line of [
      /key +\S/,
      /approved by +ada#1/,
      / bob#2 at 2026-03-01T09:00:00\.000Z, by session/,
      / ada#1 at 2026-03-01T10:00:00\.000Z, by token/,
      /what +work item p1\.fix/,
      /item hash +a{64}/,
      /plan hash +b{64}/,
      /scope +scopescopescope1/,
      /task +task-1/,
      /approval +approval-1/,
      /card +c{64}/,
      /policy +d{64}/,
      /signed at +2026-03-01T10:00:00\.000Z/,
      /until +2026-03-31T10:00:00\.000Z/,
    ])
      expect(out).toMatch(line);
    expect(out).toContain(kid);
    expect(out).toContain("whether it still stands, the service knows");
  });
  it("[CLI-40] a call is shown with its exact arguments, on one line and with nothing hidden", async () => {
    const subject = {
      type: "call",
      attempt_id: "p1.fix.1",
      call_id: "step-1",
      tool: "shell_execute",
      arguments: '{"command":"ls \u202e\nVALID"}',
      workspace_tree: "e".repeat(40),
    } as const;
    writeFileSync(file, signed({ ...said, subject }));
    const { out } = await verify(...inTime);
    expect(out).toContain('{"command":"ls ⟦U+202E⟧⟦U+000A⟧VALID"}');
    expect(out).toMatch(/one call of shell_execute, step-1 of attempt p1\.fix\.1/);
  });
  it("[CLI-41] expired is said apart from not valid, and both end with 1", async () => {
    const states: [string[], RegExp][] = [
      [["--at", "2026-03-31T09:59:59Z"], /^VALID/],
      [["--at", "2026-03-31T10:00:00Z"], /^EXPIRED: well signed/],
      [["--at", "2026-02-01"], /^NOT VALID: well signed, but later/],
    ];
    for (const [flags, words] of states) {
      const { code, out } = await verify(...flags);
      expect([code, out]).toEqual([words.source.startsWith("^VALID") ? 0 : 1, expect.stringMatching(words)]);
    }
  });
  it("[CLI-41] another key under the name, a name not among the keys, and a changed byte are not valid", async () => {
    const stranger = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
    writeFileSync(keyFile, JSON.stringify({ keys: [{ ...jwks.keys[0], x: stranger.x }] }));
    expect((await verify(...inTime)).out).toMatch(/^NOT VALID: the signature does not fit.*unproven/);
    writeFileSync(keyFile, JSON.stringify({ keys: [{ ...jwks.keys[0], kid: "other" }] }));
    expect((await verify(...inTime)).out).toMatch(/^NOT VALID: none of the keys given/);
    writeFileSync(keyFile, JSON.stringify(jwks));
    const bent: [string, RegExp][] = [
      [`${jws.slice(0, -20)}AAAAAAAA${jws.slice(-12)}`, /^NOT VALID: the signature does not fit/],
      [jws.replace(".", ".A"), /^NOT VALID: this is no token/],
      [`${jws}\n${jws}`, /^NOT VALID: this is no token/],
    ];
    for (const [text, words] of bent) {
      writeFileSync(file, text);
      const { code, out } = await verify(...inTime);
      expect([code, out]).toEqual([1, expect.stringMatching(words)]);
    }
  });
  it("[CLI-42] with --json each token's state, statement and key, and where the keys came from", async () => {
    const told = JSON.parse((await verify(...inTime, "--json")).out);
    expect(told).toEqual({
      valid: true,
      at: "2026-03-02T00:00:00.000Z",
      keys_from: keyFile,
      tokens: [{ state: "valid", kid, statement: said }],
    });
    const late = await verify("--at", "2027-01-01", "--json");
    expect([late.code, JSON.parse(late.out)]).toMatchObject([1, { valid: false, tokens: [{ state: "expired" }] }]);
  });
  it("[CLI-42] of a list, as `token show --out` writes it, every token must be valid", async () => {
    const bad = signed({ ...said, exp: said.iat + 1 });
    writeFileSync(file, JSON.stringify({ items: [{ jws }, { jws }] }));
    expect((await verify(...inTime)).code).toBe(0);
    writeFileSync(file, JSON.stringify({ items: [{ jws }, { jws: bad }] }));
    const { code, out } = await verify(...inTime);
    expect([code, out]).toEqual([1, expect.stringMatching(/^VALID[\s\S]*\nEXPIRED/)]);
  });
  it("[CLI-43] whatever the file holds, the answer is one sentence and exit code 1", async () => {
    const hostile: [string, Uint8Array | string][] = [
      ["nothing", ""],
      ["ten megabytes", Buffer.alloc(10 * 1024 * 1024, "A")],
      ["a binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff, 0xfe])],
      ["an archive of JSON", "{".repeat(100_000)],
      ["another list", '{"items":[]}'],
      ["a list of too many", JSON.stringify({ items: Array(limits.token_file_tokens + 1).fill({ jws: "x" }) })],
      ["control characters", "\u001b[2J\u202e"],
    ];
    for (const [name, content] of hostile) {
      writeFileSync(file, content);
      const { code, out, err } = await verify(...inTime);
      expect([code, err], name).toEqual([1, ""]);
      expect(out, name).toBe("NOT VALID: this is no token of Countersign, or its bytes were changed.\n");
    }
  });
  it("[CLI-43] from standard input, in pieces, and no more of it than a token may have", async () => {
    const bytes = Buffer.from(`${jws}\n`);
    expect(await piped([bytes.subarray(0, 9), bytes.subarray(9)])).toMatchObject({ code: 0, err: "" });
    let asked = 0;
    const endless = Buffer.alloc(1024 * 1024, "A");
    const many = Array.from({ length: 64 }, () => endless).values();
    const counted = {
      *[Symbol.iterator]() {
        for (const chunk of many) {
          asked++;
          yield chunk;
        }
      },
    };
    expect((await piped(counted as unknown as Uint8Array[])).code).toBe(1); // any iterable will do
    expect(asked).toBeLessThan(8);
  });
  it("[CLI-120] a key set with two keys of one name is refused: it cannot be told which one signed", async () => {
    const { keys } = JSON.parse(readFileSync(keyFile, "utf8"));
    const doubled = join(folder, "doubled.json");
    writeFileSync(doubled, JSON.stringify({ keys: [...keys, keys[0]] }));
    const { code, err } = await command(nowhere, ["token", "verify", file, "--keys", doubled]);
    expect([code, err]).toEqual([2, expect.stringContaining("two keys named")]);
  });
  it("[CLI-44] what is asked wrongly ends with 2: a file that is not there, no keys, two kinds of keys, a strange time", async () => {
    const wrong: string[][] = [
      [join(folder, "absent"), "--keys", keyFile],
      [folder, "--keys", keyFile],
      [file, "--keys", join(folder, "absent")],
      [file, "--keys", file],
      [file, "--keys", keyFile, "--url", "https://x.example"],
      [file, "--url", "http://x.example"],
      [file, "--url", nowhere],
      [file, "--keys", keyFile, "--at", "yesterday"],
      ["-", "--keys", keyFile],
      [],
    ];
    for (const argv of wrong) {
      const { code, out, err } = await command(nowhere, ["token", "verify", ...argv]);
      expect([code, out], argv.join(" ")).toEqual([2, ""]);
      expect(err).not.toBe("");
    }
  });
});

describe("a command that asks no service", () => {
  it("[CLI-88] needs none: neither a running one nor an address in the environment", async () => {
    const said: string[] = [];
    const terminal = {
      out: (line: string) => said.push(line),
      err: (line: string) => said.push(line),
      ask: null,
      cwd: folder,
    };
    expect(await run(["token", "verify", file, "--keys", keyFile, ...inTime], {}, terminal)).toBe(0);
    expect(await run(["audit", "verify", file], {}, terminal)).toBe(2);
    expect(said.at(-1)).toContain("line 1 is not the header of an audit export");
    expect(await run(["token", "keys"], {}, terminal)).toBe(2);
    expect(said.at(-1)).toContain("no local service runs");
  });
});

describe("tokens of a service", () => {
  let fake: Fake;
  let issued: IssuedToken[];
  beforeEach(async () => {
    issued = [
      {
        subject: "p1.fix",
        kid,
        life: "attached",
        void_reason: null,
        issued_at: "2026-03-01T10:00:00.000Z",
        expires_at: "2026-03-31T10:00:00.000Z",
        spent_at: null,
        jws,
      },
    ];
    fake = await fakeService(({ path }, response) => {
      if (path === "/.well-known/jwks.json") return json(response, 200, jwks);
      if (path === "/api/approvals/approval-1/tokens") return json(response, 200, { items: issued, next_cursor: null });
      problem(response, 404, "approval_not_found", "There is no such approval.");
    });
  });
  afterEach(() => fake.close());

  it("[CLI-85] `token show` says how far each token of an approval has come, and what is void and why", async () => {
    const shown = await command(fake.url, ["token", "show", "approval-1"]);
    expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(/^p1\.fix {2}attached, until 2026-03-31/)]);
    expect(shown.out).toContain(jws);
    issued = issued.map((token) => ({ ...token, life: "void" as const, void_reason: "the plan is \u202esuperseded" }));
    expect((await command(fake.url, ["token", "show", "approval-1"])).out).toContain(
      "void: the plan is ⟦U+202E⟧superseded",
    );
    issued = [];
    expect((await command(fake.url, ["token", "show", "approval-1"])).out).toContain("has signed nothing");
    expect((await command(fake.url, ["token", "show", "../x"])).code).toBe(1);
    expect(fake.asked.at(-1)?.path).toBe("/api/approvals/..%2Fx/tokens");
  });
  it("[CLI-86] tokens and keys are saved to new files, and verify from them with no service", async () => {
    const [tokens, saved] = [join(folder, "tokens.json"), join(folder, "saved.json")];
    expect((await command(fake.url, ["token", "show", "approval-1", "--out", tokens])).code).toBe(0);
    expect((await command(fake.url, ["token", "keys", "--out", saved])).code).toBe(0);
    expect(statSync(tokens).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(saved, "utf8"))).toEqual(jwks);
    await fake.close();
    const offline = await command(nowhere, ["token", "verify", tokens, "--keys", saved, ...inTime]);
    expect([offline.code, offline.out]).toEqual([0, expect.stringMatching(/^VALID/)]);
    const again = await command(nowhere, ["token", "keys", "--out", saved]);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("is there already")]);
    expect(existsSync(join(folder, "x"))).toBe(false);
  });
  it("[CLI-87] without --keys the service's own keys are asked for; --url is asked without the caller's token", async () => {
    const own = await command(fake.url, ["token", "verify", file, ...inTime]);
    expect([own.code, own.out]).toEqual([0, expect.stringContaining(fake.url)]);
    expect((await command(nowhere, ["token", "verify", file, "--url", fake.url, ...inTime])).code).toBe(0);
    expect(fake.asked.at(-1)).toMatchObject({ path: "/.well-known/jwks.json" });
    expect(fake.asked.at(-1)?.headers.authorization).toBeUndefined();
    const printed = await command(fake.url, ["token", "keys", "--json"]);
    expect(JSON.parse(printed.out)).toEqual(jwks);
  });
});
