/**
 * What a scope remembers of its tasks: one table a noun, each row a document parsed by its schema when it is
 * read. Columns beside the document exist only to find it. [ROW-*]
 */
import { z } from "zod";
import { lifeStates } from "../../src/domain/approval.ts";
import { approvalView } from "../../src/domain/approval-view.ts";
import { checkView, verdicts } from "../../src/domain/evidence.ts";
import { keepNotes } from "../../src/domain/gate-card.ts";
import { insightKinds } from "../../src/domain/insight.ts";
import { errorCode, messageKinds, taint } from "../../src/domain/message.ts";
import { environment, planItem } from "../../src/domain/plan-shape.ts";
import { patchRef, suspension } from "../../src/domain/result.ts";
import { recovery } from "../../src/domain/stuck.ts";
import { keepTaint, taintSource } from "../../src/domain/taint.ts";
import {
  approvalKinds,
  askedElsewhere,
  attemptStates,
  budget,
  callerRole,
  gateNote,
  itemStates,
  phases,
  taskStatuses,
} from "../../src/domain/view.ts";
import { pageOf, type Sql } from "../sql.ts";
import { type CallRow, callRow, grantRow, type KillRow, killRow, type LateRow, lateRow } from "./call-rows.ts";
import { type HeldRow, heldRow, stepGate } from "./held-rows.ts";
import { type AccountRow, accountRow, type RungRow, rungRow, type ThoughtRow, thoughtRow } from "./mind-rows.ts";
import { type PhaseRow, phaseRow } from "./phase-rows.ts";
import { type ResearchRow, researchRow, type UseRow, useRow } from "./reading-rows.ts";

export const taskRow = z.strictObject({
  id: z.string(),
  trace_id: z.string(),
  title: z.string(),
  description: z.string(),
  repo: z.string(),
  ref: z.string(),
  labels: z.array(z.string()),
  /** The role of who set them: to a standing approval only an approver's labels mean anything. */
  labels_by_role: callerRole.nullable().default(null),
  /** Of a task that was asked for elsewhere: by whom, where, and what of their words nobody sees on the page there. */
  asked: askedElsewhere.nullable().default(null),
  /** Branch of an earlier task that this one's work goes on; null for a branch of its own. */
  follows: z.string().nullable().default(null),
  budget: budget.nullable(),
  taint,
  /** Where the taint came from, as it rose. */
  taint_sources: z.array(taintSource).default([]),
  gate_notes: z.array(gateNote).default([]),
  status: z.enum(taskStatuses),
  waiting_on: z.enum(approvalKinds).nullable(),
  phase: z.enum(phases).nullable(),
  routed: z.boolean(),
  /** Grows with every change; statuses carry it so that an older one is ignored. */
  version: z.number().int(),
  words_version: z.number().int(),
  base_commit: z.string().nullable(),
  /** The task's branch: where it is and the bundle that brings it. Null until the first merge. */
  tip: z.strictObject({ commit: z.string(), bundle_key: z.string() }).nullable(),
  branch: z.string(),
  /** Times the planner was asked for another approach, and for smaller items. */
  replans: z.number().int().default(0),
  decomposes: z.number().int().default(0),
  publishing: z.strictObject({ verification_id: z.string(), tries: z.number().int() }).nullable(),
  published: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  ended_at: z.string().nullable(),
  error_code: errorCode.nullable(),
  reason: z.string().nullable(),
});
export type TaskRow = z.infer<typeof taskRow>;

export const planRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  version: z.number().int(),
  status: z.enum(["in_review", "approved", "denied", "superseded"]),
  title: z.string(),
  goal: z.string(),
  plan_hash: z.string(),
  markdown: z.string(),
  base_commit: z.string(),
  environment,
  minutes: z.number().nullable(),
  budget: z.strictObject({ tokens: z.number(), usd: z.number() }).default({ tokens: 0, usd: 0 }),
  /** The prompt and the model that wrote it; null where a person brought it, or nobody kept who wrote it. */
  written_by: z.string().nullable().default(null),
});
export type PlanRow = z.infer<typeof planRow>;

