import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readGithubConfig } from "../../src/adapters/github-config.ts";
import { readPrivateKey } from "../../src/adapters/github-key.ts";
import { githubFrom } from "../../src/adapters/github-world.ts";
import { bindings, failureOf, pem, pkcs8Pem, repo, secret } from "./github-fetch.ts";

const named = (over: Record<string, string>, localHost = false) => {
  const read = readGithubConfig({ ...bindings, PUBLIC_URL: "https://countersign.example", ...over }, localHost);
  return { ...read, names: read.missing.map(({ name }) => name) };
};

describe("the configuration of GitHub", () => {
  it("[GHA-1] without an App every call says what to configure, and nothing is sent", async () => {
    const sent: unknown[] = [];
    const world = githubFrom({}, true, { fetch: () => Promise.reject(sent.push(1)) });
    const { github, githubApp } = world;
    expect(world).toMatchObject({ githubConfig: null, githubTokens: null, missing: [] });
    const check = { name: "x", external_id: "t", details_url: null, status: "queued", conclusion: null } as const;
    const whole = { ...check, title: "", summary: "", text: null, actions: [] };
    const calls = [
      github.permission(repo, "a"),
      github.head(repo, null),
      github.pull(repo, 1),
      github.findComment(repo, 1, "m"),
      github.createComment(repo, 1, "b"),
      github.updateComment(repo, 1, "b"),
      github.findCheck(repo, "s", "e"),
      github.createCheck(repo, "s", whole),
      github.updateCheck(repo, 1, whole),
      github.findPull(repo, "h"),
      github.createPull(repo, { head: "h", base: "b", title: "t", body: "b" }),
      github.updatePull(repo, 1, { title: "t", body: "b" }),
      githubApp.owner(),
      githubApp.installation(1),
      githubApp.repositories(1),
      githubApp.deliveries(null),
      githubApp.redeliver("1"),
    ];
    for (const call of calls) {
      const failure = await failureOf(call);
      expect(failure).toMatchObject({ code: "not_configured", retryable: false });
      expect(failure.message).toContain("countersign github setup");
    }
    expect(sent).toEqual([]);
  });

  it("[GHA-2] nothing set is no fault, all set is an App, and its key stands apart", () => {
    expect(readGithubConfig({ PUBLIC_URL: "https://x.example", GITHUB_SCOPE: "s" }, false)).toEqual({
      config: null,
      key: null,
      missing: [],
    });
    const { config, key, names } = named({ GITHUB_WEBHOOK_SECRET_OLD: "the-secret-of-before", GITHUB_SCOPE: "home" });
    expect(names).toEqual([]);
    expect(config).toEqual({
      app_id: 77,
      slug: "countersign-app",
      bot_login: "countersign-app[bot]",
      webhook_secrets: [secret, "the-secret-of-before"],
      url: "https://github.com",
      api_url: "https://api.github.com",
      scope: "home",
      public_url: "https://countersign.example",
    });
    expect(key).toBeInstanceOf(Uint8Array);
    const own = { GITHUB_URL: "https://github.example/", GITHUB_API_URL: "https://github.example/api/v3/" };
    expect(named(own).config).toMatchObject({
      url: "https://github.example",
      api_url: "https://github.example/api/v3",
    });
  });

  it.each([
    ["GITHUB_APP_ID", ""],
    ["GITHUB_APP_ID", "seven"],
    ["GITHUB_APP_ID", "0"],
    ["GITHUB_APP_SLUG", ""],
    ["GITHUB_APP_SLUG", "../x"],
    ["GITHUB_PRIVATE_KEY", ""],
    ["GITHUB_PRIVATE_KEY", "-----BEGIN PRIVATE KEY-----"],
    ["GITHUB_WEBHOOK_SECRET", ""],
    ["GITHUB_WEBHOOK_SECRET", "short"],
    ["GITHUB_WEBHOOK_SECRET_OLD", "short"],
  ])("[GHA-2] %s as %j is named, and there is no App", (name, value) => {
    const { config, key, names, missing } = named({ [name]: value });
    expect([config, key, names]).toEqual([null, null, [name]]);
    expect(missing[0]).toMatchObject({ optional: true, detail: expect.stringContaining(name) });
    expect(missing[0]?.detail).not.toContain(value === "" ? secret : `\`${value}`);
  });

  it.each([
    ["http://github.example", true],
    ["http://127.0.0.1:9", false],
    ["https://user@github.example", true],
    ["https://github.example/?a=b", true],
    ["ftp://github.example", true],
    ["github.example", true],
  ])("[GHA-2] no token is sent to %s (sandbox host on this machine: %s)", (url, localHost) => {
    expect(named({ GITHUB_URL: "https://github.example", GITHUB_API_URL: url }, localHost)).toMatchObject({
      config: null,
      names: ["GITHUB_API_URL"],
    });
  });

  it("[GHA-2] a loopback address does with a sandbox host on this machine; one address alone does not; a bad page address costs the links only", () => {
    const base = { GITHUB_URL: "http://127.0.0.1:9", GITHUB_API_URL: "http://127.0.0.1:9" };
    expect(named(base, true).config).toMatchObject({ url: "http://127.0.0.1:9", api_url: "http://127.0.0.1:9" });
    expect(named({ GITHUB_URL: "https://github.example" })).toMatchObject({ config: null, names: ["GITHUB_API_URL"] });
    expect(named({ GITHUB_API_URL: "https://github.example" })).toMatchObject({ config: null, names: ["GITHUB_URL"] });
    expect(named({ PUBLIC_URL: "http://here.example" })).toMatchObject({
      names: ["PUBLIC_URL"],
      config: { public_url: null },
    });
    expect(named({ PUBLIC_URL: "" })).toMatchObject({ names: ["PUBLIC_URL"], config: { public_url: null } });
  });
});

