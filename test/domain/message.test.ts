import { describe, expect, it } from "vitest";
import { delivery } from "../../src/domain/delivery.ts";
import {
  build,
  check,
  envelope,
  errorCodes,
  executionStatuses,
  type Message,
  type MessageInput,
  type MessageKind,
  messageKinds,
  partyOf,
  routes,
  surfacesOf,
} from "../../src/domain/message.ts";
import type { ExecutionResult, VerificationResult } from "../../src/domain/result.ts";
import { limits } from "../../src/limits.ts";
import { attemptOrder, verifyOrder } from "../fakes/orders.ts";
import { consultMessage, replanMessage } from "../fakes/planning.ts";

/** Written again by hand, so that a slip in the table is seen. `any` is every agent, `crew` any executor. */
const written: Record<MessageKind, string[]> = {
  user_message: ["user > proxy"],
  plan_request: ["proxy > planner"],
  plan_result: ["planner > proxy"],
  research_request: ["planner > executor_queue"],
  research_result: ["crew > planner"],
  execution_status: ["runtime > proxy"],
  consult_planner: ["runtime > planner"],
  planner_guidance: ["planner > runtime_queue"],
  replan_request: ["runtime > planner"],
  system_event: ["runtime > any"],
  execution_request: ["runtime > executor_queue"],
  execution_result: ["crew > runtime_queue"],
  verification_request: ["runtime > verifier"],
  verification_result: ["verifier > runtime_queue"],
  agent_message: ["any > any", "proxy > runtime_queue"],
  agent_notice: ["any > planner"],
  plan_review_request: ["crew > planner"],
  plan_review_result: ["planner > crew"],
  shutdown_request: ["planner > any"],
  shutdown_response: ["any > planner"],
  github_event: ["runtime > courier"],
  github_request: ["courier > runtime_queue"],
  github_sync: ["runtime > courier"],
  github_answer: ["runtime > courier"],
  github_shown: ["courier > runtime_queue"],
  webhook_order: ["runtime > courier"],
  webhook_result: ["courier > runtime_queue"],
};
const names = {
  user: "user",
  runtime: "runtime",
  proxy: "proxy",
  planner: "planner",
  verifier: "verifier",
  crew: "crew-3",
  courier: "courier",
};
const agents = ["proxy", "planner", "verifier", "crew-3"];
const senders = Object.values(names);
const places = [...senders, "executor_queue", "runtime_queue"];
const expand = (word: string): string[] => (word === "any" ? agents : word === "crew" ? ["crew-3"] : [word]);
const allowed = new Set(
  Object.entries(written).flatMap(([kind, ways]) =>
    ways.flatMap((way) => {
      const [from = "", to = ""] = way.split(" > ");
      return expand(from).flatMap((sender) => expand(to).map((recipient) => `${kind}: ${sender} > ${recipient}`));
    }),
  ),
);

const executed: ExecutionResult = {
  ...{ task_id: "t", attempt_id: "a", entry: 0, lease_id: "l", epoch: 1, end: "crashed", success: false, output: "" },
  ...{ events: [], tool_errors: [], duration_ms: 1, exit_code: null, patch: null, suspension: null },
};
const verified: VerificationResult = {
  ...{ stage: "publish", verification_id: "v", ok: true, detail: "", retryable: false },
};
const said = { route: "direct", ends_task: false, version: null };
const asked = { research_id: "r", plan_run_id: "p", repo: "/r", commit: "c", answer_by: "2026-01-01T00:02:00.000Z" };
const found = { research_id: "r", plan_run_id: "p", lease_id: "l", epoch: 1, taint: "member", cut: false };

const posting = {
  ...{ delivery_id: "d", webhook_id: "w", try: 1, url: "https://hooks.example/in", secret_versions: [1], body: "{}" },
};
const posted = { delivery_id: "d", try: 1, at: "2026-01-01T00:00:00.000Z", ms: 1, answer: { kind: "failed", why: "" } };