export const itemRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  plan_id: z.string(),
  ord: z.number().int(),
  /** The item with its defaults, as it was hashed. */
  spec: planItem,
  item_hash: z.string(),
  state: z.enum(itemStates),
  outcome: z.enum(["open", "done", "failed", "blocked"]),
  attempts: z.number().int(),
  counted: z.number().int(),
  uncounted: z.number().int(),
  /** Attempts a person added from an escalation. */
  extra: z.number().int(),
  consulted: z.boolean(),
  guidance: z.array(z.string()),
  /** What the planner said to a consult. */
  planner_guidance: z.array(z.string()).default([]),
  grant: grantRow.nullable(),
});
export type ItemRow = z.infer<typeof itemRow>;

export const attemptRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  work_item_id: z.string(),
  number: z.number().int(),
  state: z.enum(attemptStates),
  agent: z.string().nullable(),
  baseline: z.string(),
  bundle_key: z.string().nullable(),
  entry: z.number().int(),
  message_id: z.string(),
  lease: z.strictObject({ lease_id: z.string(), epoch: z.number().int() }).nullable(),
  error_code: errorCode.nullable(),
  detail: z.string().nullable(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  patch: patchRef.nullable(),
  suspension: suspension.nullable(),
  /** A person let this result pass although it left its bounds. */
  gate_passed: z.boolean(),
  /** When its agent was last heard of while it ran, and when a silent one was asked whether it still works. */
  beat_at: z.number().default(0),
  asked_at: z.number().nullable().default(null),
  /** What a gate said after a step, until the attempt's next call or its result has met it. */
  after_step: stepGate.nullable().default(null),
  /** What its loop did about being stuck, as far as it was told. */
  recoveries: z.array(recovery).exactOptional(),
  /** What it found worth keeping: the scope remembers it once its work is merged. */
  insights: z.array(z.strictObject({ kind: z.enum(insightKinds), text: z.string() })).exactOptional(),
});
export type AttemptRow = z.infer<typeof attemptRow>;

export const verificationRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  attempt_id: z.string(),
  round: z.number().int(),
  state: z.enum(["open", "done", "void"]),
  parent: z.string(),
  verdict: z.enum(verdicts).nullable(),
  detail: z.string(),
  checks: z.array(checkView),
  commit: z.string().nullable(),
});
export type VerificationRow = z.infer<typeof verificationRow>;

/** What is demanded of a decider follows from the policy in force and is not stored. */
export const approvalRow = approvalView.omit({ needs: true }).extend({
  life: z.enum(lifeStates),
  /** What the decision is about. */
  plan_id: z.string().nullable(),
  work_item_id: z.string().nullable(),
  attempt_id: z.string().nullable(),
  call_id: z.string().nullable(),
  message_id: z.string().nullable(),
  /** Of a dead letter: whose inbox it may have died in, and what it is. */
  recipient: z.string().nullable().default(null),
  message_kind: z.enum(messageKinds).nullable().default(null),
});
export type ApprovalRow = z.infer<typeof approvalRow>;

const nouns = [
  "tasks",
  "plans",
  "items",
  "attempts",
  "verifications",
  "approvals",
  "calls",
  "phases",
  "kills",
  "late",
  "held",
  "thoughts",
  "accounts",
  "rungs",
  "research",
  "uses",
] as const;
type Noun = (typeof nouns)[number];

export const rowsSchema: readonly string[] = nouns.flatMap((noun) => [
  `CREATE TABLE ${noun} (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, task_id TEXT NOT NULL, status TEXT NOT NULL, doc TEXT NOT NULL)`,
  `CREATE INDEX ${noun}_task ON ${noun} (task_id)`,
  `CREATE INDEX ${noun}_status ON ${noun} (status, seq)`,
]);

