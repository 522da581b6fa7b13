/**
 * One scope's runtime as the product puts it together, in an object of its own: tasks, plans, decisions and entries over
 * the object's storage. Nothing is sent from here: what would leave lies in the outbox, in the same commit.
 */
import { DurableObject } from "cloudflare:workers";
import type { EventSockets } from "../../../durable-objects/event-sockets.ts";
import { AgentsDoor } from "../../../durable-objects/runtime/doors-agents.ts";
import { DecisionDoor } from "../../../durable-objects/runtime/doors-decisions.ts";
import { TaskDoor } from "../../../durable-objects/runtime/doors-tasks.ts";
import { Feed } from "../../../durable-objects/runtime/feed.ts";
import { Mailroom } from "../../../durable-objects/runtime/mailroom.ts";
import { Scope } from "../../../durable-objects/runtime/scope.ts";
import { Signatures } from "../../../durable-objects/runtime/signatures.ts";
import type { Signer } from "../../../durable-objects/runtime/tokens.ts";
import { durableSql } from "../../../durable-objects/sql.ts";
import { createSigner, readSigningKeys } from "../../../src/adapters/signer.ts";
import { build } from "../../../src/domain/message.ts";
import { executionOrder } from "../../../src/domain/result.ts";
import type { Caller } from "../../../src/domain/view.ts";
import type { ApprovalsEnv } from "./approvals-entry.ts";

const scope_id = "benchapprovals00";
const base_commit = "b".repeat(40);
const item = "{ id: a, runner: steps, verify: none, allow: { tools: [shell_execute], paths: ['src/**'] } }";
const plan = `---\ntitle: A plan\ngoal: A goal\nitems:\n  - ${item}\n---\n## a\n\`\`\`sh\necho a\n\`\`\`\n`;
const none = async () => {};

export interface Waiting {
  readonly id: string;
  readonly content_hash: string;
  readonly task_id: string;
}
export interface Decided {
  readonly card: Waiting;
  readonly by: string;
  readonly yes: boolean;
}
/** What the rows say after the storm. */
export interface Counted {
  readonly decided: number;
  readonly pending: number;
  /** Audit events of decisions taken, and of decisions refused. */
  readonly audited: { readonly decided: number; readonly refused: number };
  readonly tokens: number;
  readonly approved: number;
}

export class ApprovalsObject extends DurableObject<ApprovalsEnv> {
  readonly #scope: Scope;
  readonly #tasks: TaskDoor;
  readonly #decisions: DecisionDoor;
  readonly #mailroom: Mailroom;
  readonly #agents: AgentsDoor;
  #signer: Signer | null = null;
  constructor(ctx: DurableObjectState, env: ApprovalsEnv) {
    super(ctx, env);
    const scope = new Scope(durableSql(ctx));
    const signatures = new Signatures(scope.stores.rows, {
      signer: () => this.#signer,
      policyHash: () => scope.policies.inForce().view.policy_hash,
    });
    // Nobody has opened a socket.
    const feed = new Feed(scope.stores.events, { push: () => {} } as unknown as EventSockets);
    this.#scope = scope;
    this.#tasks = new TaskDoor(scope, none);
    this.#decisions = new DecisionDoor(scope, signatures, none);
    this.#mailroom = new Mailroom(scope, signatures, none);
    this.#agents = new AgentsDoor(scope, { signatures, feed, after: none });
  }

  async open({ signing }: { signing: string }): Promise<void> {
    const read = readSigningKeys(signing);
    if (!read.ok) throw new Error(read.why);
    this.#signer = createSigner(read.keys);
    this.#scope.init({ scope_id, name: "bench", token_id: "token", token_hash: "hash" });
  }

  /** Tasks whose plans wait in review. */
  async ask({ count }: { count: number }): Promise<Waiting[]> {
    const { rows } = this.#scope.stores;
    const found: Waiting[] = [];
    const input = { title: "A task", description: "", labels: [], repo: { url: "file:///repos/sample", ref: "HEAD" } };
    for (let at = 0; at < count; at++) {
      const made = await this.#tasks.createTask(callerOf("sue"), { ...input, plan, register_repo: true }, null);
      if (!made.ok) throw new Error(made.refusal.detail);
      const task_id = made.value.body.id;
      const { trace_id, created_at } = made.value.body;
      const said = { content: "A plan", plan_markdown: plan, payload: { base_commit } };
      const between = { message_kind: "plan_result", sender: "planner", recipient: "proxy" } as const;
      await this.#mailroom.observe(
        build({
          message_id: `${task_id}-plan`,
          trace_id,
          scope_id,
          task_id,
          taint: "member",
          created_at,
          ...between,
          ...said,
        }),
      );
      const [card] = rows.approvals.ofTask(task_id);
      if (card === undefined) throw new Error("no card was made");
      found.push({ id: card.id, content_hash: card.content_hash, task_id });
    }
    return found;
  }

  /** `ok`, or why not. */
  async decide({ card, by, yes }: Decided): Promise<string> {
    const { id, content_hash } = card;
    const decision = yes
      ? ({ decision: "approve", content_hash, comment: null } as const)
      : ({ decision: "deny", content_hash, comment: "no", stop: false } as const);
    const said = await this.#decisions.decide(callerOf(by), id, decision);
    return said.ok ? "ok" : said.refusal.code;
  }

  /** An executor that was waiting: claims what is there, and begins it under its checked token. */
  async claim({ agent }: { agent: string }) {
    const lease = await this.#agents.claim(scope_id, agent);
    if (lease === null) throw new Error("there is nothing to claim");
    const { attempt_id, entry } = executionOrder.parse(lease.message.payload);
    return { attempt_id, entry, agent, lease_id: lease.lease_id, epoch: lease.epoch };
  }
  async begin(ref: Awaited<ReturnType<ApprovalsObject["claim"]>>): Promise<void> {
    const entry = await this.#agents.begin(scope_id, ref);
    if (entry.answer !== "go") throw new Error(`begin answered ${entry.answer}: ${entry.reason}`);
  }
  async cancel({ task_id }: { task_id: string }): Promise<void> {
    await this.#tasks.cancelTask(callerOf("sue"), task_id, "measured");
  }

  async count({ cards }: { cards: readonly Waiting[] }): Promise<Counted> {
    const { rows, tokens, audit } = this.#scope.stores;
    const found = cards.map(({ id }) => rows.approvals.get(id));
    const yes = found.filter((card) => card?.status === "approved");
    const audited = { decided: 0, refused: 0 };
    for (let after = 0, more = true; more; ) {
      const links = audit.after(after, 1_000);
      for (const { event_type, actor, decision } of links)
        if (event_type === "approval" && actor === "user") audited[decision === "refused" ? "refused" : "decided"]++;
      after = links.at(-1)?.seq ?? after;
      more = links.length > 0;
    }
    return {
      decided: found.filter((card) => card?.status === "approved" || card?.status === "denied").length,
      pending: found.filter((card) => card?.status === "pending").length,
      audited,
      tokens: yes.reduce((sum, card) => sum + tokens.ofApproval(card?.id ?? "").length, 0),
      approved: yes.length,
    };
  }
}

function callerOf(subject: string): Caller {
  return { scope_id, subject, role: "approver", via: "token", credential_id: subject };
}
