import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../../src/cli/run.ts";
import { findAdminTarget } from "../../src/cli/target.ts";
import { formatToken } from "../../src/domain/credential.ts";
import { defaultTriggers } from "../../src/domain/github/triggers.ts";
import { installationOf, linkOf } from "../fakes/github-admin-door.ts";
import { type Answer, type Fake, fakeService, json } from "./fake.ts";

const scope = "abcdefghij012345";
const token = formatToken(scope, "0123456789", "s".repeat(43));
let fake: Fake;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-github-"));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await fake?.close();
});
async function command(answer: Answer, ...argv: readonly string[]) {
  await fake?.close();
  fake = await fakeService(answer);
  const said = { out: "", err: "" };
  const env = { COUNTERSIGN_URL: fake.url, COUNTERSIGN_TOKEN: token, COUNTERSIGN_ADMIN_TOKEN: "the admin's" };
  const code = await run(["github", ...argv], env, {
    out: (text) => {
      said.out += `${text}\n`;
    },
    err: (text) => {
      said.err += `${text}\n`;
    },
    ask: null,
    cwd: folder,
  });
  return { code, ...said };
}
const overview = {
  ...{ configured: true, slug: "countersign", install_url: "https://github.com/apps/countersign/installations/new" },
  ...{ default_scope_id: null, problems: [] as string[], troubles: [] as string[], ignored: [{ why: "ping", n: 1 }] },
};

describe("countersign github", () => {
  it("[GHL-58] status says how the App stands, and fails without one; it asks as the deployment's admin", async () => {
    const whole = await command((_, response) => json(response, 200, overview), "status");
    expect(fake.asked).toMatchObject([{ path: "/api/github", headers: { authorization: "Bearer the admin's" } }]);
    expect([whole.code, whole.out]).toEqual([
      0,
      "The App countersign is set up.\ninstall   https://github.com/apps/countersign/installations/new\nnew ones  wait until they are assigned\nignored   ping: 1 event\n",
    ]);
    const half = {
      ...overview,
      configured: false,
      slug: null,
      install_url: null,
      problems: ["GITHUB_APP_ID: Set\u202e it."],
    };
    const lacking = await command((_, response) => json(response, 200, half), "status");
    expect([lacking.code, lacking.out]).toEqual([
      1,
      expect.stringContaining("lacking   GITHUB_APP_ID: Set⟦U+202E⟧ it."),
    ]);
    // No setting is wrong there, and a service of before says nothing of it.
    const troubled = { ...overview, troubles: ["As of 12:00, lost\u202e."] };
    const out = (await command((_, response) => json(response, 200, troubled), "status")).out;
    expect([out, out.includes("lacking")]).toEqual([
      expect.stringContaining("\ntrouble   As of 12:00, lost⟦U+202E⟧.\n"),
      false,
    ]);
    const { troubles: _, ...before } = overview;
    expect((await command((_, response) => json(response, 200, before), "status")).code).toBe(0);
    const named = { ...overview, default_scope_id: scope };
    expect((await command((_, response) => json(response, 200, named), "status")).out).toContain(
      `new ones  ${scope} for the App's owner; all others wait until they are assigned\n`,
    );
    const machine = await command((_, response) => json(response, 200, overview), "status", "--json");
    expect(JSON.parse(machine.out)).toEqual(overview);
  });
  it("[GHL-58] installations and assign: to the scope of one's own token, to one that is named, to nobody, or one repository", async () => {
    const one = { ...installationOf(7, "acme/shop"), scope_id: scope };
    const answer: Answer = ({ method }, response) =>
      json(response, 200, method === "GET" ? { items: [one], next_cursor: null } : one);
    const text = `7  acme  active  ${scope}\n  acme/shop  not linked yet\n`;
    expect(await command(answer, "installations")).toEqual({ code: 0, out: text, err: "" });
    for (const [argv, path, scope_id] of [
      [["7"], "7", scope],
      [["7", "zyxwvutsrq543210"], "7", "zyxwvutsrq543210"],
      [["7", "none"], "7", null],
      [["7", "none", "--repository", "acme/shop"], "7/repositories/acme/shop", null],
    ] as const) {
      expect((await command(answer, "assign", ...argv)).out).toBe(text);
      expect(fake.asked).toMatchObject([
        { ...{ method: "PUT", path: `/api/github/installations/${path}`, body: { scope_id } } },
      ]);
      expect(fake.asked[0]?.headers.authorization).toBe("Bearer the admin's");
    }
    for (const argv of [
      ["x"],
      ["7", "a", "b"],
      ["7", "--repository", "../.."],
      ["7", "--repository", "acme/.."],
      ["7", "--repository", "a/b/c"],
    ])
      expect((await command(answer, "assign", ...argv)).code, argv.join(" ")).toBe(2);
    expect(fake.asked).toEqual([]);
  });
  it("[GHL-58] repositories and triggers ask with the scope's own token", async () => {
    const link = linkOf("acme/shop", 3);
    const answer: Answer = ({ method }, response) =>
      json(response, 200, method === "GET" ? { items: [link], next_cursor: null } : link);
    expect((await command(answer, "repositories")).out).toBe(
      "acme/shop  linked  https://github.com/acme/shop\n  begins at: label countersign, assignment, comment, review_request, failed_check\n",
    );
    expect(fake.asked[0]?.headers.authorization).toBe(`Bearer ${token}`);
    const shown = await command(answer, "triggers", "ACME/shop");
    expect(JSON.parse(shown.out)).toEqual(defaultTriggers);
    writeFileSync(join(folder, "t.json"), JSON.stringify({ comment: false }));
    expect((await command(answer, "triggers", "acme/shop", "--set", "t.json")).code).toBe(0);
    expect(fake.asked).toMatchObject([
      { method: "PUT", path: "/api/github/repositories/acme/shop", body: { triggers: { comment: false } } },
    ]);
    for (const argv of [["acme/none"], ["none"], ["acme/shop", "--set", "no.json"]])
      expect((await command(answer, "triggers", ...argv)).code, argv.join(" ")).toBe(2);
  });
  it("[GHL-59] the admin's token is the environment's, or the local service's own", () => {
    const env = { COUNTERSIGN_URL: "https://c.example", COUNTERSIGN_TOKEN: token };
    expect(() => findAdminTarget(env, folder)).toThrow(/COUNTERSIGN_ADMIN_TOKEN/);
    expect(findAdminTarget({ ...env, COUNTERSIGN_ADMIN_TOKEN: "a" }, folder)).toEqual({
      url: "https://c.example",
      token: "a",
    });
    expect(() => findAdminTarget({}, folder)).toThrow(/npm start/);
    const state = join(folder, ".countersign", "state");
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, "token"), token);
    const service = { url: "http://127.0.0.1:8787", scope, token_file: join(state, "token"), pid: 1 };
    writeFileSync(join(state, "service.json"), JSON.stringify(service));
    expect(() => findAdminTarget({}, folder)).toThrow(/secrets.env cannot be read/);
    writeFileSync(join(state, "secrets.env"), "COUNTERSIGN_ADMIN_TOKEN='local'\n");
    expect(findAdminTarget({}, folder)).toEqual({ url: "http://127.0.0.1:8787", token: "local" });
  });
});
