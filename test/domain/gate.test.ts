/** What passes the gate of a container, as whole texts: everything near them is refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Asked,
  answerThrough,
  gateOrigin,
  mayReach,
  type Passage,
  pathAtGate,
  pushHeadBytes,
  pushSays,
  wayThrough,
} from "../../src/domain/gate.ts";
import { instanceFor } from "../../src/domain/instance.ts";

const source = "https://github.com/acme/widgets";
const push = { branch: "countersign/t1", commit: "c".repeat(40) };
const reading: Passage = { source, push: null };
const publishing: Passage = { source, push };
const base = `${gateOrigin}/https/github.com/acme/widgets`;

function asked(method: string, url: string, headers: Record<string, string> = {}): Asked {
  return { method, url, header: (name) => headers[name] ?? null };
}
const posted = (service: string, more: Record<string, string> = {}) =>
  asked("POST", `${base}/git-${service}-pack`, {
    "content-type": `application/x-git-${service}-pack-request`,
    ...more,
  });
const look = (service: string) => asked("GET", `${base}/info/refs?service=git-${service}-pack`);

/** A push as git writes it. */
function written(...lines: string[]): Uint8Array {
  const packets = lines.map((line) => (line.length + 4).toString(16).padStart(4, "0") + line);
  return new TextEncoder().encode(`${packets.join("")}0000`);
}
const change = (commit = push.commit, branch = push.branch, before = "0".repeat(40)) =>
  `${before} ${commit} refs/heads/${branch}\0 report-status side-band-64k agent=git/2.39.5`;

