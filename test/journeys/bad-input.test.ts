import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect } from "../../src/cli/client.ts";
import { safeGitEnv } from "../../src/dev/git.ts";
import { limits } from "../../src/limits.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road } from "./road.ts";

let road: Road;
/** A task of `road` and its card, and the tokens of others. */
let task: string;
let card: { id: string; content_hash: string };
let submitter: string;
let stranger: string;

const token = z.looseObject({ token: z.string() });
const plan = planOf([{ id: "only", steps: ["true"] }]);

beforeAll(async () => {
  road = await openRoad();
  task = await road.ask(plan);
  card = await road.card(task, "plan");
  submitter = (await road.client.post("/api/tokens", { name: "ci", role: "submitter" }, token)).token;
  const secrets = parseEnv(readFileSync(join(road.service.state, "secrets.env"), "utf8"));
  const deployment = connect(road.service.url, secrets.COUNTERSIGN_ADMIN_TOKEN ?? "");
  stranger = (await deployment.post("/api/scopes", { name: "elsewhere" }, token)).token;
});
afterAll(() => road.close());

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string | null;
  readonly body?: unknown;
}
/** As a program sends it: texts and streams go out as they are, everything else as JSON. */
async function send({ method = "POST", path = "/api/tasks", token = road.service.token, body }: Sent) {
  const answer = await fetch(road.service.url + path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: asSent(body), duplex: "half" as const }),
  });
  return { status: answer.status, type: answer.headers.get("content-type"), body: problem.parse(await answer.json()) };
}
function asSent(body: unknown): string | ReadableStream {
  return typeof body === "string" || body instanceof ReadableStream ? body : JSON.stringify(body);
}
const problem = z.looseObject({
  code: z.string(),
  detail: z.string(),
  status: z.number(),
  title: z.string(),
  trace_id: z.string(),
});

/** What every refusal must be: its own status, one code, and a sentence that says what to do. */
async function refusal(sent: Sent, status: number, code: string, detail: RegExp) {
  const answer = await send(sent);
  expect(answer).toMatchObject({ status, type: "application/problem+json", body: { status, code } });
  expect(answer.body.detail).toMatch(detail);
  return answer.body;
}
/** What refuses a body reads no more of it, and a busy machine may see the connection's end before the answer. */
async function untilHeard<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TypeError && error.message === "fetch failed" && tries < 5)) throw error;
    }
}
const asking = (more: object) => ({ title: "Bad", repo: { url: road.repo.url, ref: "main" }, plan, ...more });

