import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chainOf, fileOf, headOf, makeKey, sample, scope_id, signCheckpoint } from "../fakes/audit-chains.ts";
import { type Answer, command, type Fake, fakeService, json, problem } from "./fake.ts";

const key = makeKey("k1");
const made = sample(key);
const good = fileOf(made.rows, made.checkpoints, [key]);
const runtime = `${scope_id}/runtime`;
const nowhere = "http://127.0.0.1:1";

let fake: Fake | null = null;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-audit-"));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await fake?.close();
  fake = null;
});
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}
/** Verifies these lines as a file, with no service anywhere. */
async function verify(lines: readonly string[] | string, ...more: string[]) {
  const path = join(folder, "audit.ndjson");
  writeFileSync(path, typeof lines === "string" ? lines : `${lines.join("\n")}\n`);
  return command(nowhere, ["audit", "verify", path, ...more], null, folder);
}
function keysFile(...keys: readonly (typeof key)[]): string {
  const path = join(folder, "jwks.json");
  writeFileSync(path, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  return path;
}
const without = (text: string) => good.filter((line) => !line.includes(text));

describe("audit list", () => {
  it("[CLI-20] shows rows on one line each, by trace and type, and says when there is more", async () => {
    const [row] = chainOf("runtime", 1);
    const hostile = { ...row, reason: "ok\nfake \u202e row" };
    const url = await serve((_, response) => json(response, 200, { items: [hostile], next_cursor: "c2" }));
    const said = await command(url, ["audit", "list", "--trace", "t/1", "--type", "enqueue", "--limit", "1"]);
    expect(fake?.asked[0]?.path).toBe("/api/audit?trace_id=t%2F1&event_type=enqueue&limit=1");
    expect(said).toMatchObject({ code: 0, err: "More: --cursor c2\n" });
    expect(said.out.trimEnd().split("\n")).toHaveLength(1);
    expect(said.out).toContain("fake ⟦U+202E⟧ row");
    expect(JSON.parse((await command(url, ["audit", "list", "--json"])).out)).toMatchObject({ next_cursor: "c2" });
    expect((await command(url, ["audit", "list", "--type", "nothing"])).code).toBe(2);
  });
});

describe("audit export", () => {
  it("[CLI-21] writes the bytes as they came to a new file, or prints them", async () => {
    const bytes = `${good.join("\n")}\n`;
    const url = await serve((_, response) => response.writeHead(200).end(bytes));
    const path = join(folder, "out.ndjson");
    expect((await command(url, ["audit", "export", "--out", "out.ndjson"], null, folder)).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(bytes);
    expect((await command(url, ["audit", "export", "--out", path])).code).toBe(2);
    expect((await command(url, ["audit", "export"])).out).toBe(bytes);
  });
  it("[CLI-21] an export that breaks off leaves no file that looks whole", async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-length": "100000" }).write(good[0] ?? "");
      setTimeout(() => response.destroy(), 20);
    });
    const path = join(folder, "out.ndjson");
    expect((await command(url, ["audit", "export", "--out", path])).code).toBe(1);
    expect(existsSync(path)).toBe(false);
    expect((await command(url, ["audit", "export"])).code).toBe(1);
    await fake?.close();
    const refusing = await serve((_, response) => problem(response, 503, "unavailable", "D1 is down."));
    expect(await command(refusing, ["audit", "export"])).toMatchObject({ code: 1, out: "", err: "D1 is down.\n" });
  });
});

