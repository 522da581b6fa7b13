import { describe, expect, it } from "vitest";
import { noModel, proxy } from "../../src/agents/proxy.ts";
import { executionStatuses, type Message, messageKinds, statusPayload } from "../../src/domain/message.ts";
import { words } from "../../src/domain/payloads.ts";
import { testMessage } from "../fakes/messages.ts";
import { only, sample, stamped } from "../fakes/orders.ts";
import { drive, runContext } from "../fakes/world.ts";

/** What the proxy sends, each as the message it becomes; and that it touched nothing else. */
async function answers(message: Message) {
  const w = sample();
  w.models.names = [];
  const { out } = await drive(proxy, runContext(message, { agent: "proxy", lease: null }), w.ports, { dies: true });
  expect(w.asked).toEqual([]);
  expect(w.bus.asked).toEqual([]);
  return out.map((each) => stamped(each, "proxy"));
}
const failing = { error_code: "tool_failure", retryable: false, origin_agent: "planner", attempt_number: 0 } as const;
const status = (name: (typeof executionStatuses)[number], detail: string | null, version = 7) =>
  testMessage(1, {
    message_kind: "execution_status",
    sender: "runtime",
    recipient: "proxy",
    payload: { status: name, detail, version },
    ...(name === "running" || name === "done" ? {} : failing),
  });

describe("what a person asks", () => {
  it("[PRX-1] a wish that brings its plan goes to the planner with the plan unchanged", async () => {
    const plan_markdown = "---\ntitle: x\n---\r\n  spaces stay  \u0000";
    const payload = { repo: "/repos/sample", ref: "HEAD" };
    const sent = only(await answers(testMessage(1, { plan_markdown, payload, task_id: "task-1" })));
    expect(sent).toMatchObject({
      message_kind: "plan_request",
      recipient: "planner",
      plan_markdown,
      payload,
      content: "message 1",
    });
  });
  it("[PRX-2] without a plan and without a model it says what to configure, and the task ends with it", async () => {
    const sent = only(await answers(testMessage(1)));
    expect(sent).toMatchObject({ message_kind: "agent_message", recipient: "runtime_queue", content: noModel });
    expect(words.parse(sent.payload)).toEqual({ route: "direct", ends_task: true, version: null });
    for (const set of ["MODEL_PROXY", "MODEL_PLANNER", "MODEL_EXECUTOR", "key", "npm start -- --model-url URL"])
      expect(noModel).toContain(set);
  });
  it("[PRX-2] a word to a task that runs already ends nothing", async () => {
    const sent = only(await answers(testMessage(1, { payload: { follow_up: true } })));
    expect(words.parse(sent.payload).ends_task).toBe(false);
    for (const odd of ["true", 1, null])
      expect(
        words.parse(only(await answers({ ...testMessage(1), payload: { follow_up: odd } })).payload).ends_task,
      ).toBe(true);
  });
  it("[PRX-3] changes somebody asked for go to the planner", async () => {
    const sent = only(
      await answers(testMessage(1, { payload: { revise: true, repo: "/r", ref: "HEAD" }, content: "rather so" })),
    );
    expect(sent).toMatchObject({
      message_kind: "plan_request",
      recipient: "planner",
      content: "rather so",
      plan_markdown: null,
    });
    expect(only(await answers({ ...testMessage(1), payload: { revise: "yes" } })).message_kind).toBe("agent_message");
  });
});

describe("what happened, in words", () => {
  it("[PRX-4] a plan is announced, and why there is none is told as it was said", async () => {
    const result = { message_kind: "plan_result", sender: "planner", recipient: "proxy" } as const;
    const good = only(await answers(testMessage(1, { ...result, plan_markdown: "x", payload: { base_commit: "c" } })));
    expect(good.content).toContain("countersign");
    const bad = only(await answers(testMessage(1, { ...result, ...failing, content: "The plan has 2 problems." })));
    expect(bad.content).toBe("The plan has 2 problems.");
    for (const sent of [good, bad]) expect(words.parse(sent.payload).ends_task).toBe(false);
  });
  it("[PRX-5] each status has its words, the detail and the version it speaks of; what merely runs has none", async () => {
    const said = new Set<string>();
    for (const name of executionStatuses) {
      const sent = await answers(status(name, "the detail"));
      if (name === "running") {
        expect(sent).toEqual([]);
        continue;
      }
      const one = only(sent);
      expect(one.content).toContain("the detail");
      expect(words.parse(one.payload)).toEqual({ route: "direct", ends_task: false, version: 7 });
      said.add(one.content);
    }
    expect(said.size).toBe(executionStatuses.length - 1);
    expect(only(await answers(status("done", null))).content.trim()).toBe("Done.");
    expect(statusPayload.safeParse({ status: "done" }).success).toBe(false);
  });
  it("[PRX-6] it answers nothing else, and never sends work to the crew or the verifier", async () => {
    const spoken = ["user_message", "plan_result", "execution_status"];
    for (const message_kind of messageKinds.filter((kind) => !spoken.includes(kind))) {
      const { out } = await drive(
        proxy,
        runContext({ ...testMessage(1), message_kind }, { agent: "proxy" }),
        sample().ports,
      );
      expect(out, message_kind).toEqual([]);
    }
  });
});