describe("the gate of a container", () => {
  it("[CON-1] git's own requests for the repository pass, written anew", () => {
    expect(pathAtGate(source)).toBe("/https/github.com/acme/widgets");
    expect(wayThrough(look("upload"), reading)).toMatchObject({
      method: "GET",
      url: `${source}/info/refs?service=git-upload-pack`,
      answers: "application/x-git-upload-pack-advertisement",
      push: null,
    });
    const headers = {
      "git-protocol": "version=2",
      "content-encoding": "gzip",
      cookie: "a=b",
      authorization: "Bearer x",
    };
    expect(wayThrough(posted("upload", headers), reading)).toEqual({
      method: "POST",
      url: `${source}/git-upload-pack`,
      headers: {
        accept: "*/*",
        "user-agent": "git/countersign",
        "git-protocol": "version=2",
        "content-type": "application/x-git-upload-pack-request",
        "content-encoding": "gzip",
      },
      answers: "application/x-git-upload-pack-result",
      push: null,
    });
    const strange = asked("GET", `${base}/info/refs?service=git-upload-pack`, { "git-protocol": "version=2\r\nx: y" });
    expect(wayThrough(strange, reading)?.headers).not.toHaveProperty("git-protocol");
  });

  it("[CON-1] nothing else passes: no other repository, path, query, method, host or spelling", () => {
    const refs = "/info/refs?service=git-upload-pack";
    const astray = [
      asked("HEAD", base + refs),
      asked("POST", base + refs),
      asked("GET", `${base}/info/refs`),
      asked("GET", `${base}${refs}&x=1`),
      asked("GET", `${base}/info/refs?service=git-upload-archive`),
      asked("GET", `${base}.git${refs}`),
      asked("GET", `${base}-other${refs}`),
      asked("GET", `${base}/../gadgets${refs}`),
      asked("GET", `${base}/${refs}`),
      asked("GET", `${base}//info/refs?service=git-upload-pack`),
      asked("GET", `${base}/HEAD`),
      asked("GET", `${base}/objects/info/packs`),
      asked("GET", `${gateOrigin}/https/github.com/acme%2Fwidgets${refs}`),
      asked("GET", `${gateOrigin}/https/github.com/ACME/widgets${refs}`),
      asked("GET", `${gateOrigin}/http/github.com/acme/widgets${refs}`),
      asked("GET", `${gateOrigin}/https/api.github.com/acme/widgets${refs}`),
      asked("GET", `http://git.countersign.internal:81/https/github.com/acme/widgets${refs}`),
      asked("GET", `${source}${refs}`),
      asked("POST", `${base}/git-upload-pack`),
      posted("upload", { "content-type": "text/plain" }),
      posted("upload", { "content-encoding": "br" }),
    ];
    for (const one of astray) expect([one.url, wayThrough(one, publishing)]).toEqual([one.url, null]);
  });

  it("[CON-2] a way for reading carries no push, one for publishing does", () => {
    expect(wayThrough(look("receive"), reading)).toBeNull();
    expect(wayThrough(posted("receive"), reading)).toBeNull();
    expect(wayThrough(look("receive"), publishing)).toMatchObject({ push: null });
    expect(wayThrough(posted("receive"), publishing)).toMatchObject({ url: `${source}/git-receive-pack`, push });
    expect(wayThrough(posted("receive", { "content-encoding": "gzip" }), publishing)).toBeNull();
    expect(wayThrough(look("upload"), publishing)).not.toBeNull();
  });

  it("[CON-2] a push changes the one branch to the one commit, and is not judged before that is known", () => {
    const good = written(change());
    expect(pushSays(good, push)).toBe("yes");
    expect(pushSays(written(`${change()}\n`), push)).toBe("yes");
    expect(pushSays(written(change(push.commit, push.branch, "a".repeat(40))), push)).toBe("yes");
    expect(pushSays(new Uint8Array([...good, 80, 65, 67, 75]), push)).toBe("yes");
    expect(pushSays(new TextEncoder().encode("0000"), push)).toBe("empty");
    for (let length = 0; length < good.length; length += 1)
      expect(pushSays(good.subarray(0, length), push)).toBe("more");
    const bad = [
      written(change("d".repeat(40))),
      written(change(push.commit, "main")),
      written(change(push.commit, "countersign/t1/../main")),
      written(change("0".repeat(40))),
      written(change(), change(push.commit, "main")),
      written(change(), change()),
      written(`${change()} push-options`),
      written(`${change()} push-options=x`),
      written(`${change()} session-id=1`),
      written(`${change()} object-format=sha256`),
      written(`${change()} agent=a\tb`),
      written(`${change()}\0push-options`),
      written(`${change()}\npush-options`),
      written(`shallow ${push.commit}`, change()),
      written("push-cert\0report-status", change()),
      written(` ${push.commit} refs/heads/${push.branch}`),
      new TextEncoder().encode("0000PACK"),
      new TextEncoder().encode("zzzz"),
      new TextEncoder().encode("0004"),
      new TextEncoder().encode("ffff"),
    ];
    for (const one of bad) expect([new TextDecoder().decode(one), pushSays(one, push)[0]]).not.toContain("y");
    expect(bad.map((one) => pushSays(one, push))).not.toContain("yes");
    expect(pushHeadBytes).toBeGreaterThan(good.length * 10);
  });

  it("[CON-2] whatever is written, only that change is let through", () => {
    const sign = fc.constantFrom("0", "4", "f", " ", "\0", "\n", "c", "main", push.commit, `refs/heads/${push.branch}`);
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 12 }), (parts) => {
        const line = parts.join("");
        const exact = new RegExp(`^[0-9a-f]{40} ${push.commit} refs/heads/${push.branch}(?:\n?(?:\0|$))`, "s");
        const says = pushSays(written(line), push);
        return says !== "yes" || exact.test(line);
      }),
      { numRuns: 500 },
    );
  });

  it("[CON-4] of an answer git's own content passes; all else is its status alone", () => {
    const way = wayThrough(look("upload"), reading);
    if (way === null) throw new Error("it does not pass");
    expect(answerThrough(way, 200, way.answers)).toEqual({ status: 200, body: true });
    expect(answerThrough(way, 200, "text/html")).toEqual({ status: 502, body: false });
    expect(answerThrough(way, 200, null)).toEqual({ status: 502, body: false });
    for (const status of [301, 302, 401, 403, 404, 500])
      expect(answerThrough(way, status, way.answers)).toEqual({ status, body: false });
    for (const status of [204, 206, 304]) expect(answerThrough(way, status, way.answers).status).toBe(502);
  });

  it("[CON-5] https at its port to a granted name passes, and no name inside a private network", () => {
    const granted = new Set(["packages.example", "10.0.0.1", "metadata.internal", "[::1]"]);
    expect(mayReach("https://packages.example/left-pad?x=1", granted)).toBe(true);
    const astray = [
      "http://packages.example/",
      "https://packages.example:444/",
      "https://user@packages.example/",
      "https://other.example/",
      "https://packages.example.other.example/",
      "https://sub.packages.example/",
      "https://10.0.0.1/",
      "https://metadata.internal/",
      "https://[::1]/",
      "no address",
    ];
    for (const url of astray) expect([url, mayReach(url, granted)]).toEqual([url, false]);
  });

  it("[CON-9] a container has room for the sandbox and the host beside it", () => {
    expect(instanceFor(512, 512)).toBe("standard-1");
    expect(instanceFor(4096, 0)).toBe("standard-1");
    expect(instanceFor(4096, 512)).toBe("standard-2");
    expect(instanceFor(8192, 512)).toBe("standard-4");
    expect(instanceFor(1_000_000, 512)).toBe("standard-4");
  });
});
