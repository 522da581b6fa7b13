/** The App is made at a GitHub on a loopback address, by a browser that the test plays. [GHL-50] to [GHL-57] */
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { readGithubConfig } from "../../src/adapters/github-config.ts";
import { run } from "../../src/cli/run.ts";
import { githubLine, githubVars } from "../../src/dev/github.ts";
import { appEvents, appPermissions } from "../../src/domain/github/manifest.ts";
import { type GithubServer, startGithubServer } from "../setup/github-server.ts";
import { fakeService, json } from "./fake.ts";

let server: GithubServer;
let folder: string;
let state: string;
beforeAll(async () => {
  server = await startGithubServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-github-"));
  state = join(folder, ".countersign", "state");
  mkdirSync(state, { recursive: true });
});
afterEach(() => {
  server.clearFaults();
  rmSync(folder, { recursive: true });
});
const publicUrl = "https://agents.example";

/** A terminal in the folder, and what was said there. */
function terminalIn(cwd: string) {
  const said = { out: "", err: "" };
  const out = (text: string) => {
    said.out += `${text}\n`;
  };
  const err = (text: string) => {
    said.err += `${text}\n`;
  };
  return { said, terminal: { out, err, ask: null, cwd } };
}
/** The command under way: what it has said, the page it opened, and its end. No timer is needed for that. */
async function begun(args: readonly string[] = [], env: Record<string, string> = {}) {
  const { said, terminal } = terminalIn(folder);
  let stop: (() => void) | null = null;
  const code = run(
    ["github", "setup", "--url", publicUrl, ...args],
    { GITHUB_URL: server.url, GITHUB_API_URL: server.url, ...env },
    {
      ...terminal,
      onInterrupt: (call) => {
        stop = call;
        return () => {
          stop = null;
        };
      },
    },
  );
  for (let looks = 0; !said.err.includes("Ctrl-C"); looks++) {
    if (looks > 10_000) throw new Error(`no address: ${said.err}`);
    await new Promise<void>((next) => setImmediate(next));
  }
  const address = /http:\/\/127\.0\.0\.1:\d+\/start\/[\w-]{43}/.exec(said.err)?.[0] ?? "none";
  return { said, code, address, interrupt: () => stop?.(), waits: () => stop !== null };
}
async function opened(address: string) {
  const html = await (await fetch(address)).text();
  const value = (name: string) =>
    (new RegExp(`${name}="([^"]*)"`).exec(html)?.[1] ?? "").replace(/&#(\d+);/g, (_, n) =>
      String.fromCharCode(Number(n)),
    );
  const manifest = JSON.parse(value("value"));
  return { action: new URL(value("action")), manifest, back: new URL(manifest.redirect_url as string) };
}
/** GitHub sends the browser back. */
async function comeBack(back: URL, code: string, given: string | null) {
  const url = new URL(back);
  url.searchParams.set("code", code);
  if (given !== null) url.searchParams.set("state", given);
  const response = await fetch(url);
  return { status: response.status, text: await response.text(), headers: response.headers };
}
const file = () => join(state, "github.env");
const kept = () => readdirSync(state);