/** One noun's rows. `put` writes the whole document; ids and tasks never change. */
export class Rows<T extends { id: string }> {
  readonly #sql: Sql;
  readonly #noun: Noun;
  readonly #schema: z.ZodType<T>;
  readonly #key: (row: T) => { task_id: string; status: string };
  constructor(sql: Sql, noun: Noun, schema: z.ZodType<T>, key: (row: T) => { task_id: string; status: string }) {
    this.#sql = sql;
    this.#noun = noun;
    this.#schema = schema;
    this.#key = key;
  }
  #read(rows: { doc: string }[]): T[] {
    return rows.map((row) => this.#schema.parse(JSON.parse(row.doc)));
  }
  get(id: string): T | null {
    return this.#read(this.#sql.all(`SELECT doc FROM ${this.#noun} WHERE id = ?`, id))[0] ?? null;
  }
  put(row: T): T {
    const { task_id, status } = this.#key(row);
    this.#sql.run(
      `INSERT INTO ${this.#noun} (id, task_id, status, doc) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status, doc = excluded.doc`,
      ...[row.id, task_id, status, JSON.stringify(row)],
    );
    return row;
  }
  remove(id: string): void {
    this.#sql.run(`DELETE FROM ${this.#noun} WHERE id = ?`, id);
  }
  /** All of a task. */
  forget(task_id: string): void {
    this.#sql.run(`DELETE FROM ${this.#noun} WHERE task_id = ?`, task_id);
  }
  ofTask(task_id: string): T[] {
    return this.#read(this.#sql.all(`SELECT doc FROM ${this.#noun} WHERE task_id = ? ORDER BY seq`, task_id));
  }
  withStatus(status: string): T[] {
    return this.#read(this.#sql.all(`SELECT doc FROM ${this.#noun} WHERE status = ? ORDER BY seq`, status));
  }
  all(): T[] {
    return this.#read(this.#sql.all(`SELECT doc FROM ${this.#noun} ORDER BY seq`));
  }
  /** Newest first. `cursor` is the last id of the page before. */
  page(status: string | null, limit: number, cursor: string | null): { items: T[]; next_cursor: string | null } {
    const before =
      cursor === null
        ? null
        : (this.#sql.one<{ seq: number }>(`SELECT seq FROM ${this.#noun} WHERE id = ?`, cursor)?.seq ?? 0);
    const found = this.#read(
      this.#sql.all(
        `SELECT doc FROM ${this.#noun} WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR seq < ?2) ORDER BY seq DESC LIMIT ?3`,
        ...[status, before, limit + 1],
      ),
    );
    return pageOf(found, limit);
  }
}

/** However old the copy is that somebody writes back: what the task has read stays read. [INV-04] */
export class TaskRows extends Rows<TaskRow> {
  override put(row: TaskRow): TaskRow {
    const stored = this.get(row.id);
    if (stored === null) return super.put(row);
    return super.put({ ...keepTaint(stored, row), gate_notes: keepNotes(stored.gate_notes, row.gate_notes) });
  }
}

export function openRows(sql: Sql) {
  const status = (row: { task_id: string; status: string }) => ({ task_id: row.task_id, status: row.status });
  const state = (row: { task_id: string; state: string }) => ({ task_id: row.task_id, status: row.state });
  return {
    tasks: new TaskRows(sql, "tasks", taskRow, (row) => ({ task_id: row.id, status: row.status })),
    plans: new Rows<PlanRow>(sql, "plans", planRow, status),
    items: new Rows<ItemRow>(sql, "items", itemRow, state),
    attempts: new Rows<AttemptRow>(sql, "attempts", attemptRow, state),
    verifications: new Rows<VerificationRow>(sql, "verifications", verificationRow, state),
    approvals: new Rows<ApprovalRow>(sql, "approvals", approvalRow, status),
    calls: new Rows<CallRow>(sql, "calls", callRow, state),
    phases: new Rows<PhaseRow>(sql, "phases", phaseRow, (row) => ({ task_id: row.task_id, status: row.outcome })),
    late: new Rows<LateRow>(sql, "late", lateRow, (row) => ({ task_id: row.task_id, status: "late" })),
    held: new Rows<HeldRow>(sql, "held", heldRow, (row) => ({ task_id: row.task_id, status: "held" })),
    kills: new Rows<KillRow>(sql, "kills", killRow, (row) => ({ task_id: row.task_id, status: "open" })),
    thoughts: new Rows<ThoughtRow>(sql, "thoughts", thoughtRow, state),
    accounts: new Rows<AccountRow>(sql, "accounts", accountRow, (row) => ({ task_id: row.task_id, status: "open" })),
    rungs: new Rows<RungRow>(sql, "rungs", rungRow, state),
    research: new Rows<ResearchRow>(sql, "research", researchRow, state),
    uses: new Rows<UseRow>(sql, "uses", useRow, state),
  };
}
export type ScopeRows = ReturnType<typeof openRows>;
