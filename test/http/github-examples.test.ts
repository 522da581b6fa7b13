/** GitHub's door: every example that GitHub's own library has, and what no GitHub ever sent. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { ignoredWhy } from "../../src/domain/github/ignored.ts";
import { defaultTriggers } from "../../src/domain/github/triggers.ts";
import { signatureOf } from "../fakes/github-door.ts";
import { comment, issue, payload } from "../fakes/github-payloads.ts";
import { door, guid, labeled } from "./github-world.ts";
import { world } from "./world.ts";

type Json = Record<string, unknown>;
interface Example {
  readonly name: string;
  readonly action: string;
  readonly body: Json;
}
function setOf(server: string): Example[] {
  const file = createRequire(import.meta.url).resolve(`@octokit/webhooks-examples/${server}/index.json`);
  return (JSON.parse(readFileSync(file, "utf8")) as { name: string; examples: Json[] }[]).flatMap(
    ({ name, examples: all }) =>
      all.map((body) => ({ name, action: typeof body.action === "string" ? body.action : "-", body })),
  );
}
const githubs = setOf("api.github.com");
/** What GitHub's own servers send that is not among those, word for word. */
const servers = new Map(
  ["31", "32", "33", "34", "35"]
    .flatMap((version) => setOf(`ghes-${version}`))
    .map((example) => [JSON.stringify(example), example] as const),
);
for (const example of githubs) servers.delete(JSON.stringify(example));
const examples: readonly Example[] = [...githubs, ...servers.values()];
describe("every example of GitHub's own library", () => {
  /** What each of them is, with a trigger for whatever can be one, and an installation where the example has none. */
  const meant = (name: string, action: string): string => {
    const installation = ["installation", "installation_repositories", "repository"];
    if (name === "ping") return "ping";
    if (installation.includes(name))
      return name === "repository" && ["created", "edited"].includes(action) ? "unknown_action" : "accepted";
    return (
      outcomes[`${name}.${action}`] ??
      (Object.keys(outcomes).some((known) => known.startsWith(`${name}.`)) ? "unknown_action" : "unknown_event")
    );
  };
  const outcomes: Record<string, string> = {
    "issues.labeled": "accepted",
    "issues.unlabeled": "accepted",
    "issues.assigned": "accepted",
    "issues.edited": "accepted",
    "issues.deleted": "accepted",
    "issues.reopened": "accepted",
    "issues.transferred": "accepted",
    "issue_comment.created": "no_command",
    "issue_comment.edited": "accepted",
    "issue_comment.deleted": "accepted",
    "pull_request.labeled": "accepted",
    "pull_request.unlabeled": "accepted",
    "pull_request.assigned": "accepted",
    "pull_request.review_requested": "accepted",
    "pull_request.closed": "accepted",
    "pull_request.reopened": "accepted",
    "pull_request_review.submitted": "no_command",
    "pull_request_review_comment.created": "no_command",
    "pull_request_review_comment.edited": "accepted",
    "pull_request_review_comment.deleted": "accepted",
    "check_run.completed": "not_failed|not_ours",
    "check_run.requested_action": "not_ours",
  };
  const armed = (body: Json): string =>
    JSON.stringify(body.installation === undefined ? { ...body, installation: { id: 1 } } : body);
  const postAll = async (at: ReturnType<typeof door>, make: (example: Example) => string, headers = {}) => {
    const answers = [];
    for (const [n, example] of examples.entries())
      answers.push(
        await at.post(make(example), { "x-github-event": example.name, "x-github-delivery": guid(n), ...headers }),
      );
    return answers;
  };

  it("[GHI-37] is answered 2xx, by its route or as a counted ignore; posted again it makes nothing", async () => {
    expect([githubs.length, servers.size]).toEqual([329, 80]);
    const at = door();
    const logins = ["Codertocat", "octocat", "lukeify", "gr2m"];
    at.github.triggers = { ...defaultTriggers, label: { on: true, name: "bug" }, logins };
    const answers = await postAll(at, ({ body }) => armed(body));
    for (const [n, { status, body }] of answers.entries()) {
      const { name, action } = examples[n] ?? { name: "", action: "" };
      const got: string = body.why ?? body.status;
      expect(meant(name, action).split("|"), `${n} ${name}.${action}`).toContain(got);
      expect(status).toBe(got === "accepted" ? 202 : 200);
      if (body.status === "ignored") expect(ignoredWhy).toContain(got);
    }
    const { delivered, installed, counted } = at.github;
    expect(delivered.length + installed.length + counted.length).toBe(examples.length);
    expect(delivered.length).toBeGreaterThan(20);
    const made = [delivered.length, installed.length];
    const again = await postAll(at, ({ body }) => armed(body));
    expect(again.map(({ status }) => status)).toEqual(again.map(() => 200));
    expect(again.filter(({ body }) => body.status === "accepted")).toEqual([]);
    expect([delivered.length, installed.length]).toEqual(made);
  });
  it("[GHI-37] as it is, most come from no App's installation, and are counted so", async () => {
    const at = door();
    const answers = await postAll(at, ({ body }) => JSON.stringify(body));
    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    expect(at.github.counted.filter((why) => why === "- no_installation").length).toBe(31);
  });
  it("[GHI-31] signed wrongly is 401, and nothing is stored", async () => {
    const at = door();
    const answers = await postAll(at, ({ body }) => armed(body), {
      "x-hub-signature-256": signatureOf("another body"),
    });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect([at.github.calls, at.runtime.calls]).toEqual([0, []]);
  });
});

