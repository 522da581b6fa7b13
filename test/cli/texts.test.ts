/** What the command says around its answers: help, next steps, counts, and the files of tokens. */
import { generateKeyPairSync, sign } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compactVerify, importJWK } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { usage } from "../../src/cli/run.ts";
import { replayText } from "../../src/cli/show-policy.ts";
import { deadLetterText } from "../../src/cli/show-queues.ts";
import { assembleJws, thumbprint } from "../../src/domain/jws.ts";
import { type IssuedToken, type Statement, signingInput } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import { command, type Fake, fakeService, json, problem } from "./fake.ts";

const nowhere = "http://127.0.0.1:9";
let fake: Fake | null;
let folder: string;
beforeEach(() => {
  fake = null;
  folder = mkdtempSync(join(tmpdir(), "countersign-texts-"));
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fake?.close();
});
async function serve(...answer: Parameters<typeof fakeService>): Promise<string> {
  fake = await fakeService(...answer);
  return fake.url;
}
const shown = (text: string) => text.split("\n").filter((line) => line.startsWith("  countersign "));

describe("help", () => {
  it("[CLI-70] after a group's name it shows that group's commands, else all", async () => {
    for (const argv of [
      ["queues", "--help"],
      ["queues", "list", "-h"],
      ["--json", "queues", "--help"],
    ]) {
      const said = await command(nowhere, argv);
      expect([said.code, shown(said.out).length], argv.join(" ")).toEqual([0, 7]);
      expect(shown(said.out).every((line) => line.startsWith("  countersign queues "))).toBe(true);
      expect(said.out).toContain("Exit codes:");
    }
    expect(shown((await command(nowhere, ["standing", "create", "--help"])).out)).toContain(
      "  countersign standing create --file FILE [--yes]",
    );
    for (const argv of [["--help"], ["nothing", "--help"]])
      expect((await command(nowhere, argv)).out).toBe(`${usage}\n`);
  });
  it("[CLI-70] a word that is none of a group's commands is answered with them", async () => {
    const said = await command(nowhere, ["audit", "dance"]);
    expect([said.code, said.err]).toEqual([2, expect.stringContaining("no such command: audit dance\n")]);
    expect(shown(said.err)).toHaveLength(3);
    expect(shown((await command(nowhere, ["audit"])).err)).toHaveLength(3);
  });
  it("[CLI-70] --json may stand before or between the words of the command", async () => {
    const url = await serve((_, response) => json(response, 200, { items: [], next_cursor: null }));
    for (const argv of [
      ["--json", "approvals", "list", "--limit", "3"],
      ["approvals", "--json", "list", "--limit", "3"],
      ["approvals", "list", "--limit", "3", "--json"],
    ])
      expect(await command(url, argv), argv.join(" ")).toEqual({
        code: 0,
        out: '{"items":[],"next_cursor":null}\n',
        err: "",
      });
    expect(fake?.asked.map(({ path }) => path)).toEqual(Array(3).fill("/api/approvals?limit=3"));
    expect((await command(url, ["--json"])).code).toBe(2);
  });
  it("[CLI-71] a command that lacks its document says where one is described, with an example", async () => {
    const about = [
      [["standing", "create"], "An approval in advance"],
      [["standing", "create", "--file", ""], "An approval in advance"],
      [["policy", "set"], "A policy"],
    ] as const;
    for (const [argv, title] of about) {
      const { code, err } = await command(nowhere, argv);
      expect([code, err]).toEqual([2, expect.stringContaining("docs/policy.md")]);
      expect(err).toContain(`under "${title}"`);
      expect(err).toContain("usage: countersign");
    }
  });
});