const alice = { id: 1, login: "alice", is_bot: false };
const happened = {
  delivery_id: "d",
  repository: { id: 5, installation_id: 7, full_name: "octo/app", private: false, default_branch: "main" },
  happening: {
    ...{ kind: "changed", what: "edited", by: alice, comment_id: null },
    thread: { kind: "issue", number: 5, title: "Greet", url: "https://github.example/octo/app/issues/5", head: null },
  },
};
const nothing = { comment: null, check: null, pull: null };
const shown = {
  ...{ task_id: "t", version: 1, ...nothing, showed: null, failed: null },
  wrote: { ...nothing, sha: null },
};

/** Everything the kind needs besides its route. */
function needs(kind: MessageKind): Partial<MessageInput> {
  if (kind === "execution_status") return { payload: { status: "running", version: 1 } };
  if (kind === "plan_result") return { plan_markdown: "# plan", payload: { base_commit: "c" } };
  if (kind === "plan_request") return { payload: { repo: "/r", ref: "HEAD" } };
  if (kind === "execution_request") return { payload: { ...attemptOrder("c") } };
  if (kind === "execution_result") return { payload: { ...executed } };
  if (kind === "verification_request") return { payload: { ...verifyOrder("c") } };
  if (kind === "verification_result") return { payload: { ...verified } };
  if (kind === "agent_message") return { payload: { ...said } };
  if (kind === "research_request") return { constraints: { return_format: "list" }, payload: { ...asked } };
  if (kind === "research_result") return { payload: { ...found } };
  if (kind === "consult_planner") return { payload: consultMessage().payload };
  if (kind === "planner_guidance") return { payload: { consult_id: "c" } };
  if (kind === "replan_request") return { payload: replanMessage("x", "c").payload };
  if (kind === "github_event") return { payload: { ...happened } };
  if (kind === "github_request") return { payload: { ...happened, people: { alice: "write" } } };
  if (kind === "github_answer") {
    const repository = { id: 1, installation_id: 2, full_name: "o/r", private: false, default_branch: "main" };
    return { payload: { delivery_id: "d", repository, number: 1, words: "so" } };
  }
  if (kind === "github_sync") return { payload: { task_id: "t", version: 1 } };
  if (kind === "github_shown") return { payload: { ...shown } };
  if (kind === "webhook_order") return { payload: { ...posting } };
  if (kind === "webhook_result") return { payload: { ...posted } };
  return {};
}
function message(fields: Partial<MessageInput> = {}): Message {
  return envelope.parse({
    message_id: "message-1",
    trace_id: "trace-12",
    scope_id: "scopescopescope1",
    message_kind: "user_message",
    sender: "user",
    recipient: "proxy",
    content: "hello",
    taint: "member",
    created_at: "2026-01-01T00:00:00.000Z",
    ...fields,
  });
}
const failing = { error_code: "tool_failure", retryable: true, origin_agent: "runtime", attempt_number: 1 } as const;
const status = (fields: Partial<MessageInput>) =>
  message({ message_kind: "execution_status", sender: "runtime", ...fields });

describe("routes", () => {
  it("[MSG-1] every pair of places is tried for every kind: those of the table pass, all others are refused", () => {
    const passed: string[] = [];
    for (const message_kind of messageKinds)
      for (const sender of senders)
        for (const recipient of places) {
          const broken = check(message({ message_kind, sender, recipient, ...needs(message_kind) }));
          if (broken === null) passed.push(`${message_kind}: ${sender} > ${recipient}`);
          else expect(broken).toBe(`no route for ${message_kind} from ${sender} to ${recipient}`);
        }
    expect(passed.toSorted()).toEqual([...allowed].toSorted());
    expect(Object.keys(routes)).toEqual([...messageKinds]);
  });
  it("[MSG-2] whoever was spawned speaks as an executor, and nobody by a name that only looks like a party's", () => {
    for (const name of ["user", "runtime", "proxy", "planner", "executor", "verifier"])
      expect(partyOf(name)).toBe(name);
    for (const name of [
      "crew-1",
      "crew-8",
      "reviewer",
      "Runtime",
      "runtime ",
      "proxy-2",
      "__proto__",
      "constructor",
      "",
    ])
      expect(partyOf(name)).toBe("executor");
    expect(
      check(
        message({
          message_kind: "execution_result",
          sender: "proxy-2",
          recipient: "runtime_queue",
          payload: { ...executed },
        }),
      ),
    ).toBeNull();
    expect(check(message({ message_kind: "plan_request", sender: "proxy-2", recipient: "planner" }))).toContain(
      "no route",
    );
  });
});

