/** GitHub's door: what is signed, and what is not. */
import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { limits } from "../../src/limits.ts";
import { home } from "../fakes/door-ports.ts";
import { hookSecret, signatureOf } from "../fakes/github-door.ts";
import { ids, maintainer } from "../fakes/github-payloads.ts";
import { door, guid, labeled } from "./github-world.ts";

describe("a webhook", () => {
  it("[GHI-30] is answered 503 with what to set where there is no App, and nothing is read", async () => {
    for (const bare of [{ secrets: [] }, { secrets: [""] }, { identity: null }]) {
      const { github, post } = door();
      Object.assign(github, bare);
      const answer = await post(labeled);
      expect([answer.status, answer.body.code, github.calls]).toEqual([503, "unavailable", 0]);
      expect(answer.body.detail).toContain("GITHUB_WEBHOOK_SECRET");
    }
  });
  it("[GHI-31] counts when either of two secrets signed its very bytes, and no third", async () => {
    const { github, post } = door();
    github.secrets = ["the new one", hookSecret, "a third"];
    expect((await post(labeled)).status).toBe(202);
    expect((await post(labeled, { "x-hub-signature-256": signatureOf(labeled, "the new one") })).status).toBe(202);
    expect((await post(labeled, { "x-hub-signature-256": signatureOf(labeled, "a third") })).status).toBe(401);
    const bytes = new TextEncoder().encode(`${labeled}\n`);
    expect((await post(bytes, { "x-hub-signature-256": signatureOf(labeled) })).status).toBe(401);
    expect((await post(bytes, { "x-hub-signature-256": signatureOf(bytes) })).status).toBe(202);
    // Bytes that no text has: signed as they are, then refused for what they are.
    const noText = new Uint8Array([0x7b, 0xff, 0x7d]);
    expect((await post(noText)).body.code).toBe("bad_request");
    expect((await post(noText, { "x-hub-signature-256": signatureOf("{\ufffd}") })).status).toBe(401);
  });
  it("[GHI-31] without a right signature is 401, whatever else is wrong, and leaves no trace", async () => {
    const { github, post, runtime } = door();
    const right = signatureOf(labeled);
    for (const signature of [
      null,
      "",
      right.slice(7),
      right.replace("sha256", "sha1"),
      right.slice(0, -1),
      `${right}0`,
      right.toUpperCase(),
      right.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    ]) {
      const answer = await post(labeled, { "x-hub-signature-256": signature });
      expect([signature, answer.status, answer.body.code]).toEqual([signature, 401, "unauthenticated"]);
    }
    const wrong = { "x-hub-signature-256": signatureOf("x"), "x-github-delivery": "x", "content-type": "text/plain" };
    expect((await post(labeled, wrong)).status).toBe(401);
    expect([github.calls, runtime.calls]).toEqual([0, []]);
    expect(JSON.stringify(await post(labeled, wrong))).not.toContain(hookSecret);
  });
  it("[GHI-32] over 25 MB is 413, counted as it comes; a stranger's is not read at all", async () => {
    const { send, github } = door();
    let pulled = 0;
    const endless = () =>
      new ReadableStream(
        {
          pull(controller) {
            pulled += 1;
            controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
          },
        },
        { highWaterMark: 0 },
      );
    const headers = { "x-hub-signature-256": signatureOf(""), "content-length": "5" };
    expect((await send("POST", "/webhooks/github", { raw: endless(), headers })).status).toBe(413);
    expect(pulled).toBeLessThan(limits.github_hook_body_bytes / 1024 / 1024 + 3);
    pulled = 0;
    expect((await send("POST", "/webhooks/github", { raw: endless() })).status).toBe(401);
    expect([pulled, github.calls]).toEqual([0, 0]);
  });
  it("[GHI-33] needs a delivery's id and an event's name, and JSON", async () => {
    const { github, post } = door();
    for (const id of [null, "", "x", `${guid(1)}0`, `{${guid(1)}}`, "1".repeat(36)])
      expect((await post(labeled, { "x-github-delivery": id })).body.code, String(id)).toBe("bad_request");
    for (const event of [null, "", "Issues", "a b", "x".repeat(65)])
      expect((await post(labeled, { "x-github-event": event })).body.code, String(event)).toBe("bad_request");
    for (const raw of ["", "nope", "{", `{"a":1}x`]) expect((await post(raw)).body.code, raw).toBe("bad_request");
    const form = await post(`payload=${encodeURIComponent(labeled)}`, {
      "content-type": "application/x-www-form-urlencoded",
    });
    expect([form.status, form.body.code]).toEqual([415, "unsupported_media_type"]);
    expect(form.body.detail).toContain("content type to application/json");
    expect(github.calls).toBe(0);
    expect((await post(labeled, { "content-type": "application/json; charset=utf-8" })).status).toBe(202);
  });
  it("[GHI-34] that may count goes to the scope of its repository, once for each delivery however its id is written", async () => {
    const { github, post } = door();
    github.everywhere = null;
    github.scopes.set(ids.installation, home);
    const first = await post(labeled, { "x-github-delivery": guid(171) });
    expect([first.status, first.body]).toEqual([202, { status: "accepted" }]);
    for (const id of [guid(171), guid(171).toUpperCase()]) {
      const again = await post(labeled, { "x-github-delivery": id });
      expect([again.status, again.body]).toEqual([200, { status: "seen" }]);
    }
    expect(github.delivered).toHaveLength(1);
    expect(github.delivered[0]).toMatchObject({
      scope_id: home,
      delivery_id: guid(171),
      repository: { id: ids.repository, installation_id: ids.installation },
      happening: { kind: "wish", trigger: "label" },
    });
  });
  it("[GHI-49] goes there with the hash of its very bytes, for its id is not signed; what changes nothing is answered so", async () => {
    const { github, post } = door();
    const bytes = new TextEncoder().encode(labeled);
    for (const body of [bytes, new TextEncoder().encode(`${labeled} `)]) await post(body);
    const hash = (body: string) => createHash("sha256").update(body).digest("hex");
    expect(github.delivered.map(({ body_hash }) => body_hash)).toEqual([hash(labeled), hash(`${labeled} `)]);
    github.waited = false;
    expect(await post(labeled)).toMatchObject({ status: 200, body: { status: "ignored", why: "no_task" } });
    expect(github.counted).toEqual([]);
  });
  it("[GHI-35] about an installation goes to the App's object, once", async () => {
    const { github, post } = door();
    const sent = JSON.stringify({
      action: "created",
      installation: { id: 5, account: { id: 9, login: "octo" } },
      sender: maintainer,
    });
    const headers = { "x-github-event": "installation", "x-github-delivery": guid(9) };
    expect((await post(sent, headers)).body).toEqual({ status: "accepted" });
    expect((await post(sent, headers)).body).toEqual({ status: "seen" });
    expect(github.installed).toEqual([
      { event: "installation", action: "created", installation_id: 5, account: "octo" },
    ]);
  });
  it("[GHI-36] that begins nothing is answered 200 with why, and counted where it belongs", async () => {
    const { github, post } = door();
    expect((await post("{}", { "x-github-event": "ping" })).body).toEqual({ status: "ignored", why: "ping" });
    expect((await post(labeled, { "x-github-event": "star" })).body).toEqual({
      status: "ignored",
      why: "unknown_event",
    });
    const bug = labeled.replace('"label":{"name":"countersign"}', '"label":{"name":"bug"}');
    expect((await post(bug)).body).toEqual({ status: "ignored", why: "other_label" });
    github.linked = false;
    expect((await post(labeled)).body).toEqual({ status: "ignored", why: "not_linked" });
    github.everywhere = null;
    expect((await post(labeled)).body).toEqual({ status: "ignored", why: "not_linked" });
    expect(github.counted).toEqual([
      "- ping",
      "- unknown_event",
      `${home} other_label`,
      `${home} not_linked`,
      "- not_linked",
    ]);
    expect(github.delivered).toEqual([]);
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    github.ignored = () => Promise.reject(new Error("busy"));
    expect((await post("{}", { "x-github-event": "ping" })).status).toBe(200);
    expect(warned).toHaveBeenCalledOnce();
    warned.mockRestore();
  });
  it("[GHI-38] that could not be passed on is 503, so that GitHub has it sent again, and works then", async () => {
    const { github, post } = door();
    const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (const error of [new Error("secret internals"), Object.assign(new Error("reset"), { retryable: true })]) {
      github.failing = error;
      const answer = await post(labeled, { "x-github-delivery": guid(40) });
      expect([answer.status, answer.body.code]).toEqual([503, "unavailable"]);
      expect(answer.text).not.toContain("internals");
    }
    expect(told).toHaveBeenCalledOnce();
    told.mockRestore();
    github.failing = null;
    expect((await post(labeled, { "x-github-delivery": guid(40) })).status).toBe(202);
  });
});
