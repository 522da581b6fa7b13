/**
 * One scope's runtime over node:sqlite: its real doors, mailroom and signatures, put together without an object, an
 * alarm or agents. The test speaks in the agents' place.
 */
import type { EventSockets } from "../../durable-objects/event-sockets.ts";
import { AgentsDoor } from "../../durable-objects/runtime/doors-agents.ts";
import { DecisionDoor } from "../../durable-objects/runtime/doors-decisions.ts";
import { MindsDoor } from "../../durable-objects/runtime/doors-minds.ts";
import { TaskDoor } from "../../durable-objects/runtime/doors-tasks.ts";
import { Feed } from "../../durable-objects/runtime/feed.ts";
import { Mailroom } from "../../durable-objects/runtime/mailroom.ts";
import { type Minds, Scope } from "../../durable-objects/runtime/scope.ts";
import { Signatures } from "../../durable-objects/runtime/signatures.ts";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { build, type Message, type MessageInput } from "../../src/domain/message.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { Gate } from "../../src/domain/policy-gates.ts";
import { ok } from "../../src/domain/refusal.ts";
import { type ExecutionResult, executionOrder } from "../../src/domain/result.ts";
import type { Caller, CallerRole } from "../../src/domain/view.ts";
import { base, Keys, missing, must, repo } from "./held-scope.ts";
import { type NodeSql, nodeSql } from "./node-sql.ts";

const scope_id = "abcdefghijklmnop";
const keys = new Keys();
const none = async () => {};

