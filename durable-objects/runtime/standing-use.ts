/**
 * A plan's card is answered by a standing approval: looked for after the commit that made the card, signed, and then,
 * in one transaction that reads everything again, decided and counted down. Lost before that transaction it is begun
 * anew; after it nothing is left to do. [STA-20] to [STA-27]
 */

import type { Decision } from "../../src/domain/approval-view.ts";
import { type Fit, fits, statedBy } from "../../src/domain/standing.ts";
import type { StandingNote } from "../../src/domain/standing-shape.ts";
import { standingOfSubject, standingSubject } from "../../src/domain/standing-subject.ts";
import type { Caller } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { ownLeft, spendingOf } from "./accounts.ts";
import { takeDecision } from "./decisions.ts";
import { prepare } from "./preparing.ts";
import type { ApprovalRow, TaskRow } from "./rows.ts";
import type { Prepared } from "./scene.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";
import type { StandingDue, StandingRow } from "./standing.ts";
import type { Tx } from "./tx.ts";

interface Found {
  readonly row: StandingRow;
  readonly card: ApprovalRow;
}

export class StandingUses {
  readonly #scope: Scope;
  readonly #signatures: Signatures;
  constructor(scope: Scope, signatures: Signatures) {
    this.#scope = scope;
    this.#signatures = signatures;
  }

  nextDueAt(now: number): number | null {
    return this.#scope.stores.standing.nextDueAt(now);
  }
  /** Answers every plan that waits to be looked at. One that cannot be answered now holds up no other. */
  async settle(): Promise<void> {
    const { standing } = this.#scope.stores;
    for (const due of standing.due(Date.now(), limits.standing_batch))
      try {
        if (!(await this.#answer(due))) this.#putOff(due, "what it stands on changed too often");
      } catch (error) {
        console.warn("runtime: a standing approval could not be used; it is tried again", error);
        this.#putOff(due, "it could not be signed");
      }
  }
  /** False when the scope changed each time between looking and deciding. */
  async #answer(due: StandingDue): Promise<boolean> {
    for (let round = 0; round < limits.standing_tries; round++) {
      const found = this.#scope.commit((tx) => this.#look(tx, due));
      if (found === null) return true;
      if (!this.#signatures.canSign()) throw new Error("this deployment has no SIGNING_KEYS");
      const caller = speakerOf(this.#scope.self().scope_id, found.row);
      const decision = yes(found);
      const prepared = await prepare(this.#scope, this.#signatures, { caller, card: found.card, decision });
      if (this.#scope.commit((tx) => this.#decide(tx, due, { found, caller, decision, prepared }))) return true;
    }
    return false;
  }
  #putOff(due: StandingDue, why: string): void {
    this.#scope.commit((tx) => {
      const { standing } = tx.stores;
      if (due.tries + 1 < limits.standing_tries)
        return standing.putOff(due, tx.now + limits.standing_retry_ms * 2 ** due.tries);
      standing.considered(due.approval_id);
      const card = pendingCard(tx, due);
      if (card !== null) note(tx, card, [{ id: "", name: "standing approvals", why }]);
    });
  }

  /** The oldest that fits. When none does, the card says why, and a person decides. */
  #look(tx: Tx, due: StandingDue): Found | null {
    const { standing } = tx.stores;
    const card = pendingCard(tx, due);
    const task = card === null ? null : tx.rows.tasks.get(card.task_id);
    if (card !== null && task !== null && standing.isDue(due.approval_id)) {
      const refused: (StandingNote & { passed: number })[] = [];
      for (const row of standing.active()) {
        const now = tx.now >= row.until_ms ? lapsed(tx, row) : row;
        const fit = this.#fit(tx, now, card, task);
        if (fit.fits) return { row: now, card };
        refused.push({ id: row.id, name: row.name, why: fit.why, passed: fit.passed });
      }
      for (const { id, name } of standing.usedUp(limits.standing_notes))
        refused.push({ id, name, why: "it is used up", passed: 0 });
      note(tx, card, nearest(refused));
    }
    standing.considered(due.approval_id);
    return null;
  }
  /** False when what was looked at is no longer so: then it is looked at again. */
  #decide(
    tx: Tx,
    due: StandingDue,
    with_: { found: Found; caller: Caller; decision: Decision; prepared: Prepared },
  ): boolean {
    const { standing } = tx.stores;
    const card = pendingCard(tx, due);
    const row = standing.get(with_.found.row.id);
    const task = card === null ? null : tx.rows.tasks.get(card.task_id);
    if (card === null || row === null || task === null || !standing.isDue(due.approval_id)) return false;
    if (!this.#fit(tx, row, card, task).fits) return false;
    const taken = takeDecision(tx, with_.caller, card, with_.decision, with_.prepared);
    if (taken === "again") return false;
    standing.considered(due.approval_id);
    if (!taken.ok) note(tx, card, [{ id: row.id, name: row.name, why: taken.refusal.detail }]);
    else if (taken.value.status === "approved") used(tx, row, taken.value, task);
    return true;
  }
  #fit(tx: Tx, row: StandingRow, card: ApprovalRow, task: TaskRow): Fit {
    const maker_stands = !this.#scope.people.isRevoked(row.credential_id);
    const usage = tx.stores.standing.usage(row.id, tx.now);
    const rules = tx.scope.policy.approvals;
    const money = { spent: spendingOf(tx.rows, task.id), own_left: ownLeft(tx.rows, task) };
    const about = { ...task, ...money, decided_by_person: personDecided(tx, task) };
    return fits({ standing: { ...row, maker_stands }, card: card.card, task: about, usage, rules, now: tx.now });
  }
}

