import { describe, expect, it } from "vitest";
import { crew } from "../../src/agents/crew.ts";
import { executor } from "../../src/agents/executor.ts";
import { ModelFailure } from "../../src/agents/models.ts";
import { begunIn } from "../fakes/attempts.ts";
import { attemptMessage } from "../fakes/orders.ts";
import { findings, loopOrder, research, runs, says, thinker, toldIn } from "../fakes/thinking.ts";
import { drive, runContext } from "../fakes/world.ts";

const answers = (text: string) => ["answer", { text }] as const;
const looks = () => thinker(says("I look.", ["file_read", { path: "src/a.txt" }]), says("It is one.", answers("one")));

describe("a question of a planner", () => {
  it("[MIND-13] it is looked up in a checkout of the commit without set-up or network, and answered under its lease", async () => {
    const w = looks();
    const { message, payload } = findings(await research(w));
    expect(message).toMatchObject({ message_kind: "research_result", recipient: "planner", content: "one" });
    expect(payload).toEqual({
      ...{ research_id: "research-1-id", plan_run_id: "plan-1", lease_id: "lease-1", epoch: 3 },
      ...{ taint: "member", cut: false },
    });
    expect(toldIn(w, "told")[0]).toContain("Which words greet?");
    expect(toldIn(w, "told")[0]).toContain("one word");
    expect(toldIn(w, "result")[0]).toContain("one");
    expect(begunIn(w)).toEqual([]);
    expect(w.asked.find(({ method }) => method === "create")?.args[1]).toMatchObject({ owner: "message-3" });
    expect(w.minds.asked[0]?.payer).toEqual({ kind: "task", task_id: "task-1", why: "research" });
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[MIND-14] its model is offered nothing that changes anything, whatever the planner allows", async () => {
    const w = looks();
    const all = ["web_search", "file_read", "file_write", "file_edit", "shell_execute", "python_execute", "git_commit"];
    await research(w, { tools_allowed: all });
    expect(w.models.requests[0]?.tools.map(({ name }) => name).sort()).toEqual(["answer", "file_read"]);
    const writes = thinker(
      says("", ["file_write", { path: "src/a.txt", content: "x" }], runs("edit")),
      says("", answers("none")),
    );
    await research(writes, { tools_allowed: all });
    expect(writes.minds.used).toEqual([]);
    expect(begunIn(writes)).toEqual([]);
    expect(writes.asked.map(({ method }) => method)).not.toContain("write");
  });
  it("[MIND-14] each use is asked for; one that is refused is told, and another way is found", async () => {
    const w = looks();
    w.minds.using = () => ({ answer: "refused", rule: "files", reason: "not this one" });
    const { message } = findings(await research(w));
    expect(w.minds.used).toMatchObject([{ tool: "file_read", task_id: "task-1", agent: "research-1" }]);
    expect(toldIn(w, "result")[0]).toContain("not this one");
    expect(message.content).toBe("one");
  });
  it("[MIND-15] an answer longer than was asked for is cut, and says so", async () => {
    const w = thinker(says("", answers("\u{1F680}".repeat(1_000))));
    const { message, payload } = findings(await research(w, { max_tokens: 50 }));
    expect(payload.cut).toBe(true);
    expect(message.content).toMatch(/^\u{1F680}{40,50}\n\[cut: the answer was longer than 50 tokens\]$/u);
  });
  it("[MIND-15] what it read from elsewhere is said with the answer", async () => {
    const remembers = thinker(says("", ["memory_search", { query: "words" }]), says("", answers("one")));
    remembers.minds.memories = () => [
      {
        ...{ id: "m1", kind: "pattern", title: "Words", excerpt: "Say hello.", task_id: null },
        ...{ at: "2026-01-01T00:00:00.000Z", taint: "outsider" },
      },
    ];
    expect(findings(await research(remembers, {}, { dies: true })).payload.taint).toBe("outsider");
    const searches = thinker(says("", ["web_search", { query: "words" }]), says("", answers("one")));
    const found = { ...searches, ports: { ...searches.ports, search: { search: async () => [] } } };
    expect(findings(await research(found)).payload.taint).toBe("web");
  });
  it("[MIND-16] late, called off, or without a model that answers, it says so with the error, and leaves nothing", async () => {
    const late = looks();
    const over = findings(await research(late, { answer_by: 1_000_000 }));
    expect(over.message).toMatchObject({ error_code: "timeout", retryable: true });
    expect(late.models.requests).toEqual([]);
    const off = looks();
    const before = (_: unknown, index: number) => (index > 4 ? { cancelled: true } : undefined);
    expect(findings(await research(off, {}, { before })).message.error_code).toBe("timeout");
    const dumb = looks();
    dumb.models.script = () => new ModelFailure("unauthorized", "bad key", { model: "test/tame" });
    expect(findings(await research(dumb)).message.error_code).toBe("tool_failure");
    for (const w of [late, off, dumb]) expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[MIND-7] an object that dies before any commit of it asks for each use under one name, and answers the same", async () => {
    const [calm, dying] = [looks(), looks()];
    const [expected, seen] = [findings(await research(calm)), findings(await research(dying, {}, { dies: true }))];
    expect(seen.message.content).toBe(expected.message.content);
    expect(new Set(dying.minds.used.map(({ call_id }) => call_id)).size).toBe(1);
    expect(dying.minds.charged.length).toBe(dying.models.requests.length);
  });
  it("[MIND-13] an agent takes an attempt for an attempt and a question for a question", async () => {
    const w = looks();
    const attempt = runContext(attemptMessage(loopOrder(w.main)));
    expect(crew.open(attempt)).toEqual(executor.open(attempt));
    expect(crew.parse(JSON.parse(JSON.stringify(executor.open(attempt))))).toEqual(executor.open(attempt));
    expect(() => crew.parse({ kind: "research" })).toThrow();
    await expect(drive(crew, { ...attempt, lease: null }, w.ports)).rejects.toThrow("under a lease");
  });
});
