/** The courier's POST of a webhook: its steps, what a crash leaves, and the adapter against receivers of every kind. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { webhookPost } from "../../src/adapters/webhook-post.ts";
import { webhookOrders } from "../../src/agents/courier-webhooks.ts";
import type { RunContext, Step } from "../../src/agents/step.ts";
import type { Posted } from "../../src/agents/webhook-port.ts";
import { build, envelope } from "../../src/domain/message.ts";
import { type PostAnswer, webhookResult } from "../../src/domain/webhook-order.ts";
import { secretText, signingSecret } from "../../src/domain/webhook-signature.ts";
import { limits } from "../../src/limits.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes.ts";
import { tameWorld } from "../fakes/world.ts";

const scope_id = "abcdefghij012345";
const key = new Uint8Array(32).fill(7);
const posted: Posted = {
  ...{ scope_id, webhook_id: "w1", secret_versions: [2, 1], url: "http://127.0.0.1:1/in?token=secret-in-query" },
  ...{ id: "delivery-1", body: '{"seq":1,"type":"task_complete"}' },
};
const secretOf = (version: number) =>
  secretText(signingSecret(key, { use: "webhook", scope_id, id: posted.webhook_id, version }));

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
interface Got {
  readonly headers: IncomingMessage["headers"];
  readonly method: string;
  readonly body: string;
}
async function receiver(answer: (response: ServerResponse, request: IncomingMessage) => void) {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    got.push({ headers: request.headers, method: request.method ?? "", body: Buffer.concat(chunks).toString() });
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { got, url: `http://127.0.0.1:${port}/in?token=secret-in-query` };
}
const post = (url: string, more: Partial<Parameters<typeof webhookPost>[0]> = {}) =>
  webhookPost({ key, loopback: true, ...more }).post({ ...posted, url });

describe("the POST", () => {
  it("[WBH-32] goes with the headers of Standard Webhooks, signed with every secret that lives, and with nothing of ours besides", async () => {
    const { got, url } = await receiver((response) => response.writeHead(202).end("taken"));
    expect(await post(url)).toEqual({ kind: "answered", status: 202, retry_after_ms: null, text: "taken" });
    const [one] = got;
    if (one === undefined) throw new Error("nothing came");
    expect([one.method, one.body]).toEqual(["POST", posted.body]);
    const headers = Object.fromEntries(Object.entries(one.headers).map(([name, value]) => [name, String(value)]));
    for (const version of [2, 1])
      expect(new Webhook(secretOf(version)).verify(one.body, headers)).toEqual(JSON.parse(posted.body));
    expect(() => new Webhook(secretOf(3)).verify(one.body, headers)).toThrow("No matching signature");
    expect(() => new Webhook(secretOf(2)).verify(`${one.body} `, headers)).toThrow("No matching signature");
    expect(headers["webhook-id"]).toBe("delivery-1");
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    expect([headers["content-type"], headers["user-agent"]]).toEqual(["application/json", "Countersign-Webhooks/1"]);
    expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
  });
  it("[WBH-33] a redirect is an answer and is not followed", async () => {
    const elsewhere = await receiver((response) => response.end());
    const { url } = await receiver((response) => response.writeHead(307, { location: elsewhere.url }).end());
    expect(await post(url)).toMatchObject({ kind: "answered", status: 307 });
    expect(elsewhere.got).toEqual([]);
  });
  it("[WBH-33] of a huge answer 4 KB are read and 500 characters kept, and an endless one is let go", async () => {
    let open = true;
    const { url } = await receiver((response) => {
      response.writeHead(200);
      response.on("close", () => {
        open = false;
      });
      const more = () => {
        if (open && response.write("é".repeat(8_192))) setImmediate(more);
        else response.once("drain", more);
      };
      more();
    });
    const answer = await post(url);
    expect(answer).toMatchObject({ kind: "answered", status: 200 });
    expect(answer.kind === "answered" ? answer.text : "").toBe("é".repeat(limits.webhook_answer_chars));
    await expect.poll(() => open, { timeout: 2_000, interval: 5 }).toBe(false);
  });
  it("[WBH-33] a receiver that is silent, cuts the line or is not there has failed; its address is not in the words", async () => {
    const silent = await receiver(() => undefined);
    const cut = await receiver((_, request) => request.socket.destroy());
    const gone = await receiver((response) => response.end());
    for (const close of closing.splice(2)) close();
    const answers = [await post(silent.url, { limit_ms: 40 }), await post(cut.url), await post(gone.url)];
    expect(answers.map(({ kind }) => kind)).toEqual(["failed", "failed", "failed"]);
    expect(answers[0]).toMatchObject({ why: "there was no answer within 0.04 seconds" });
    expect(answers[2]).toMatchObject({ why: "it could not be reached (ECONNREFUSED)" });
    expect(JSON.stringify(answers)).not.toContain("secret-in-query");
  });
  it("[WBH-33] one whose status came and whose words stop half way has answered with that status", async () => {
    const stalls = await receiver((response) => response.writeHead(200).write("half"));
    expect(await post(stalls.url, { limit_ms: 60 })).toMatchObject({ kind: "answered", status: 200, text: "half" });
    const breaks = await receiver((response, request) => {
      response
        .writeHead(503, { "retry-after": "7", "content-length": "100" })
        .write("half", () => request.socket.destroy());
    });
    expect(await post(breaks.url)).toMatchObject({ kind: "answered", status: 503, retry_after_ms: 7_000 });
  });
  it("[WBH-34] an address that may not be posted to is refused again here, and without a key nothing is sent", async () => {
    let sent = 0;
    const fetch = async () => {
      sent++;
      return new Response("");
    };
    for (const url of ["http://127.0.0.1:1/", "https://169.254.169.254/", "https://10.0.0.1/", "http://hooks.example/"])
      expect(await post(url, { loopback: false, fetch })).toMatchObject({ kind: "failed" });
    expect(await post("https://hooks.example/", { key: null, fetch })).toMatchObject({
      ...{ kind: "failed", why: expect.stringContaining("SCOPE_MAC_KEY") },
    });
    expect(sent).toBe(0);
    expect(await post("https://hooks.example/", { fetch })).toMatchObject({ status: 200 });
  });
});

const order = build({
  ...{ message_id: "order-0001", trace_id: "delivery-1", scope_id, message_kind: "webhook_order", taint: "web" },
  ...{ sender: "runtime", recipient: "courier", content: "x", created_at: "2026-01-01T00:00:00.000Z" },
  payload: {
    ...{ delivery_id: "delivery-1", webhook_id: "w1", try: 3, url: posted.url },
    ...{ secret_versions: [2, 1], body: posted.body },
  },
});
const context: RunContext = {
  ...{ scope_id, agent: "courier", message: order, lease: null, cancelled: false, opened_at_ms: 0 },
  ...{ run_id: order.message_id, turns: [], notes: [] },
};
function courier(answer: () => PostAnswer | Promise<PostAnswer>) {
  const { ports, clock } = tameWorld(new MemorySandboxes());
  const posts: Posted[] = [];
  const own = {
    ...ports,
    posts: {
      post: async (one: Posted) => {
        posts.push(one);
        clock.at += 25;
        return answer();
      },
    },
  };
  const step = (state: unknown): Promise<Step<unknown>> =>
    webhookOrders.step(webhookOrders.parse(JSON.parse(JSON.stringify(state))), context, own);
  return { posts, step };
}
const okay: PostAnswer = { kind: "answered", status: 204, retry_after_ms: null, text: "" };

describe("the courier's steps", () => {
  it("[WBH-30] the intent is committed, then one POST is made, and its answer is the result", async () => {
    const { posts, step } = courier(() => okay);
    const first = await step(webhookOrders.open(context));
    expect([first.kind, posts]).toEqual(["continue", []]);
    const about = { id: "delivery-1", webhook_id: "w1", try: 3 };
    expect(first.effects).toEqual([{ decision: "intent", reason: "webhook_post", details: about }]);
    const last = await step(first.state);
    expect(posts).toEqual([posted]);
    expect(last.effects).toEqual([{ decision: "outcome", reason: "webhook_post", details: { ...about, status: 204 } }]);
    if (last.kind !== "end") throw new Error("it goes on");
    const [out, ...more] = last.out;
    expect([out?.message_kind, out?.recipient, more]).toEqual(["webhook_result", "runtime_queue", []]);
    expect(webhookResult.parse(out?.payload)).toMatchObject({
      delivery_id: "delivery-1",
      try: 3,
      ms: 25,
      answer: okay,
    });
    const stamped = { message_id: "result-01", trace_id: "delivery-1", scope_id, sender: "courier", taint: "web" };
    expect(envelope.safeParse({ ...out, ...stamped, created_at: order.created_at }).success).toBe(true);
  });
  it("[WBH-31] a crash before the POST, within it or after it makes it again with the same id, body and secrets", async () => {
    let crash = true;
    const { posts, step } = courier(() => {
      if (crash) throw new Error("the object is gone");
      return okay;
    });
    const before = webhookOrders.open(context);
    await step(before);
    const begun = await step(before);
    expect(posts).toEqual([]);
    await expect(step(begun.state)).rejects.toThrow("gone");
    crash = false;
    const first = await step(begun.state);
    const again = await step(begun.state);
    expect(posts).toEqual([posted, posted, posted]);
    expect([first.kind, again.kind]).toEqual(["end", "end"]);
  });
  it("[WBH-31] what stands in the row of a run is read back, and nothing else is taken for it", () => {
    expect(webhookOrders.parse({ kind: "webhook_order", at: "post" })).toEqual({ kind: "webhook_order", at: "post" });
    expect(() => webhookOrders.parse({ kind: "github_sync", at: "post" })).toThrow();
  });
});