describe("countersign github setup", () => {
  it("[GHL-50] [GHL-54] asks for the least, and writes what GitHub answers for a local service, which reads it at its next start", async () => {
    const { said, code, address } = await begun(["--org", "acme", "--name", "Acme agents"]);
    const { action, manifest, back } = await opened(address);
    expect(`${action.origin}${action.pathname}`).toBe(`${server.url}/organizations/acme/settings/apps/new`);
    expect(manifest).toEqual({
      ...{ name: "Acme agents", url: publicUrl, public: false, description: expect.any(String) },
      redirect_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/made$/),
      hook_attributes: { url: `${publicUrl}/webhooks/github`, active: true },
      default_permissions: {
        metadata: "read",
        contents: "write",
        pull_requests: "write",
        issues: "write",
        checks: "write",
      },
      default_events: expect.arrayContaining([...appEvents]),
    });
    expect(manifest.default_permissions).toEqual(appPermissions);
    const page = await comeBack(back, server.owners.offerManifest(manifest), action.searchParams.get("state"));
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("The App is made")]);
    expect(await code).toBe(0);
    expect(server.violations()).toEqual([]);

    const { app } = server;
    expect([statSync(file()).mode & 0o777, kept()]).toEqual([0o600, ["github.env"]]);
    const vars = githubVars(state, {});
    const read = readGithubConfig(vars, true);
    expect([read.missing, read.config]).toEqual([
      [],
      {
        ...{ app_id: app.id, slug: app.slug, bot_login: `${app.slug}[bot]`, webhook_secrets: [app.webhook_secret] },
        ...{ url: server.url, api_url: server.url, scope: null, public_url: publicUrl },
      },
    ]);
    expect(githubLine(vars)).toBe(`GitHub: the App ${app.slug}, which posts to ${publicUrl}.`);
    for (const secret of [app.webhook_secret, app.pem.split("\n")[1] ?? "none"])
      expect(said.out + said.err + page.text).not.toContain(secret);
    expect(said.out).toContain(`install the App: ${server.url}/github-apps/${app.slug}/installations/new`);
    await expect(fetch(address)).rejects.toThrow();
  });

  it("[GHL-55] for a deployment it writes a file for wrangler and prints the command, without a secret in it", async () => {
    const out = join(folder, "the secrets.json");
    const { said, code, address } = await begun(["--out", out, "--json"]);
    const { action, manifest, back } = await opened(address);
    await comeBack(back, server.owners.offerManifest(manifest), action.searchParams.get("state"));
    expect(await code).toBe(0);
    const { app } = server;
    const answer = JSON.parse(said.out);
    expect(answer).toMatchObject({ app_id: app.id, slug: app.slug, file: out });
    expect(answer.next.slice(0, 2)).toEqual([`npx wrangler secret bulk '${out}'`, `rm '${out}'`]);
    expect(said.out + said.err).not.toContain(app.webhook_secret);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const values = JSON.parse(readFileSync(out, "utf8"));
    expect(readGithubConfig(values, true)).toMatchObject({ missing: [], config: { app_id: app.id } });
    expect(kept()).toEqual([]);
  });

  it("[GHL-51] [GHL-52] only who has the address sees the page, and only its own state brings a code, once", async () => {
    const { code, address } = await begun();
    const first = await fetch(address);
    expect(first.headers.get("content-security-policy")).toContain("default-src 'none'");
    const { action, manifest, back } = await opened(address);
    const own = action.searchParams.get("state") ?? "";
    expect(own).toMatch(/^[\w-]{43}$/);
    for (const path of ["/", "/start/", `/start/${"x".repeat(43)}`, "/made/x"])
      expect((await fetch(new URL(path, address))).status, path).toBe(404);
    expect((await fetch(address, { method: "POST" })).status).toBe(404);
    expect(await asHost(address, "evil.example")).toBe(404);
    const good = server.owners.offerManifest(manifest);
    for (const [given, as] of [
      ["", good],
      [null, good],
      [`${own}x`, good],
      [own.slice(1), good],
      [own, "../x"],
      [own, ""],
    ] as const)
      expect((await comeBack(back, as, given)).status).toBe(403);
    const asked = server.journal().length;
    const [one, two] = await Promise.all([comeBack(back, good, own), comeBack(back, good, own)]);
    expect([one.status, two.status].toSorted()).toEqual([200, 409]);
    expect(one.headers.get("referrer-policy")).toBe("no-referrer");
    expect([await code, server.journal().length - asked]).toEqual([0, 1]);
  });

  it("[GHL-53] what is no App, a refusal, or no answer ends it with what to do, and writes nothing", async () => {
    for (const [kind, times, words] of [
      ["html", 1, "it answered 200"],
      ["huge", 1, "more than fits"],
      ["5xx_before", 3, "it answered 502"],
      ["5xx_after", 1, "it answered 404"],
    ] as const) {
      const { said, code, address } = await begun(["--json"]);
      const { action, manifest, back } = await opened(address);
      server.fault({ kind, times, only: "POST /app-manifests/{code}/conversions" });
      const page = await comeBack(back, server.owners.offerManifest(manifest), action.searchParams.get("state"));
      server.clearFaults();
      expect([kind, await code, page.text]).toEqual([kind, 1, expect.stringContaining("It did not work")]);
      const { error } = JSON.parse(said.err.split("\n").at(-2) ?? "");
      expect([error.code, error.detail]).toEqual(["github", expect.stringContaining(words)]);
      expect([error.detail, said.out, kept()]).toEqual([expect.stringContaining("delete it there"), "", []]);
    }
  });
  it("[GHL-53] an answer that lacks a part, or holds another kind of key, is no App, and is not repeated", async () => {
    const whole = { id: 1, slug: "s", pem: server.app.pem, webhook_secret: "hush-hush-hush-hush" };
    const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    for (const wrong of [
      { id: "1" },
      { slug: "a b" },
      { pem: "hush" },
      { pem: String(elliptic.export({ type: "pkcs8", format: "pem" })) },
      { webhook_secret: null },
      { webhook_secret: "hush'\nSANDBOX_SECRET='hush" },
    ]) {
      const fake = await fakeService((_, response) => json(response, 201, { ...whole, ...wrong }));
      const { said, code, address } = await begun([], { GITHUB_API_URL: fake.url });
      const { action, back } = await opened(address);
      await comeBack(back, "code", action.searchParams.get("state"));
      expect([await code, kept(), fake.asked.length]).toEqual([1, [], 1]);
      expect(said.err).toContain("something that is no App");
      expect(said.err).not.toContain("hush");
      await fake.close();
    }
  });
  it("[GHL-53] GitHub that fails for a moment is asked again", async () => {
    const { code, address } = await begun();
    const { action, manifest, back } = await opened(address);
    server.fault({ kind: "5xx_before", times: 2 });
    await comeBack(back, server.owners.offerManifest(manifest), action.searchParams.get("state"));
    expect([await code, kept()]).toEqual([0, ["github.env"]]);
  });

  it("[GHL-56] Ctrl-C ends it at once and leaves nothing; so does nobody coming for ten minutes", async () => {
    const { said, code, address, interrupt, waits } = await begun();
    expect(waits()).toBe(true);
    interrupt();
    expect([await code, kept(), waits()]).toEqual([1, [], false]);
    expect(said.err).toContain("nothing was written here");
    await expect(fetch(address)).rejects.toThrow();

    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const late = await begun();
      await vi.advanceTimersByTimeAsync(10 * 60_000 - 1);
      expect(late.said.err).not.toContain("Nobody came");
      await vi.advanceTimersByTimeAsync(1);
      expect([await late.code, late.said.err]).toEqual([1, expect.stringContaining("Nobody came in ten minutes")]);
    } finally {
      vi.useRealTimers();
    }
    expect(kept()).toEqual([]);
  });

  it("[GHL-57] what is asked wrongly is said before anything begins, and no App's secrets are written over", async () => {
    const asked = async (args: readonly string[], env: Record<string, string> = {}) => {
      const { said, terminal } = terminalIn(folder);
      const code = await run(["github", "setup", ...args], env, terminal);
      return { code, err: said.err };
    };
    const url = ["--url", publicUrl];
    writeFileSync(file(), "GITHUB_APP_ID='1'\n");
    for (const [args, words, env] of [
      [[], "--url is required", {}],
      [["--url", "http://agents.example"], "https://", {}],
      [["--url", "http://127.0.0.1:8787"], "GitHub has to reach it", {}],
      [url, "github.env is there already", {}],
      [[...url, "--state", join(folder, "none")], "there is no folder", {}],
      [[...url, "--out", "a", "--state", "b"], "not both", {}],
      [[...url, "--out", "a", "--org", "a/b"], "--org", {}],
      [[...url, "--out", "a", "--name", "x".repeat(35)], "--name", {}],
      [[...url, "--out", "a"], "GITHUB_API_URL is not", { GITHUB_URL: "https://github.example" }],
      [
        [...url, "--out", "a"],
        "GITHUB_URL must begin with https://",
        { GITHUB_URL: "http://g.example", GITHUB_API_URL: "x" },
      ],
    ] as const)
      expect([args, await asked(args, env)]).toEqual([args, { code: 2, err: expect.stringContaining(words) }]);
    expect([readFileSync(file(), "utf8"), kept()]).toEqual(["GITHUB_APP_ID='1'\n", ["github.env"]]);
    rmSync(join(folder, ".countersign"), { recursive: true });
    expect(await asked(url)).toMatchObject({ code: 2, err: expect.stringContaining("npm start") });
    mkdirSync(state, { recursive: true });
  });
});

function asHost(address: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject).end();
  });
}