describe("audit verify FILE", () => {
  it("[CLI-22] needs no service, and says how much was checked and what is not covered", async () => {
    const { code, out } = await verify(good);
    expect(code).toBe(0);
    expect(out).toContain(`OK: 10 rows in 2 chains of scope ${scope_id}`);
    expect(out).toContain("3 signed checkpoints; the last is 3, of 2026-01-01");
    expect(out).toContain("Not covered: 2 rows after the last checkpoint");
    const unsigned = await verify(fileOf(made.rows, [], [key]));
    expect(unsigned).toMatchObject({ code: 0 });
    expect(unsigned.out).toContain("Nothing in it is signed");
    const asJson = JSON.parse((await verify(good, "--json")).out);
    expect(asJson).toMatchObject({ ok: true, rows: 10, checkpoints: 3, keys_from: "the file itself", fault: null });
  });
  it("[CLI-23] whatever was done to it ends with 1 and the row's place", async () => {
    const forged = signCheckpoint(makeKey("k1"), null, [headOf(made.runtime, 2)], { seq: 1 });
    const cut = made.rows.filter(({ object, seq }) => object !== runtime || seq < 4);
    const swap = good.indexOf(good.find((line) => line.includes(runtime) && line.includes('"seq":2,')) ?? "");
    const done: [readonly string[], string][] = [
      [good.map((line) => line.replace("event 3", "event 4")), "ALTERED: scopescopescope1/proxy, row 3"],
      [without('"reason":"event 3"'), "MISSING: scopescopescope1/proxy, row 3"],
      [
        good.with(swap, good[swap + 1] ?? "").with(swap + 1, good[swap] ?? ""),
        "REORDERED: scopescopescope1/runtime, row 2",
      ],
      [fileOf(cut, made.checkpoints, [key]), "TRUNCATED: scopescopescope1/runtime, row 4"],
      [fileOf(made.proxy, made.checkpoints, [key]), "TRUNCATED: scopescopescope1/runtime, row 1"],
      [without(made.checkpoints[1] ?? "none"), "MISSING: scopescopescope1/checkpoints, row 2"],
      [good.slice(0, 4), `TRUNCATED: ${JSON.parse(good[3] ?? "").object}, row ${JSON.parse(good[3] ?? "").seq + 1}`],
      [good.slice(0, 4).with(3, (good[3] ?? "").slice(0, -9)), `row ${JSON.parse(good[2] ?? "").seq + 1}`],
      [good.slice(0, -1), "the last line is not there"],
      [good.with(0, (good[0] ?? "").replace("2026-", "2027-")), "line 1 is not the header as it was written"],
      [fileOf(made.rows, [forged], [key]), "ALTERED: scopescopescope1/checkpoints, row 1"],
      [
        fileOf([...made.rows, ...chainOf("runtime", 1, "otherotherother1")], made.checkpoints, [key]),
        "ALTERED: otherotherother1/runtime, row 1",
      ],
    ];
    for (const [lines, words] of done) {
      const said = await verify(lines);
      expect(said, words).toMatchObject({ code: 1, err: "" });
      expect(said.out).toContain(words);
      expect(JSON.parse((await verify(lines, "--json")).out)).toMatchObject({
        ok: false,
        fault: { seq: expect.any(Number) },
      });
    }
  });
  it("[CLI-24] what is no export ends with 2 and says why, with the line", async () => {
    const bad: [string, string][] = [
      ["", "the file is empty"],
      ["hello\n", "line 1"],
      [`${good[0]}\n${"x".repeat(3_000_000)}`, "line 2 is longer than"],
    ];
    for (const [text, why] of bad) {
      const said = await verify(text);
      expect(said, why).toMatchObject({ code: 2, out: "" });
      expect(said.err).toContain(why);
    }
    expect((await command(nowhere, ["audit", "verify", folder])).code).toBe(2);
    expect((await command(nowhere, ["audit", "verify", join(folder, "none")])).err).toContain("is not there");
    writeFileSync(join(folder, "bad.json"), "{}");
    expect((await verify(good, "--keys", "bad.json")).code).toBe(2);
    expect((await command(nowhere, ["audit", "verify", "--keys", "bad.json"], null, folder)).code).toBe(2);
  });
  it("[CLI-25] keys come from --keys, or from the file, which is said to prove little: who writes it can sign it", async () => {
    expect((await verify(good)).out).toContain("who can write the file can sign it");
    const held = await verify(good, "--keys", keysFile(makeKey("old"), key));
    expect(held).toMatchObject({ code: 0 });
    expect(held.out).toContain("with the keys of --keys");
    const forger = makeKey("k1");
    const forgery = sample(forger);
    const lines = fileOf(forgery.rows, forgery.checkpoints, [forger]);
    expect((await verify(lines)).code).toBe(0);
    const caught = await verify(lines, "--keys", keysFile(key));
    expect(caught).toMatchObject({ code: 1 });
    expect(caught.out).toContain("not signed by a known key");
    expect((await verify(good, "--keys", keysFile(makeKey("k2")))).code).toBe(1);
    const stripped = await verify(fileOf(made.rows, [], [key]), "--keys", keysFile(key));
    expect(stripped).toMatchObject({ code: 1 });
    expect(stripped.out).toMatch(/^UNSIGNED: .*nothing in the file is signed\./);
    expect(stripped.out).not.toContain("not as it was written");
  });
});

describe("a file that ends earlier than it once did", () => {
  it("[CLI-27] is held to the last checkpoint that was known", async () => {
    expect((await verify(good, "--checkpoint", "3")).code).toBe(0);
    const shorter = await verify(good, "--checkpoint", "4");
    expect(shorter).toMatchObject({ code: 1 });
    expect(shorter.out).toContain("the file ends with checkpoint 3, and checkpoint 4 was known");
    expect((await verify(good, "--checkpoint", "x")).code).toBe(2);
    expect((await command(nowhere, ["audit", "verify", "--checkpoint", "3"])).code).toBe(2);
  });
});

describe("audit verify", () => {
  const verdict = {
    ok: true,
    checked_rows: 10,
    chains: [{ object: runtime, rows: 10, head: null, signed_up_to: 8, pending: 3 }],
    checkpoints: { checked: 2, newest: { seq: 2, at: "2026-01-01T00:00:00.000Z" }, pending: 0 },
    signing: true,
    unanswered: [],
    incomplete: null as string | null,
    next_cursor: null as string | null,
    fault: null as object | null,
  };
  it("[CLI-26] asks the service, call by call, until all is read; a fault or a gap ends with 1", async () => {
    const parts = [{ ...verdict, incomplete: "rows after", next_cursor: "a b" }, verdict];
    const url = await serve((asked, response) => json(response, 200, parts[asked.path.includes("cursor") ? 1 : 0]));
    const said = await command(url, ["audit", "verify"]);
    expect(said.code).toBe(0);
    expect(fake?.asked.map(({ path }) => path)).toEqual(["/api/audit/verify", "/api/audit/verify?cursor=a%20b"]);
    expect(said.out).toContain("OK: 20 stored rows");
    expect(said.out).toContain("3 rows still on the way");
    await fake?.close();
    const fault = { fault: "altered", object: runtime, seq: 4, detail: "row 4 does not match its own hash" };
    for (const one of [
      { ...verdict, ok: false, fault },
      { ...verdict, incomplete: "crew-1 did not answer" },
    ]) {
      const there = await serve((_, response) => json(response, 200, one));
      const found = await command(there, ["audit", "verify"]);
      expect(found.code).toBe(1);
      expect(found.out).toMatch(/ALTERED: scopescopescope1\/runtime, row 4|NOT COMPLETE: crew-1/);
      expect((await command(there, ["audit", "verify", "--json"])).code).toBe(1);
      await fake?.close();
    }
  });
});