describe("what is asked wrongly", () => {
  it("[CLI-72] a role, taint or tool that is none, or a limit out of bounds, is 2 and sends nothing", async () => {
    const url = await serve((_, response) => json(response, 200, {}));
    const most = limits.page_max;
    for (const [argv, says] of [
      [["policy", "test", "--tool", "x", "--role", "boss"], /--role is one of mayor, deacon, crew, witness/],
      [["policy", "test", "--tool", "x", "--taint", "evil"], /--taint is one of owner, member, outsider, web/],
      [["policy", "test", "--tool", "File-Write"], /--tool is the name of a tool/],
      [["audit", "list", "--limit", "0"], new RegExp(`--limit is a whole number from 1 to ${most}`)],
      [["task", "list", "--limit", "-1"], /limit/],
      [["task", "list", "--limit", String(most + 1)], /--limit is/],
      [["approvals", "list", "--limit", "ten"], /--limit is/],
      [["queues", "dead-letters", "proxy", "--limit", "1.5"], /--limit is/],
    ] as const) {
      const { code, out, err } = await command(url, argv);
      expect([argv.join(" "), code, out, err]).toEqual([argv.join(" "), 2, "", expect.stringMatching(says)]);
    }
    expect(fake?.asked).toEqual([]);
  });
  it("[CLI-72] a task nobody knows is 1: it was asked rightly", async () => {
    const url = await serve((_, response) => problem(response, 404, "task_not_found", "There is no such task."));
    writeFileSync(join(folder, "p.json"), "{}");
    const argv = ["policy", "test", "--task", "x", "--policy", "p.json"];
    expect(await command(url, argv, null, folder)).toMatchObject({ code: 1, err: "There is no such task.\n" });
  });
});

describe("tokens as files", () => {
  const pair = generateKeyPairSync("ed25519");
  const { x = "" } = pair.publicKey.export({ format: "jwk" });
  const kid = thumbprint(x);
  const jwk = { kty: "OKP", crv: "Ed25519", x };
  const jwks = { keys: [{ ...jwk, kid, alg: "EdDSA", use: "sig" }] };
  const issue = (item: string): IssuedToken => {
    const said: Statement = {
      scope: "scopescopescope1",
      task: "task-1",
      approval_id: "approval-1",
      content_hash: "c".repeat(64),
      subject: { type: "work_item", work_item_id: item, item_hash: "a".repeat(64), plan_hash: "b".repeat(64) },
      approver: "ada#1",
      nonce: "0123456789abcdef0123456789abcdef",
      iat: Date.parse("2026-03-01T10:00:00Z") / 1000,
      exp: Date.parse("2026-03-31T10:00:00Z") / 1000,
    };
    const input = signingInput(kid, said);
    const jws = assembleJws(input, sign(null, Buffer.from(input), pair.privateKey));
    const times = { issued_at: "2026-03-01T10:00:00.000Z", expires_at: "2026-03-31T10:00:00.000Z", spent_at: null };
    return { subject: item, kid, life: "attached", void_reason: null, ...times, jws };
  };
  let issued: IssuedToken[];
  let url: string;
  beforeEach(async () => {
    issued = [issue("p1.a"), issue("p1.b")];
    url = await serve((_, response) => json(response, 200, { items: issued, next_cursor: null }));
    writeFileSync(join(folder, "jwks.json"), JSON.stringify(jwks));
  });
  const show = (...more: string[]) => command(url, ["token", "show", "approval-1", ...more], null, folder);
  const verifies = async (file: string) => {
    const argv = ["token", "verify", file, "--keys", "jwks.json", "--at", "2026-03-02"];
    return (await command(nowhere, argv, null, folder)).code;
  };
  const files = () => readdirSync(folder).filter((name) => name !== "jwks.json");

  it("[CLI-73] one token is written bare, as any JOSE tool takes it", async () => {
    issued = issued.slice(0, 1);
    expect((await show("--out", "t.jws")).out).toMatch(/t\.jws, 1 token\.\n$/);
    const text = readFileSync(join(folder, "t.jws"), "utf8");
    expect(text).toBe(`${issued[0]?.jws}\n`);
    expect(statSync(join(folder, "t.jws")).mode & 0o777).toBe(0o600);
    await compactVerify(text.trim(), await importJWK(jwk, "EdDSA"));
    expect(await verifies("t.jws")).toBe(0);
  });
  it("[CLI-73] several are written to numbered files, each by itself; nothing that is there is written over", async () => {
    expect((await show("--out", "t.jws")).out).toMatch(/t\.jws\.1 to .*t\.jws\.2, 2 tokens\.\n$/);
    expect(files()).toEqual(["t.jws.1", "t.jws.2"]);
    for (const [at, name] of files().entries()) {
      expect(readFileSync(join(folder, name), "utf8")).toBe(`${issued[at]?.jws}\n`);
      expect(await verifies(name)).toBe(0);
    }
    rmSync(join(folder, "t.jws.1"));
    expect((await show("--out", "t.jws")).code).toBe(2);
    expect(files()).toEqual(["t.jws.2"]);
  });
  it("[CLI-73] with --json all of them stand in one file, and verify takes it; without a token there is no file", async () => {
    expect(JSON.parse((await show("--out", "t.json", "--json")).out)).toEqual({ file: join(folder, "t.json") });
    expect(JSON.parse(readFileSync(join(folder, "t.json"), "utf8"))).toEqual({
      approval_id: "approval-1",
      items: issued,
    });
    expect(await verifies("t.json")).toBe(0);
    issued = [];
    for (const flags of [[], ["--json"]]) expect((await show("--out", "none.jws", ...flags)).code).toBe(1);
    expect(existsSync(join(folder, "none.jws"))).toBe(false);
    expect((await show()).code).toBe(0);
  });
  it("[CLI-74] when a call's token was spent is said, and of others why there is no such moment", async () => {
    issued = issued.map((one, at) => ({
      ...one,
      life: "executed",
      spent_at: at === 0 ? null : "2026-03-02T00:00:00Z",
    }));
    const [plan = "", call = ""] = (await show()).out.split("\n\n");
    expect(plan).toMatch(/^p1\.a {2}executed: .*checked at every entry/);
    expect(call).toMatch(/^p1\.b {2}executed, spent at 2026-03-02T00:00:00Z, until/);
    issued = [issue("p1.a")];
    expect((await show()).out).not.toContain("spent");
  });
});