/** Signs and decides in its own name; who made it is named in the words of the decision. */
function speakerOf(scope_id: string, row: StandingRow): Caller {
  const { credential_id } = row;
  return { scope_id, subject: standingSubject(row.id), role: "approver", via: "token", credential_id };
}
function yes({ row, card }: Found): Decision {
  const comment = `Under the standing approval "${row.name}", which ${row.made_by} made: ${row.reason}`;
  return { decision: "approve", content_hash: card.content_hash, comment };
}

function personDecided(tx: Tx, task: TaskRow): boolean {
  const plans = tx.rows.approvals.ofTask(task.id).filter(({ kind }) => kind === "plan");
  return plans.some(({ decisions }) => decisions.some(({ by }) => standingOfSubject(by) === null));
}
function pendingCard(tx: Tx, due: StandingDue): ApprovalRow | null {
  const card = tx.rows.approvals.get(due.approval_id);
  return card?.status === "pending" && card.kind === "plan" ? card : null;
}

function used(tx: Tx, row: StandingRow, card: ApprovalRow, task: TaskRow): void {
  const { standing } = tx.stores;
  const uses_left = row.uses_left - 1;
  standing.addUse({ approval_id: card.id, standing_id: row.id, task_id: task.id, at: tx.now }, statedBy(card.card));
  const ended = { by: "runtime", at: tx.at, reason: "it is used up" };
  standing.put({ ...row, uses_left, ...(uses_left === 0 ? { status: "used_up" as const, ended } : {}) });
  const about = { standing_id: row.id, approval_id: card.id, uses_left, made_by: row.made_by };
  tx.audit("approval", task, {
    ...{ actor: "approval_engine", decision: "standing_used", reason: row.name },
    details: { ...about, content_hash: card.content_hash },
  });
  const detail = `The standing approval "${row.name}" of ${row.made_by} approved the plan. Uses left: ${uses_left}.`;
  tx.event("standing_changed", task, {
    actor: standingSubject(row.id),
    surfaces: ["review", "activity"],
    detail,
    ...about,
  });
}

/** Once its end was noticed it stays ended, wherever the clock is set. */
function lapsed(tx: Tx, row: StandingRow): StandingRow {
  const reason = "its time is over";
  tx.audit(
    "approval",
    { trace_id: "scope" },
    {
      ...{ actor: "approval_engine", decision: "standing_expired", reason },
      details: { standing_id: row.id, uses_left: row.uses_left },
    },
  );
  const detail = `The standing approval "${row.name}" has expired.`;
  tx.event("standing_changed", null, { detail, standing_id: row.id });
  return tx.stores.standing.put({ ...row, status: "expired", ended: { by: "runtime", at: tx.at, reason } });
}

function nearest(refused: readonly (StandingNote & { passed: number })[]): StandingNote[] {
  const near = refused.toSorted((a, b) => b.passed - a.passed).slice(0, limits.standing_notes);
  return near.map(({ id, name, why }) => ({ id, name, why }));
}
/** Beside the card and not in it: what a person approves stays the bytes they were first shown. */
function note(tx: Tx, card: ApprovalRow, standing_notes: StandingNote[]): void {
  const stored = tx.rows.approvals.get(card.id);
  if (standing_notes.length === 0 || stored?.status !== "pending") return;
  tx.rows.approvals.put({ ...stored, standing_notes });
  const task = tx.rows.tasks.get(card.task_id);
  const detail = `No standing approval speaks for it: ${standing_notes.map(({ name, why }) => `${name}: ${why}`).join("; ")}`;
  tx.event("approval_noted", task, { surfaces: ["activity"], detail, approval_id: card.id });
}
