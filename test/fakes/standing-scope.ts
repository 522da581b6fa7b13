/** A held scope with standing approvals: made by an approver, used when the test says so, and lost at any moment. */
import { StandingDoor } from "../../durable-objects/runtime/doors-standing.ts";
import type { ApprovalRow } from "../../durable-objects/runtime/rows.ts";
import { StandingUses } from "../../durable-objects/runtime/standing-use.ts";
import type { Result } from "../../src/domain/refusal.ts";
import { type StandingInput, type StandingView, standingInput } from "../../src/domain/standing-shape.ts";
import type { Caller } from "../../src/domain/view.ts";
import { callerOf, HeldScope, missing, must, repo } from "./held-scope.ts";

export const day = 86_400_000;
export const alice = callerOf("alice#abc123", "approver");
export const bob = callerOf("bob#def456", "approver");

export const plan = `---
title: A chore
goal: Small things
items:
  - { id: a, runner: steps, max_attempts: 2, verify: [{ run: [npm, test] }], allow: { tools: [shell_execute], paths: ['src/**'] } }
---
## a
\`\`\`sh
echo a > src/a.txt
\`\`\`
`;
export const widePlan = plan.replace("src/**", "**");

export class StandingScope extends HeldScope {
  get door(): StandingDoor {
    return new StandingDoor(this.scope, async () => {});
  }
  inputOf(more: Partial<StandingInput> = {}, within: Partial<StandingInput["bounds"]> = {}): StandingInput {
    const made = standingInput.parse({
      ...{ name: "chores", reason: "They are small", uses: 2, until: new Date(this.now + 10 * day).toISOString() },
      bounds: {
        ...{ who: [alice.subject], labels: ["chore"], repos: [repo], tools: ["shell_execute"], paths: ["src/**"] },
        ...{ commands: ["echo **"], verify: ["npm test"] },
      },
    });
    return { ...made, ...more, bounds: { ...made.bounds, ...within } };
  }
  make(more: Partial<StandingInput> = {}, within: Partial<StandingInput["bounds"]> = {}, by = bob) {
    return this.door.addStandingApproval(by, this.inputOf(more, within), null);
  }
  async made(more: Partial<StandingInput> = {}, within: Partial<StandingInput["bounds"]> = {}): Promise<StandingView> {
    return must(await this.make(more, within)).body;
  }
  standing(id: string): Promise<StandingView> {
    return this.door.standingApproval(bob, id).then(must);
  }
  revoke(id: string, reason = "too wide", by = bob): Promise<Result<StandingView>> {
    return this.door.revokeStandingApproval(by, id, reason);
  }
  /** A task of that label whose plan came into review; nothing has looked at it yet. */
  async chore(markdown = plan, by: Caller = alice, labels = ["chore"], budget?: { tokens: number; usd: number }) {
    const repo_ref = { url: repo, ref: "HEAD" };
    const asked = { title: "A chore", description: "", labels, repo: repo_ref, plan: markdown };
    const input = budget === undefined ? asked : { ...asked, budget };
    const { body } = must(await this.tasks.createTask(by, { ...input, register_repo: true }, null));
    await this.replan(body.id, markdown);
    return body.id;
  }
  /** What the object does after each commit, and again when its alarm fires. */
  flush(): Promise<void> {
    return new StandingUses(this.scope, this.signatures).settle();
  }
  /** Runs once, after the look and before what it found is committed. */
  between(happens: () => unknown): void {
    const sign = this.keys.sign.bind(this.keys);
    this.keys.sign = async (text) => {
      this.keys.sign = sign;
      await happens();
      return sign(text);
    };
  }
  approval(task_id: string): ApprovalRow {
    return this.rows.approvals.ofTask(task_id).findLast(({ kind }) => kind === "plan") ?? missing("plan's card");
  }
  status(task_id: string): string {
    const { status, waiting_on } = this.rows.tasks.get(task_id) ?? missing("task");
    return waiting_on === null ? status : `${status} on ${waiting_on}`;
  }
  audited(decision: string) {
    return this.scope.stores.audit.after(0, 10_000).filter((link) => link.decision === decision);
  }
}