describe("small words", () => {
  it("[CLI-75] a service that does not answer, and a queue that is none, name the next step", async () => {
    const silent = await command(nowhere, ["task", "list"]);
    expect([silent.code, silent.err]).toEqual([1, expect.stringContaining("npm start")]);
    expect(silent.err).toContain("COUNTERSIGN_URL");
    const url = await serve((_, response) => problem(response, 404, "queue_not_found", "There is no queue x."));
    expect((await command(url, ["queues", "show", "x"])).err).toContain("countersign queues list");
    const told = JSON.parse((await command(url, ["queues", "show", "x", "--json"])).err);
    expect(told.error.detail).toBe("There is no queue x.");
  });
  it("[CLI-76] one is counted as one", async () => {
    const found = { task_id: "t", policy_hash: "h", candidate_hash: "c", changed: [] };
    expect(replayText({ ...found, checked: 1, left_out: 1 })).toMatch(
      /^1 call checked.*; 1 other was not looked at\.$/,
    );
    expect(replayText({ ...found, checked: 2, left_out: 3 })).toMatch(/^2 calls checked.*; 3 others were not/);
    const letter: Parameters<typeof deadLetterText>[0] = {
      ...{ message_id: "m", message_kind: "chat", at: "2026-01-01T00:00:00Z", died_in: "inbox", reason: "r" },
      ...{ sender: "a", recipient: "b", deliveries: 1, task_id: null, card: null },
    };
    expect(deadLetterText(letter)).toContain("after 1 try\n");
    expect(deadLetterText({ ...letter, deliveries: 5 })).toContain("after 5 tries\n");
    const url = await serve((_, response) => json(response, 200, { keys: [] }));
    const said = await command(url, ["token", "keys", "--out", "k.json"], null, folder);
    expect(said.out).toMatch(/0 keys\.\n$/);
  });
});
