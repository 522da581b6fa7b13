/**
 * One scope: who it is, everything it stores, and the only way to change it: one transaction that loads, decides,
 * writes and records. [INV-05]
 */
import type { ModelRole } from "../../src/agents/models.ts";
import { type Result, refuse } from "../../src/domain/refusal.ts";
import { AuditLog, auditSchema } from "../audit-log.ts";
import { DurableQueue } from "../durable-queue.ts";
import { EventLog, eventSchema } from "../event-log.ts";
import { IdempotencyStore, idempotencySchema } from "../idempotency.ts";
import { Letters, lettersSchema } from "../letters.ts";
import { Outbox, outboxSchema } from "../outbox.ts";
import { People, peopleSchema } from "../people.ts";
import { queueSchema } from "../queue-rows.ts";
import { applySchemas, type Sql } from "../sql.ts";
import { TelemetryLog, telemetrySchema } from "../telemetry-log.ts";
import { AskLog, askSchema } from "./ask-log.ts";
import { Checkpoints, checkpointSchema } from "./checkpoints.ts";
import { Directory, directorySchema } from "./directory.ts";
import { expirySchema } from "./due-cards.ts";
import { endedSchema } from "./ended-tasks.ts";
import { GithubRows, githubSchema } from "./github-rows.ts";
import { HeardLetters, heardSchema } from "./heard.ts";
import { HookRows, hooksSchema } from "./hooks-rows.ts";
import { MemoryRows, memorySchema } from "./memory-rows.ts";
import { Policies } from "./policies.ts";
import { openRows, rowsSchema } from "./rows.ts";
import { StandingRows, standingSchema } from "./standing.ts";
import { Tokens, tokensSchema } from "./token-rows.ts";
import { type ScopeStores, Tx } from "./tx.ts";
import { hear } from "./webhooks.ts";
import { WebhookRows, webhooksSchema } from "./webhooks-rows.ts";

/** Whether a model is configured for the role. */
export type Minds = (role: ModelRole) => boolean;

export class Scope {
  readonly sql: Sql;
  readonly stores: ScopeStores;
  readonly directory: Directory;
  readonly policies: Policies;
  readonly people: People;
  readonly idempotency: IdempotencyStore;
  readonly #minds: Minds;
  readonly #permissive: () => boolean;
  constructor(sql: Sql, minds: Minds = () => false, permissive: () => boolean = () => false) {
    this.#minds = minds;
    this.#permissive = permissive;
    applySchemas(sql, {
      directory: directorySchema,
      people: peopleSchema,
      idempotency: idempotencySchema,
      queue: queueSchema,
      outbox: outboxSchema,
      audit: auditSchema,
      telemetry: telemetrySchema,
      checkpoints: checkpointSchema,
      events: eventSchema,
      rows: rowsSchema,
      ended: endedSchema,
      // After the rows, from which it takes over what was attached before.
      tokens: tokensSchema,
      standing: standingSchema,
      expiry: expirySchema,
      asks: askSchema,
      letters: lettersSchema,
      heard: heardSchema,
      memory: memorySchema,
      webhooks: webhooksSchema,
      hooks: hooksSchema,
      github: githubSchema,
    });
    this.sql = sql;
    const audit = new AuditLog(sql);
    const webhooks = new WebhookRows(sql);
    // What is told in the feed and is wanted elsewhere is on its way with the same commit.
    const events: EventLog = new EventLog(sql, (event, now) => hear({ webhooks, audit, events }, event, now));
    this.stores = {
      rows: openRows(sql),
      people: new People(sql),
      tokens: new Tokens(sql),
      standing: new StandingRows(sql),
      asks: new AskLog(sql),
      queue: new DurableQueue(sql),
      outbox: new Outbox(sql),
      letters: new Letters(sql),
      heard: new HeardLetters(sql),
      memory: new MemoryRows(sql),
      audit,
      checkpoints: new Checkpoints(sql, audit),
      telemetry: new TelemetryLog(sql),
      events,
      webhooks,
      hooks: new HookRows(sql),
      github: new GithubRows(sql),
      directory: new Directory(sql),
    };
    this.directory = this.stores.directory;
    this.policies = new Policies(sql);
    this.people = this.stores.people;
    this.idempotency = new IdempotencyStore(sql);
  }

  /** Makes the scope and its first admin token, once; again with the same token changes nothing. */
  init(input: { scope_id: string; name: string; token_id: string; token_hash: string }): Result<unknown> {
    const now = Date.now();
    const known = this.directory.self();
    if (known !== null && known.scope_id !== input.scope_id)
      return refuse("not_found", "This object belongs to another scope.");
    const done = this.sql.transaction(() => {
      this.directory.init(input);
      this.policies.init(now);
      const { token_id: id, token_hash: secret_hash } = input;
      return this.people.addToken({ id, name: "admin", role: "admin", secret_hash }, now);
    });
    if (!done.ok || known !== null) return done;
    this.commit((tx) =>
      tx.audit("auth", { trace_id: "scope" }, { decision: "scope_created", details: { name: input.name } }),
    );
    return done;
  }

  commit<T>(change: (tx: Tx) => T): T {
    const { scope_id } = this.self();
    return this.sql.transaction(() => {
      const { policy, view } = this.policies.inForce();
      const deployment = { has_mind: this.#minds, permissive_allowed: this.#permissive() };
      const identity = { scope_id, policy, policy_hash: view.policy_hash, ...deployment };
      return change(new Tx(this.stores, identity, Date.now()));
    });
  }
  /** Throws when the scope was never made. */
  self(): { scope_id: string; name: string } {
    const self = this.directory.self();
    if (self === null) throw new Error("this scope was never made");
    return self;
  }
  belongs(scope: string): void {
    if (this.self().scope_id !== scope) throw new Error("this runtime belongs to another scope");
  }
}
