import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { formatToken, scopeMac } from "../../src/domain/credential.ts";
import { hookId, hookLabels, hookTitle, scopeOfHook } from "../../src/domain/hooks.ts";
import { type EventView, eventTypes } from "../../src/domain/record-view.ts";
import { afterTry, type PostAnswer, retryAfterMs } from "../../src/domain/webhook-order.ts";
import { secretText, signatureOf, signedId, signingSecret } from "../../src/domain/webhook-signature.ts";
import { wants, webhookInput, webhookUrl } from "../../src/domain/webhooks.ts";
import { limits } from "../../src/limits.ts";

const key = new Uint8Array(32).fill(7);
const of = { use: "webhook", scope_id: "abcdefghij012345", id: "w1", version: 1 } as const;
const bytes = (text: string) => new TextEncoder().encode(text);
const now = () => Math.floor(Date.now() / 1_000);

describe("signatures", () => {
  it("[WBH-1] the package of the specification takes what we sign, and we take what it signs, for any id and body", () => {
    const secret = signingSecret(key, of);
    const theirs = new Webhook(secretText(secret));
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
    fc.assert(
      fc.property(id, fc.json(), (id, text) => {
        const timestamp_s = now();
        const ours = signatureOf(secret, { id, timestamp_s, body: bytes(text) });
        expect(theirs.sign(id, new Date(timestamp_s * 1_000), text)).toBe(ours);
        const headers = { "webhook-id": id, "webhook-timestamp": String(timestamp_s), "webhook-signature": ours };
        expect(theirs.verify(text, headers)).toEqual(JSON.parse(text));
      }),
      { numRuns: 50 },
    );
  });
  it("[WBH-1] the example of the specification comes out as it stands there", () => {
    const secret = Uint8Array.from(atob("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), (letter) => letter.charCodeAt(0));
    const signed = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp_s: 1_614_265_330,
      body: bytes('{"test": 2432232314}'),
    };
    expect(signatureOf(secret, signed)).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });
  it("[WBH-2] each use, scope, id and version has a secret of its own, and none is what a token is made with", () => {
    const others = [
      { ...of, use: "hook" as const },
      { ...of, scope_id: "abcdefghij012346" },
      { ...of, id: "w2" },
      { ...of, version: 2 },
    ];
    const texts = [of, ...others].map((one) => secretText(signingSecret(key, one)));
    expect(new Set(texts).size).toBe(5);
    expect(secretText(signingSecret(key, of))).toBe(texts[0]);
    expect(secretText(signingSecret(new Uint8Array(32).fill(8), of))).not.toBe(texts[0]);
    expect(texts[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const token = formatToken(of.scope_id, scopeMac(key, of.scope_id), "x".repeat(32));
    const hexOf = [...signingSecret(key, of)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    expect(hexOf).not.toContain(token.slice(19, 29));
  });
  it("[HOOK-1] a signature of either secret within five minutes counts; a wrong one, an altered body and an id with a dot do not", () => {
    const [current, old, other] = [2, 1, 0].map((version) => signingSecret(key, { ...of, use: "hook", version }));
    if (current === undefined || old === undefined || other === undefined) throw new Error("no secrets");
    const body = bytes('{"title":"x"}');
    const at = 1_800_000_000;
    const headers = (secret: Uint8Array, id = "m-1", timestamp_s = at) => ({
      id,
      timestamp: String(timestamp_s),
      signature: `v1a,AAAA ${signatureOf(secret, { id, timestamp_s, body })} v1,AAAA`,
    });
    const read = (given: Parameters<typeof signedId>[0], sent = body) =>
      signedId(given, sent, [current, old], at * 1_000 + 999);
    expect([read(headers(current)), read(headers(old))]).toEqual(["m-1", "m-1"]);
    expect(read(headers(current, "m-1", at - 300))).toBe("m-1");
    const wrong = [
      headers(other),
      headers(current, "m.1"),
      headers(current, "m 1"),
      headers(current, ""),
      headers(current, "x".repeat(129)),
      headers(current, "m-1", at - 301),
      headers(current, "m-1", at + 301),
      { ...headers(current), id: "m-2" },
      { ...headers(current), id: null },
      { ...headers(current), timestamp: `${at}.0` },
      { ...headers(current), timestamp: null },
      { ...headers(current), signature: null },
      { ...headers(current), signature: headers(current).signature.replace(" v1,", " v2,") },
      { ...headers(current), signature: `${"v1,AAAA ".repeat(limits.hook_signatures)}${headers(current).signature}` },
    ];
    for (const given of wrong) expect([given, read(given)]).toEqual([given, null]);
    expect(read(headers(current), bytes('{"title":"y"}'))).toBeNull();
    expect(signedId(headers(current), body, [], at * 1_000)).toBeNull();
  });
});

function event(type: string, more: Partial<EventView> = {}): EventView {
  const fields = { scope_id: "s", task_id: null, trace_id: null, at: "", actor: "runtime", detail: null };
  return { seq: 1, type, ...fields, surfaces: [], ...more };
}

describe("which events are sent", () => {
  it("[WBH-3] a type takes its phases, a phase takes itself, `*` all but output; nothing the courier does is sent", () => {
    expect(wants(["phase_start"], event("phase_start:coding"))).toBe(true);
    expect(wants(["phase_start:coding"], event("phase_start:coding"))).toBe(true);
    expect(wants(["phase_start:coding"], event("phase_start:qa"))).toBe(false);
    expect(wants(["task_complete"], event("task_failed"))).toBe(false);
    expect(wants(["*"], event("agent_output"))).toBe(false);
    expect(wants(["*", "agent_output"], event("agent_output"))).toBe(true);
    for (const type of eventTypes) {
      const sent = type !== "agent_output" && type !== "webhook_test";
      expect([type, wants(["*"], event(type))]).toEqual([type, sent]);
      for (const own of [{ actor: "courier" }, { agent: "courier" }, { recipient: "courier" }])
        expect(wants(["*", type], event(type, own))).toBe(false);
    }
  });
  it("[WBH-3] only types there are can be asked for", () => {
    const take = (events: unknown) => webhookInput.safeParse({ url: "https://a.example/", events }).success;
    expect([take(["*"]), take(["phase_complete:qa"]), take(["task_failed", "rung"])]).toEqual([true, true, true]);
    for (const wrong of [[], ["task"], ["task_failed:x"], ["phase_start:"], ["phase_start:a:b"], ["**"], "*"])
      expect([wrong, take(wrong)]).toEqual([wrong, false]);
  });
});

describe("where they are sent", () => {
  const allowed = (url: string, loopback = false) => {
    const read = webhookUrl(url, loopback);
    return read.ok ? read.value : null;
  };
  it("[WBH-4] only https to a public name on port 443 or from 1024 up", () => {
    for (const good of ["https://hooks.example/in?key=1", "https://hooks.example:8443/", "https://a.b.example./x"])
      expect(allowed(good)).toBe(good);
    expect(allowed("HTTPS://Hooks.Example")).toBe("https://hooks.example/");
    expect(allowed("https://hooks.example:443/")).toBe("https://hooks.example/");
    const bad = [
      ...[
        "http://hooks.example/",
        "ftp://hooks.example/",
        "file:///etc/passwd",
        "hooks.example",
        "//hooks.example",
        "",
      ],
      ...[
        "https://u@hooks.example/",
        "https://u:p@hooks.example/",
        "https://@hooks.example/",
        "https://hooks.example/#x",
      ],
      ...["https://hooks.example:22/", "https://hooks.example:1023/", "https://hooks.example:80/"],
      ...["https://localhost/", "https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f.1/"],
      ...[
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://172.20.0.1/",
        "https://100.64.0.1/",
        "https://8.8.8.8/",
      ],
      ...[
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[fe80::1]/",
        "https://[fd00:ec2::254]/",
      ],
      ...["https://[::ffff:127.0.0.1]/", "https://[2001:4860:4860::8888]/", "https://metadata.google.internal/"],
      ...["https://metadata.goog/", "https://api.metadata.cloud.ibm.com/", "https://metadata.azure.com/"],
      ...["https://a.b.svc/", "https://x.consul/", "https://crm.corp/", "https://nas.home/"],
      ...["https://intranet/", "https://db.internal/", "https://printer.local/", "https://a.localhost/", "https://0/"],
      ...[
        "https://hooks.example\\@127.0.0.1/",
        "https://hooks.example/ x",
        "https://hooks.exa\tmple/",
        "https:hooks.example",
      ],
      `https://hooks.example/${"x".repeat(limits.webhook_url_chars)}`,
    ];
    for (const url of bad) expect([url, allowed(url)]).toEqual([url, null]);
  });
  it("[WBH-4] where the deployment says so, plain http leads to this machine and nowhere else", () => {
    for (const url of ["http://127.0.0.1:9000/in", "http://localhost:9000/in", "http://[::1]:9000/in"])
      expect([allowed(url, true), allowed(url, false)]).toEqual([url, null]);
    for (const url of ["http://10.0.0.1/", "http://127.0.0.2/", "http://hooks.example/", "http://localhost.example/"])
      expect(allowed(url, true)).toBeNull();
    expect(allowed("http://u:p@127.0.0.1:9000/", true)).toBeNull();
  });
});

describe("what follows from a try", () => {
  const answered = (status: number, retry_after_ms: number | null = null): PostAnswer => ({
    ...{ kind: "answered", status, retry_after_ms, text: "" },
  });
  it("[WBH-5] 2xx is done, 410 is the end, all else is tried again after waits that grow, and is dead after the eighth try", () => {
    for (const status of [200, 202, 204, 299]) expect(afterTry(answered(status), 1, 0).state).toBe("done");
    expect(afterTry(answered(410), 1, 0)).toEqual({ state: "dead", next_ms: null, gone: true });
    for (const answer of [
      answered(301),
      answered(302),
      answered(404),
      answered(500),
      { kind: "failed", why: "" } as const,
    ])
      expect(afterTry(answer, 1, 100)).toEqual({ state: "open", next_ms: 5_100, gone: false });
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((tried) => afterTry(answered(500), tried, 0));
    expect(waits.map(({ next_ms }) => next_ms)).toEqual([
      ...[5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000, null],
    ]);
    expect(waits.map(({ state }) => state)).toEqual([...Array.from({ length: 7 }, () => "open"), "dead"]);
  });
  it("[WBH-6] Retry-After lengthens a wait, never shortens it, and no further than an hour", () => {
    expect(afterTry(answered(503, 60_000), 1, 0).next_ms).toBe(60_000);
    expect(afterTry(answered(503, 1_000), 1, 0).next_ms).toBe(5_000);
    expect(afterTry(answered(429, 1e12), 1, 0).next_ms).toBe(3_600_000);
    expect(retryAfterMs("120", 0)).toBe(120_000);
    expect(retryAfterMs("Wed, 21 Oct 2026 07:28:00 GMT", Date.parse("2026-10-21T07:27:00Z"))).toBe(60_000);
    expect(retryAfterMs("Wed, 21 Oct 2015 07:28:00 GMT", Date.parse("2026-10-21T07:27:00Z"))).toBe(0);
    for (const nothing of [null, "", "soon", "-1", "1.5", "2026-10-21"]) expect(retryAfterMs(nothing, 0)).toBeNull();
  });
});

describe("hooks", () => {
  it("[HOOK-2] an id says its scope only if this deployment made all of it", () => {
    const random = "abcdefghijklmnopqrstuvwx";
    const id = hookId(key, of.scope_id, random);
    expect(scopeOfHook(key, id)).toBe(of.scope_id);
    expect(scopeOfHook(new Uint8Array(32).fill(8), id)).toBeNull();
    for (let at = 0; at < id.length; at++) {
      const letter = id[at] === "a" ? "b" : "a";
      expect(scopeOfHook(key, id.slice(0, at) + letter + id.slice(at + 1))).toBeNull();
    }
    for (const text of ["", id.slice(1), `${id}0`, `${id}\n`, id.toUpperCase()])
      expect(scopeOfHook(key, text)).toBeNull();
  });
  it("[HOOK-3] a title is filled in once, cut to what a task takes, and never empty; labels are the hook's own first", () => {
    const given = { title: "Fix {name}", name: "ci", id: "m-1" };
    expect(hookTitle("[{name}] {title} ({id})", given)).toBe("[ci] Fix {name} (m-1)");
    expect(hookTitle("{title}", { ...given, title: undefined })).toBe("Asked by the hook ci");
    expect([...hookTitle("{title}{title}", { ...given, title: "😀".repeat(200) })].length).toBe(200);
    expect(hookTitle(" {title} ", { ...given, title: " " })).toBe("Asked by the hook ci");
    expect(hookLabels(["a", "b"], ["b", "c"])).toEqual(["a", "b", "c"]);
    expect(
      hookLabels(
        ["own"],
        Array.from({ length: 30 }, (_, at) => `l${at}`),
      ),
    ).toHaveLength(20);
  });
});