describe("the App's key", () => {
  it("[GHA-3] is taken in both forms, with line breaks as they are or spelled out, and is the same key", () => {
    const forms = [pem, pkcs8Pem, pem.replaceAll("\n", "\\n"), pem.replaceAll("\n", "\r\n"), `\n${pkcs8Pem}\n`];
    const read = forms.map((form) => readPrivateKey(form));
    expect(read.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
    const der = Buffer.from(pkcs8Pem.replace(/-----[^-]+-----|\n/g, ""), "base64");
    for (const one of read) expect(one.ok && Buffer.from(one.pkcs8).equals(der)).toBe(true);
    const short = generateKeyPairSync("rsa", { modulusLength: 1_024 }).privateKey;
    const own = readPrivateKey(String(short.export({ type: "pkcs1", format: "pem" })));
    expect(own.ok && Buffer.from(own.pkcs8).equals(short.export({ type: "pkcs8", format: "der" }))).toBe(true);
  });

  it("[GHA-3] every other key is refused in words that say how to convert it and hold nothing of it", () => {
    const body = pem.split("\n").slice(1, -2).join("\n");
    const locked = generateKeyPairSync("rsa", {
      modulusLength: 2_048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "p" },
    });
    const curve = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const bad: [string, RegExp][] = [
      [locked.privateKey, /openssl pkcs8 -topk8 -nocrypt/],
      [`-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n${body}\n-----END RSA PRIVATE KEY-----`, /-nocrypt/],
      [`-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`, /ssh-keygen -p -m PEM/],
      [String(curve.export({ type: "pkcs8", format: "pem" })), /no RSA key/],
      [String(curve.export({ type: "sec1", format: "pem" })), /no private RSA key/],
      [pem.replace(/\n[^\n]+\n-----END/, "\n-----END"), /damaged/],
      [pem.replace("M", "*"), /damaged/],
      [pem.split("\n")[0] ?? "", /no PEM file/],
      ["", /no PEM file/],
    ];
    for (const [text, words] of bad) {
      const read = readPrivateKey(text);
      expect(read).toMatchObject({ ok: false, why: expect.stringMatching(words) });
      const lines = text.split("\n").filter((line) => line.length > 30 && !line.startsWith("-"));
      expect(lines.some((line) => !read.ok && read.why.includes(line))).toBe(false);
    }
  });
});