describe("what GitHub never sends", () => {
  /** The body with one field, at whatever depth, put into another's place. */
  function* spoilt(body: Json, depth = 3): Generator<Json> {
    const odd = [null, -1, [], "x".repeat(300), { a: {} }];
    for (const [at, [key, value]] of Object.entries(body).entries()) {
      yield { ...body, [key]: odd[at % odd.length] };
      if (depth > 1 && typeof value === "object" && value !== null && !Array.isArray(value))
        for (const inner of spoilt(value as Json, depth - 1)) yield { ...body, [key]: inner };
    }
  }
  const used = [
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "check_run",
    "installation",
    "repository",
  ];

  it("[GHI-39] with any field of another type is answered 2xx all the same", async () => {
    const at = door();
    const one = used.map((name) => examples.find((example) => example.name === name && example.action !== "opened"));
    const mine = [
      payload("labeled", { issue: issue(), label: { name: "countersign" } }),
      payload("created", { issue: issue(), comment: comment("/countersign approve") }),
    ];
    const bodies: [string, Json][] = [
      ...one.flatMap((example): [string, Json][] =>
        example === undefined ? [] : [[example.name, { ...example.body, installation: { id: 1 } }]],
      ),
      ["issues", mine[0] ?? {}],
      ["issue_comment", mine[1] ?? {}],
    ];
    let sent = 0;
    for (const [name, body] of bodies)
      for (const wrong of spoilt(body, 2)) {
        sent += 1;
        const answer = await at.post(JSON.stringify(wrong), { "x-github-event": name });
        if (answer.status >= 300)
          expect.fail(`${name} ${answer.status} ${answer.text} ${JSON.stringify(wrong).slice(0, 400)}`);
      }
    expect(sent).toBeGreaterThan(500);
  });
  it("[GHI-39] deep, doubled, odd or huge JSON is answered, and never with a fault of ours", async () => {
    const at = door();
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const bodies = [
      "null",
      "5",
      '"x"',
      "[]",
      "{}",
      deep,
      `{"action":"labeled","issue":${deep}}`,
      labeled.replace('"issue":{', `"issue":{"deep":${deep},`),
      `{"__proto__":{"action":"labeled"}}`,
      labeled.replace("It does.", "\\ud800\\u0000\\u202e"),
    ];
    for (const raw of bodies) expect((await at.post(raw)).status, raw.slice(0, 40)).toBeLessThan(300);
    // Of a key that stands twice the last one holds, as in every reader of JSON that GitHub's own senders know.
    const twice = labeled.replace('"action":"labeled"', '"action":"opened","action":"labeled"');
    expect((await at.post(twice)).body).toEqual({ status: "accepted" });
    const huge = labeled.replace("It does.", "x".repeat(4 * 1024 * 1024));
    expect((await at.post(huge)).status).toBe(202);
    expect(JSON.stringify(at.github.delivered.at(-1)).length).toBeLessThan(100_000);
  });
  it("[GHI-39] the address takes nothing but a POST, and is no page", async () => {
    const { ask } = world();
    const wrong = await ask("GET", "/webhooks/github");
    expect([wrong.status, wrong.headers.get("allow"), wrong.headers.get("cache-control")]).toEqual([
      405,
      "POST",
      "no-store",
    ]);
  });
});