describe("what a kind must carry", () => {
  it("[MSG-3] an error carries whether it may pass, whose it is and of which attempt", () => {
    for (const error_code of errorCodes) {
      const whole = {
        ...failing,
        error_code,
        message_kind: "execution_result",
        sender: "crew-1",
        recipient: "runtime_queue",
        payload: { ...executed },
      } as const;
      expect(check(message(whole))).toBeNull();
      for (const header of ["retryable", "origin_agent", "attempt_number"] as const)
        expect(check(message({ ...whole, [header]: null })), header).toBe(`a message with error_code needs ${header}`);
    }
    expect(check(message({ ...failing, retryable: false, attempt_number: 0 }))).toBeNull();
    expect(envelope.safeParse({ ...message(), error_code: "something_else" }).success).toBe(false);
  });
  it("[MSG-4] a status has its payload, and those that are errors their error code", () => {
    const errors = ["failed", "stuck", "blocked", "verification_failed"];
    for (const name of executionStatuses) {
      const payload = { status: name, version: 2 };
      const bare = check(status({ payload }));
      expect(bare).toBe(errors.includes(name) ? `execution_status ${name} needs an error_code` : null);
      expect(check(status({ payload, ...failing }))).toBeNull();
    }
    for (const payload of [
      {},
      { status: "running" },
      { status: "well", version: 1 },
      { status: "running", version: 1.5 },
      { status: "running", version: 1, more: 1 },
    ])
      expect(check(status({ payload })), JSON.stringify(payload)).toContain("needs a status payload");
  });
  it("[MSG-5] a plan result brings a plan or an error, a research request its bounds", () => {
    const result = { message_kind: "plan_result", sender: "planner", recipient: "proxy" } as const;
    expect(check(message(result))).toBe("plan_result needs plan_markdown or an error_code");
    expect(check(message({ ...result, plan_markdown: "x", payload: { base_commit: "c" } }))).toBeNull();
    expect(check(message({ ...result, ...failing }))).toBeNull();
    const way = { message_kind: "research_request", sender: "planner", recipient: "executor_queue" } as const;
    const research = { ...way, payload: { ...asked } };
    expect(check(message(research))).toBe("research_request needs constraints");
    const bounds = message({ ...research, constraints: { return_format: "list" } });
    expect(bounds.constraints).toEqual({
      return_format: "list",
      max_tokens: 500,
      tools_allowed: ["web_search", "file_read", "memory_search"],
    });
    for (const max_tokens of [0, -1, 1.5])
      expect(envelope.safeParse({ ...bounds, constraints: { return_format: "l", max_tokens } }).success).toBe(false);
  });
});

describe("payloads", () => {
  it("[MSG-12] a kind that carries something is held to its shape when it is built and when it arrives", () => {
    const ways: Partial<Record<MessageKind, string>> = {};
    for (const kind of messageKinds) ways[kind] = written[kind][0] ?? "";
    const loose: MessageKind[] = [];
    for (const message_kind of messageKinds) {
      const [from = "", to = ""] = (ways[message_kind] ?? "").split(" > ");
      const named = { message_kind, sender: expand(from)[0] ?? from, recipient: expand(to).at(-1) ?? to };
      const way = message_kind === "agent_message" ? { ...named, sender: "proxy", recipient: "runtime_queue" } : named;
      const good = message({ ...way, ...needs(message_kind) });
      expect(check(good), message_kind).toBeNull();
      if (check({ ...good, payload: { ...good.payload, surprise: 1 } }) === null) loose.push(message_kind);
      else expect(() => build({ ...good, payload: { ...good.payload, surprise: 1 } })).toThrow("not built");
      for (const key of Object.keys(good.payload)) {
        const { [key]: _gone, ...rest } = good.payload;
        const wrong = check({ ...good, payload: { ...rest, [key]: [{}] } });
        expect(wrong, `${message_kind} ${key}`).not.toBeNull();
      }
    }
    // Nobody sends these yet, so nobody knows what they carry.
    expect(loose).toEqual([
      ...["system_event", "agent_notice", "plan_review_request", "plan_review_result"],
      ...["shutdown_request", "shutdown_response"],
    ]);
  });
  it("[MSG-12] a plan says its commit, words to the runtime their route, and words between agents carry nothing else", () => {
    const plan = { message_kind: "plan_result", sender: "planner", recipient: "proxy", plan_markdown: "x" } as const;
    expect(check(message(plan))).toBe("plan_result needs the commit its plan is for");
    const spoken = { message_kind: "agent_message", sender: "proxy", content: "hello" } as const;
    expect(check(message({ ...spoken, recipient: "crew-1" }))).toBeNull();
    expect(check(message({ ...spoken, recipient: "runtime_queue" }))).toContain("route");
    expect(check(message({ ...spoken, recipient: "crew-1", payload: { do: "this" } }))).toContain("does not fit");
  });
  it("[MSG-11] each kind has its priority and its most deliveries: approved execution before research before the rest", () => {
    expect(Object.keys(delivery)).toEqual([...messageKinds]);
    expect(delivery.execution_request.priority).toBeGreaterThan(delivery.research_request.priority);
    for (const kind of messageKinds) {
      expect(delivery[kind].max_deliveries).toBe(limits.max_deliveries);
      if (kind !== "execution_request" && kind !== "research_request") expect(delivery[kind].priority).toBe(0);
    }
    expect(delivery.research_request.priority).toBeGreaterThan(0);
  });
});

