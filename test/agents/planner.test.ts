import { describe, expect, it } from "vitest";
import { planner } from "../../src/agents/planner.ts";
import { SandboxFailure } from "../../src/agents/ports.ts";
import { noModel } from "../../src/agents/proxy.ts";
import type { Message, MessageInput } from "../../src/domain/message.ts";
import { messageKinds } from "../../src/domain/message.ts";
import { planResult } from "../../src/domain/payloads.ts";
import { unreachable } from "../fakes/attempts.ts";
import { testMessage } from "../fakes/messages.ts";
import { only, type Sample, sample, source, stamped } from "../fakes/orders.ts";
import { consultMessage, replanMessage } from "../fakes/planning.ts";
import { type Driving, drive, runContext } from "../fakes/world.ts";

const markdown = `---
title: Show the last page
goal: Every row is listed
items:
  - id: fix
    title: Fix it
    runner: steps
    allow: { tools: [shell_execute], paths: ["src/**"] }
    verify: none
---
## fix

\`\`\`sh
true
\`\`\`
`;
const request = (fields: Partial<MessageInput> = {}) =>
  testMessage(1, {
    message_kind: "plan_request",
    sender: "proxy",
    recipient: "planner",
    plan_markdown: markdown,
    payload: { repo: source, ref: "HEAD" },
    ...fields,
  });
const run = (w: Sample, message: Message, driving: Driving = {}) =>
  drive(planner, runContext(message, { agent: "planner", lease: null }), w.ports, driving);
const answer = async (w: Sample, message: Message) => stamped(only((await run(w, message)).out), "planner");
const mindless = () => {
  const w = sample();
  w.models.names = [];
  return w;
};

describe("a plan that was supplied", () => {
  it("[PLR-1] passes through unchanged, with the commit its reference names now", async () => {
    const w = sample();
    const sent = await answer(w, request());
    expect(sent).toMatchObject({
      message_kind: "plan_result",
      recipient: "proxy",
      content: "Show the last page",
      plan_markdown: markdown,
      error_code: null,
      urgency: "needs_attention",
    });
    expect(planResult.parse(sent.payload)).toEqual({ base_commit: w.main });
    const next = w.repo.commit(w.main, { "README.md": "next\n" });
    w.repo.branches.set("next", next);
    expect((await answer(w, request({ payload: { repo: source, ref: "next" } }))).payload).toEqual({
      base_commit: next,
    });
  });
  it("[PLR-1] it only looks the reference up: nothing is made, written or run", async () => {
    const w = sample();
    await run(w, request(), { dies: true });
    expect(new Set(w.asked.map(({ method }) => method))).toEqual(new Set(["resolve"]));
    expect(w.artifacts.stored.size).toBe(0);
    expect(w.bus.asked).toEqual([]);
  });
  it("[PLR-2] a plan with problems goes back with their number and the first one's line, and the repository is not asked", async () => {
    const w = sample();
    for (const bad of [
      "",
      "# no front matter",
      markdown.replace("goal:", "gaol:"),
      markdown.replace("## fix", "## other"),
    ]) {
      const sent = await answer(w, request({ plan_markdown: bad }));
      expect(sent).toMatchObject({
        message_kind: "plan_result",
        plan_markdown: null,
        error_code: "tool_failure",
        retryable: false,
      });
      expect(sent.content).toMatch(/^The plan has \d+ problems; the first, on line \d+: ./);
    }
    expect(w.asked).toEqual([]);
  });
  it("[PLR-3] a repository that is away for a while is waited for; one that cannot be read is said so, in its words", async () => {
    const w = sample();
    let left = 5;
    w.faults.next = () => (left-- > 0 ? unreachable() : null);
    const ended = await run(w, request());
    expect(stamped(only(ended.out), "planner").error_code).toBeNull();
    expect(ended.waits).toEqual([500, 1000, 2000, 4000, 5000]);
    w.faults.next = unreachable;
    expect(await answer(w, request())).toMatchObject({
      error_code: "tool_failure",
      retryable: false,
      content: "The repository could not be read: the host does not answer",
    });
    w.faults.next = () => new SandboxFailure("ref_not_found", "there is no branch x");
    expect((await answer(w, request())).content).toContain("there is no branch x");
    const unknown = await answer(sample(), request({ payload: { repo: "/repos/other", ref: "HEAD" } }));
    expect(unknown).toMatchObject({ plan_markdown: null, error_code: "tool_failure" });
  });
  it("[PLR-3] a request without its repository is a bug: thrown on, not answered", async () => {
    for (const payload of [{}, { repo: source, ref: 1 }])
      await expect(run(sample(), { ...request(), payload })).rejects.toThrow();
  });
});

describe("without a model", () => {
  it("[PLR-4] a wish without a plan, a consultation and a new plan are answered at once with what to configure", async () => {
    const w = mindless();
    const asked = [
      [request({ plan_markdown: null }), "plan_result", "proxy"],
      [consultMessage(), "planner_guidance", "runtime_queue"],
      [replanMessage(markdown, w.main), "plan_result", "proxy"],
    ] as const;
    for (const [message, message_kind, recipient] of asked)
      expect(await answer(w, message)).toMatchObject({
        message_kind,
        recipient,
        content: noModel,
        error_code: "tool_failure",
        retryable: false,
      });
    expect(w.asked).toEqual([]);
  });
  it("[PLR-5] everything else is taken and leaves nothing behind", async () => {
    const spoken = ["plan_request", "consult_planner", "replan_request", "research_result"];
    for (const message_kind of messageKinds.filter((kind) => !spoken.includes(kind))) {
      const w = sample();
      expect((await run(w, { ...testMessage(1), message_kind })).out, message_kind).toEqual([]);
      expect(w.asked).toEqual([]);
    }
  });
});
