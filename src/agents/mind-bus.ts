/**
 * What a thinking agent asks of its scope's runtime: may I call the model, this is what it cost, may I use this tool,
 * what does the scope remember. The runtime owns budgets, policy and memory; types only. [CHG-*] [USE-*] [MEM-*]
 */
import type { InsightKind } from "../domain/insight.ts";
import type { ModelRole, Usage } from "./models.ts";

/** Who pays. An attempt pays from its item's share; all else is the planner's part of the plan's, or the task's, budget. */
export type Payer =
  | { readonly kind: "attempt"; readonly task_id: string; readonly attempt_id: string; readonly entry: number }
  | {
      readonly kind: "task";
      readonly task_id: string;
      readonly why: "proxy" | "plan" | "research" | "consult" | "replan";
    };

/** One call of a model. Its id follows from the run and the step, so the same call asked again is the same. */
export interface ThoughtRef {
  readonly thought_id: string;
  /** The run it belongs to: at most one call of a run is open at a time. */
  readonly run_id: string;
  readonly agent: string;
  readonly role: ModelRole;
  readonly payer: Payer;
  /** What the call will cost at most: its input, counted from the texts, and the most it may answer. */
  readonly reserve_tokens: number;
  /** The same in US dollars; null while nobody knows the price. */
  readonly reserve_usd?: number | null;
  /** Which version of which prompt it is made with. */
  readonly prompt: string;
}

/**
 * `go` is on record as an intent when it is answered; an earlier call of the same run that was never charged is
 * charged then, as estimated. `wait`: the budget is used up and a person is asked; ask again after the pause.
 */
export type MayThink =
  | { readonly answer: "go"; readonly tokens_left: number | null; readonly usd_left: number | null }
  | { readonly answer: "wait"; readonly reason: string }
  | { readonly answer: "refused"; readonly error_code: "budget_exceeded" | "gate_blocked"; readonly reason: string }
  | { readonly answer: "stale"; readonly reason: string };

export interface Thought {
  readonly thought_id: string;
  readonly model: string;
  readonly usage: Usage;
  readonly usd: number | null;
  /** Null when it answered, else how it failed. */
  readonly failure: string | null;
}

/** A tool that only reads, or only speaks: what the proxy, the planner and research use. */
export interface Use {
  readonly task_id: string;
  readonly run_id: string;
  readonly agent: string;
  readonly call_id: string;
  readonly tool: string;
  /** Canonical JSON of the arguments. */
  readonly arguments: string;
}
export type MayUse =
  | { readonly answer: "run" }
  | { readonly answer: "refused"; readonly rule: string; readonly reason: string };

export interface Remembered {
  readonly id: string;
  readonly kind: "plan" | "decision" | InsightKind;
  readonly title: string;
  /** The part of the text that fits best. */
  readonly excerpt: string;
  readonly task_id: string | null;
  readonly at: string;
  readonly taint: "owner" | "member" | "outsider" | "web";
}

/** One of the scope's recent tasks, as little of it as tells what was asked for and what became of it. */
export interface PastTask {
  readonly task_id: string;
  readonly title: string;
  readonly status: string;
  readonly phase: string | null;
  readonly at: string;
  /** Of its title: nothing else of it is told. */
  readonly taint: "owner" | "member" | "outsider" | "web";
}

export interface Asker {
  readonly task_id: string;
  readonly agent: string;
  /** Nothing that its own task has left: it tells of the other items, and what their agents found out. */
  readonly others_only?: true;
  /** At the start of a run, when nobody asked for it: nothing that strangers' words would taint it with. */
  readonly unasked?: true;
}

export interface MindBus {
  mayThink(ref: ThoughtRef): Promise<MayThink>;
  /** Charges what a call has cost, once; told again it changes nothing. */
  thought(task_id: string, done: Thought): Promise<void>;
  mayUse(use: Use): Promise<MayUse>;
  /** The scope's memories that fit the words best, best first. What is read taints the task that asks. */
  recall(asker: Asker, query: string, limit: number): Promise<readonly Remembered[]>;
  /** The scope's latest tasks besides the one that asks, newest first. What is read taints the task that asks. */
  history(asker: { readonly task_id: string; readonly agent: string }): Promise<readonly PastTask[]>;
  /** An interim word for the person who asked, shown in the Stream at once. The same id is said once. */
  say(task_id: string, id: string, text: string): Promise<void>;
}