describe("the envelope", () => {
  it("[MSG-6] it is a closed shape: unknown keys, missing keys and values out of bounds are refused", () => {
    const good = message();
    const bad: Record<string, unknown>[] = [
      { ...good, more: 1 },
      { ...good, message_id: "short" },
      { ...good, message_id: "x".repeat(65) },
      { ...good, trace_id: "" },
      { ...good, scope_id: "Scopescopescope1" },
      { ...good, scope_id: "scope" },
      { ...good, sender: "x".repeat(41) },
      { ...good, message_kind: "do_anything" },
      { ...good, taint: "trusted" },
      { ...good, urgency: "now" },
      { ...good, attempt_number: 1.5 },
      { ...good, payload: { f: Number.NaN } },
      { ...good, payload: [1] },
      { ...good, content: null },
      ...[
        "message_id",
        "trace_id",
        "scope_id",
        "message_kind",
        "sender",
        "recipient",
        "content",
        "taint",
        "created_at",
      ].map((gone) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== gone))),
    ];
    for (const each of bad) expect(envelope.safeParse(each).success, JSON.stringify(each)).toBe(false);
    expect(envelope.parse(JSON.parse(JSON.stringify(good)))).toEqual(good);
  });
  it("[MSG-6] what a message lacks is said: empty, not absent", () => {
    expect(message()).toMatchObject({
      task_id: null,
      work_item_id: null,
      payload: {},
      error_code: null,
      plan_markdown: null,
      artifacts: null,
      approval_token: null,
      urgency: "informational",
    });
  });
  it("[MSG-7] a message that breaks a rule is never built", () => {
    expect(() => build({ ...message(), recipient: "planner" })).toThrow(
      "no route for user_message from user to planner",
    );
    expect(() => build({ ...message(), error_code: "timeout" })).toThrow("needs retryable");
    expect(() => build({ ...message(), scope_id: "x" })).toThrow();
  });
});

describe("surfaces", () => {
  it("[MSG-10] a plan is for Review, what is done for Stream, what went wrong for Stream and Activity, the rest for Activity", () => {
    expect(surfacesOf({ message_kind: "plan_result", payload: {} })).toEqual(["review"]);
    const shown = executionStatuses.map((name) => [
      name,
      surfacesOf({ message_kind: "execution_status", payload: { status: name } }),
    ]);
    const both = ["stream", "activity"];
    expect(shown).toEqual([
      ["running", ["activity"]],
      ["done", ["stream"]],
      ["failed", both],
      ["stuck", both],
      ["blocked", both],
      ["verification_failed", both],
    ]);
    for (const message_kind of messageKinds.filter((kind) => kind !== "plan_result" && kind !== "execution_status"))
      expect(surfacesOf({ message_kind, payload: { status: "done" } })).toEqual(["activity"]);
  });
});