describe.concurrent("what cannot be right is refused at the door", () => {
  it("[BAD-1] JSON that is not JSON, is empty, or is no text, with its place", async () => {
    await refusal({ body: '{"title": "x",}' }, 400, "bad_request", /not valid JSON at line 1, column 15.*correct it/);
    await refusal({ body: "" }, 400, "bad_request", /empty: send a JSON object/);
    await refusal({ body: '{"title": "\\ud800"}' }, 400, "bad_request", /surrogate.*send whole characters/);
  });

  it("[BAD-2] a field that nobody knows, is missing, or holds the wrong thing, by its name", async () => {
    const { errors } = await refusal(
      { body: asking({ titel: "x" }) },
      400,
      "bad_request",
      /unknown field "titel": remove it/,
    );
    expect(errors).toEqual([{ path: "titel", message: expect.any(String) }]);
    await refusal({ body: asking({ title: undefined }) }, 400, "bad_request", /title: .*Correct it/);
    await refusal({ body: asking({ repo: { url: 7 } }) }, 400, "bad_request", /repo\.url: /);
  });

  it("[BAD-3] a plan that cannot be read, with every problem's line", async () => {
    const bad = async (text: string, said: RegExp) => {
      const { problems } = await refusal({ body: asking({ plan: text }) }, 422, "invalid_plan", said);
      return z
        .array(z.object({ line: z.number(), column: z.number(), message: z.string() }))
        .min(1)
        .parse(problems);
    };
    const line = (text: string, word: string) => text.split("\n").findIndex((row) => row.includes(word)) + 1;

    const yaml = plan.replace("goal:", "goal: [");
    expect((await bad(yaml, /Line \d+/)).map((found) => found.line)[0]).toBeGreaterThanOrEqual(line(yaml, "goal: ["));

    const unknown = planOf([{ id: "only", steps: ["true"], depends_on: ["nobody"] }]);
    expect((await bad(unknown, /nobody/))[0]?.line).toBe(line(unknown, "- nobody"));

    const cycle = planOf([
      { id: "hen", steps: ["true"], depends_on: ["egg"] },
      { id: "egg", steps: ["true"], depends_on: ["hen"] },
    ]);
    expect((await bad(cycle, /hen.*egg|egg.*hen/)).length).toBe(1);
    await bad("no front matter at all", /Line 1/);
  });

  it("[BAD-4] a repository that is not there, not registered, or not to be named here", async () => {
    const { folder } = road.repo;
    const to = (url: string, ref = "main") => ({ body: asking({ repo: { url, ref } }) });
    await refusal(to(`file://${folder}/../nothing`), 422, "repo_unreachable", /did not answer: check the address/);
    await refusal(to("file:///etc"), 422, "repo_not_allowed", /may not be used here/);
    await refusal(to("https://10.0.0.1/x.git"), 422, "repo_not_allowed", /private network/);
    await refusal(to("https://user:secret@example.com/x.git"), 422, "repo_not_allowed", /user name or password/);
    await refusal(to("git@example.com:x/y.git"), 422, "repo_not_allowed", /not a URL.*Use https/);
    await refusal(to("ext::sh -c true"), 422, "repo_not_allowed", /Use https/);
    await refusal(to(road.repo.url, "no-such-branch"), 422, "ref_not_found", /no branch, tag or commit no-such-branch/);
    await refusal(to(road.repo.url, "--upload-pack=x"), 422, "ref_not_found", /use for example main/);

    const other = join(folder, "../other");
    mkdirSync(other);
    execFileSync("git", ["init", "--quiet", other], { env: safeGitEnv() });
    const unregistered = { ...to(`file://${join(other)}`), token: submitter };
    await refusal(unregistered, 422, "repo_not_registered", /not registered.*an admin adds it/);
  });

  it("[BAD-5] nobody, somebody with a wrong token, and somebody whose role is too small", async () => {
    const none = await refusal({ token: null, body: asking({}) }, 401, "unauthenticated", /Nobody is signed in: send/);
    expect(none.title).toBe("Unauthenticated");
    const real = road.service.token;
    const forged = [`${real.slice(0, -1)}${real.endsWith("A") ? "B" : "A"}`, "Bearer", "cs_x", `${real}x`];
    for (const token of forged)
      await refusal({ token, body: asking({}) }, 401, "unauthenticated", /unknown or was revoked/);
    const approve = {
      path: `/api/approvals/${card.id}/approve`,
      token: submitter,
      body: { content_hash: card.content_hash },
    };
    await refusal(approve, 403, "forbidden", /needs the role approver.*Ask an admin/);
  });

  it("[BAD-6] what belongs to another scope is not there, and nothing about it can be told or done", async () => {
    const theirs = { token: stranger };
    const get = (path: string) => ({ ...theirs, method: "GET", path });
    for (const path of ["", "/events", "/patch", "/artifacts"])
      await refusal(get(`/api/tasks/${task}${path}`), 404, "task_not_found", /no task/i);
    await refusal({ ...theirs, path: `/api/tasks/${task}/cancel`, body: {} }, 404, "task_not_found", /no task/i);
    await refusal(
      { ...theirs, path: `/api/tasks/${task}/messages`, body: { text: "hi" } },
      404,
      "task_not_found",
      /no task/i,
    );
    const { id, content_hash } = card;
    await refusal(get(`/api/approvals/${id}`), 404, "approval_not_found", /no approval/i);
    await refusal(
      { ...theirs, path: `/api/approvals/${id}/approve`, body: { content_hash } },
      404,
      "approval_not_found",
      /no approval/i,
    );
    await refusal(
      { ...theirs, path: `/api/approvals/${id}/deny`, body: { reason: "no" } },
      404,
      "approval_not_found",
      /no approval/i,
    );
    const { trace_id } = await road.task(task);
    const rows = connect(road.service.url, stranger).get(
      `/api/audit?trace_id=${trace_id}`,
      z.object({ items: z.array(z.unknown()) }),
    );
    expect((await rows).items).toEqual([]);
    expect(await road.card(task, "plan")).toMatchObject({ status: "pending", decisions: [] });
  });

  it("[BAD-7] a body of 2 MB, also one that does not say how large it is, and a plan over its limit", async () => {
    const large = JSON.stringify(asking({ description: "x".repeat(2 * 1024 * 1024) }));
    const said = new RegExp(`larger than ${limits.request_body_bytes} bytes: send less`);
    await untilHeard(() => refusal({ body: large }, 413, "body_too_large", said));
    await untilHeard(() => refusal({ body: new Blob([large]).stream() }, 413, "body_too_large", said));
    const long = planOf([{ id: "only", steps: [`: ${"x".repeat(300 * 1024)}`] }]);
    await refusal({ body: asking({ plan: long }) }, 422, "invalid_plan", /256 KB|262144/);
  });

  it("[BAD-8] a decision that decides nothing, an address that is none, a method it does not take", async () => {
    const path = `/api/approvals/${card.id}`;
    await refusal({ path: `${path}/approve`, body: {} }, 400, "bad_request", /content_hash/);
    await refusal({ path: `${path}/deny`, body: { reason: " " } }, 400, "bad_request", /reason/);
    await refusal({ path: "/api/nothing", body: {} }, 404, "not_found", /GET \/api\/openapi\.json lists/);
    await refusal(
      { method: "PUT", path: "/api/tasks", body: {} },
      405,
      "method_not_allowed",
      /takes POST, GET|takes GET, POST/,
    );
    await refusal(
      { method: "GET", path: "/api/attempts/none/terminal" },
      400,
      "bad_request",
      /open this address with a WebSocket/,
    );
  });
});