/** Opened again over the same rows it is the same scope after a restart. */
export function openRuntime(sql: NodeSql = nodeSql(), has_mind: Minds = () => false, permissive = false) {
  const scope = new Scope(sql, has_mind, () => permissive);
  const made = scope.init({ scope_id, name: "test", token_id: "token", token_hash: "hash" });
  if (!made.ok) throw new Error(made.refusal.detail);
  const { rows } = scope.stores;
  const signatures = new Signatures(rows, {
    signer: () => keys,
    policyHash: () => scope.policies.inForce().view.policy_hash,
  });
  // Nobody has opened a socket.
  const feed = new Feed(scope.stores.events, { push: () => {} } as unknown as EventSockets);
  const tasks = new TaskDoor(scope, none);
  const decisions = new DecisionDoor(scope, signatures, none);
  const agents = new AgentsDoor(scope, { signatures, feed, after: none });
  const mailroom = new Mailroom(scope, signatures, none);
  const minds = new MindsDoor(scope, none);

  const as = (subject: string, role: CallerRole): Caller => ({
    ...{ scope_id, subject, role, via: "session", credential_id: subject },
  });
  const ada = as("ada", "approver");
  const taskRow = (id: string) => rows.tasks.get(id) ?? missing(`task ${id}`);
  function messageOf(
    task_id: string,
    fields: Pick<MessageInput, "message_kind" | "sender" | "recipient"> & Partial<MessageInput>,
  ): Message {
    const { trace_id, taint, created_at } = taskRow(task_id);
    const id = derivedId(
      canonicalJson([task_id, fields.message_kind, fields.content ?? "", fields.payload ?? {}]),
      "test",
      0,
    );
    return build({ message_id: id, content: "said", trace_id, scope_id, task_id, taint, created_at, ...fields });
  }
  return {
    sql,
    scope,
    rows,
    as,
    decisions,
    minds,
    ada,
    taskRow,
    tasks,
    messageOf,
    async ask(by: Caller, input: { title?: string; description?: string; labels?: string[]; plan?: string } = {}) {
      const { title = "A task", description = "Say hello.", labels = [], plan } = input;
      const source = { url: repo, ref: "HEAD" };
      const asked = {
        title,
        description,
        repo: source,
        labels,
        register_repo: true,
        ...(plan === undefined ? {} : { plan }),
      };
      const created = await tasks.createTask(by, asked, null);
      return created.ok ? ok(created.value.body.id) : created;
    },
    async approve(card: ApprovalView, by = ada) {
      return decisions.decide(by, card.id, { decision: "approve", content_hash: card.content_hash, comment: null });
    },
    async deny(card: ApprovalView, comment = "no", by = ada) {
      return decisions.decide(by, card.id, { decision: "deny", content_hash: null, comment, stop: false });
    },
    async changes(card: ApprovalView, comment: string, by = ada) {
      return decisions.decide(by, card.id, { decision: "request_changes", content_hash: null, comment });
    },
    async cards(task_id: string): Promise<ApprovalView[]> {
      const page = must(await decisions.approvals(ada, { status: "pending", limit: 100, cursor: null }));
      return page.items.filter((card) => card.task_id === task_id);
    },
    async onlyCard(task_id: string): Promise<ApprovalView> {
      const [card, ...more] = await this.cards(task_id);
      if (card === undefined || more.length > 0) throw new Error(`${more.length + (card ? 1 : 0)} cards wait`);
      return card;
    },
    /** The planner's answer, as it passes on its way to the proxy. */
    planResult(task_id: string, plan: string, more: Partial<MessageInput> = {}): Message {
      const payload = { base_commit: base };
      return messageOf(task_id, {
        ...{ message_kind: "plan_result", sender: "planner", recipient: "proxy", plan_markdown: plan, payload },
        ...more,
      });
    },
    observe: (message: Message) => mailroom.observe(message),
    deliver: (message: Message) => mailroom.deliver(message),
    expire: () => mailroom.expire(Date.now()),
    words(task_id: string, content: string, more: { ends_task?: boolean } & Partial<MessageInput> = {}): Message {
      const { ends_task = false, ...fields } = more;
      const payload = { route: "direct", ends_task, version: null };
      return messageOf(task_id, {
        ...{ message_kind: "agent_message", sender: "proxy", recipient: "runtime_queue", content, payload },
        ...fields,
      });
    },
    /** A task whose plan a person has approved. */
    async going(plan: string, by = ada): Promise<string> {
      const id = must(await this.ask(by, { plan }));
      await mailroom.observe(this.planResult(id, plan));
      must(await this.approve(await this.onlyCard(id)));
      return id;
    },
    /** The next attempt, claimed and begun. */
    async begun(agent = "crew-1") {
      const lease = (await agents.claim(scope_id, agent)) ?? missing("request to claim");
      const { attempt_id, entry, steps } = executionOrder.parse(lease.message.payload);
      const ref = { attempt_id, entry, agent, lease_id: lease.lease_id, epoch: lease.epoch };
      const entered = await agents.begin(scope_id, ref);
      if (entered.answer !== "go") throw new Error(`begin answered ${entered.answer}: ${entered.reason}`);
      const call = (number: number, tree: string | null = null) => ({
        ...{ call_id: `step-${number}`, step: number - 1, tool: "shell_execute", tree },
        arguments: canonicalJson({ command: steps[number - 1] ?? missing(`step ${number}`) }),
      });
      return {
        ref,
        lease,
        authorize: (number: number, tree: string | null = null) => agents.authorize(scope_id, ref, call(number, tree)),
        settle: (number: number, exit_code = 0, said?: string) =>
          agents.settle(
            ...([scope_id, ref, `step-${number}`] as const),
            { state: "exited", exit_code, signal: null, duration_ms: 1 },
            said,
          ),
        suspension: (number: number) => {
          const { call_id, step, tool, arguments: args } = call(number);
          return { call_id, step, tool, arguments: args, patch_key: "kept.patch", tree: "7".repeat(40) };
        },
      };
    },
    result(
      task_id: string,
      held: { ref: { attempt_id: string; entry: number; lease_id: string; epoch: number; agent: string } },
      how: Partial<ExecutionResult> & { content?: string; failed?: boolean } = {},
    ): Message {
      const { content = "1 file changed", failed = false, ...rest } = how;
      const { attempt_id, entry, lease_id, epoch, agent } = held.ref;
      const file = { path: "src/a.txt", change: "modified", old_mode: "100644", mode: "100644" } as const;
      const patch = { key: `${attempt_id}.patch`, bytes: 1, tree: "7".repeat(40), files: [file] };
      const payload: ExecutionResult = {
        ...{ task_id, attempt_id, entry, lease_id, epoch, end: "finished", success: !failed, output: "" },
        ...{ events: [], tool_errors: [], duration_ms: 1, exit_code: failed ? 1 : 0, suspension: null },
        patch: failed ? null : patch,
        ...rest,
      };
      const error = { error_code: "tool_failure", retryable: true, origin_agent: agent, attempt_number: 1 } as const;
      return messageOf(task_id, {
        ...{ message_kind: "execution_result", sender: agent, recipient: "runtime_queue", content },
        payload: { ...payload },
        ...(failed ? error : {}),
      });
    },
    /** From now on these are the only gates; the next message or call meets them. */
    gates(...gates: readonly Gate[]): void {
      this.policy({ gates: [...gates] });
    },
    policy(change: Partial<Policy>): void {
      const policy = { ...scope.policies.inForce().policy, ...change };
      sql.transaction(() => scope.policies.add(policy, { changed_by: "ada", reason: null }, Date.now()));
    },
    /** Messages of a kind that wait to leave. */
    sent(kind: Message["message_kind"]): Message[] {
      return sql
        .all<{ body: string }>("SELECT body FROM outbox ORDER BY seq")
        .map(({ body }) => JSON.parse(body) as Message) // What `outbox.put` wrote.
        .filter((message) => message.message_kind === kind);
    },
    audit: (type: string) => scope.stores.audit.after(0, 10_000).filter((link) => link.event_type === type),
    events: () => scope.stores.events.after(0, 10_000).events,
    attempts: (task_id: string) => rows.attempts.ofTask(task_id),
  };
}

/** A plan of one item; each line is a step of its own. */
export function planOf(steps: readonly string[], allow = "tools: [shell_execute], paths: ['src/**']"): string {
  const item = `{ id: a, runner: steps, verify: none, max_attempts: 2, allow: { ${allow} } }`;
  const blocks = steps.map((step) => `\`\`\`sh\n${step}\n\`\`\`\n`).join("\n");
  return `---\ntitle: A plan\ngoal: A goal\nitems:\n  - ${item}\n---\n## a\n${blocks}`;
}
