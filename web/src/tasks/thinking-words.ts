/** Tokens, money, research and rungs in the words a person reads. A price nobody knows is said, never zero. [WEB-83] */
import type { ThoughtView } from "../api/minds.ts";
import type { TaskView } from "../api/queries.ts";

type Spent = NonNullable<TaskView["spent"]>;
type Rung = NonNullable<TaskView["rungs"]>[number];

const number = (of: number): string => of.toLocaleString("en");
/** Calls cost fractions of a cent, so four places. */
const dollars = (of: number): string => `$${of.toFixed(4)}`;

export function spentWords(spent: Spent): string {
  const money = spent.usd === null ? "price unknown" : dollars(spent.usd);
  const tokens = `${number(spent.input_tokens)} tokens in, ${number(spent.output_tokens)} out`;
  return `${tokens}, ${money}${spent.estimated ? ", partly estimated" : ""}`;
}
export function leftWords({ remaining_tokens, remaining_usd }: Spent): string {
  return `${number(remaining_tokens)} tokens${remaining_usd === null ? "" : `, ${dollars(remaining_usd)}`}`;
}

export function tokensOf({ input_tokens, output_tokens, cached_tokens }: ThoughtView): string {
  if (input_tokens === null || output_tokens === null) return "tokens not known yet";
  const cached = cached_tokens === null || cached_tokens === 0 ? "" : ` (${number(cached_tokens)} cached)`;
  return `${number(input_tokens)} tokens in${cached}, ${number(output_tokens)} out`;
}
export function usdOf({ usd, state }: ThoughtView): string {
  if (usd !== null) return dollars(usd);
  return state === "open" ? "not charged yet" : "price unknown";
}

export function researchWords(research: NonNullable<TaskView["research"]>): string {
  const said = {
    open: "open",
    answered: "answered",
    timed_out: "not answered in time",
    cancelled: "not wanted any more",
  };
  const keys = ["open", "answered", "timed_out", "cancelled"] as const;
  const parts = keys.flatMap((key) => (research[key] === 0 ? [] : [`${research[key]} ${said[key]}`]));
  const all = keys.reduce((sum, key) => sum + research[key], 0);
  return `${all} ${all === 1 ? "question" : "questions"}: ${parts.join(", ")}`;
}

const to: Readonly<Record<Rung["to"], string>> = {
  attempt: "Attempt",
  merge: "Merge",
  retry: "Try again",
  decompose: "Ask the planner for smaller items",
  consult: "Ask the planner for guidance",
  replan: "Ask the planner for another approach",
  escalate: "Ask a person",
};
const state: Readonly<Record<Rung["state"], string>> = {
  taken: "",
  held: "waits for other work to end",
  open: "waits for an answer",
  answered: "answered",
  failed: "without an answer",
  timeout: "not answered in time",
  void: "not needed any more",
};
export const rungWords = { to, state } as const;

const action = {
  reduce_context: "Left out old results",
  simplify_prompt: "Asked in simpler words",
  decompose: "Gave up, to be parted into smaller items",
  ask_person: "Gave up, to ask a person",
} as const;
const reason = {
  looping: "it went round in circles",
  stalled: "it stood still",
  exhausted: "it used up its steps",
} as const;
type Recovery = NonNullable<TaskView["attempts"][number]["recoveries"]>[number];
export function recoveryWords(recovery: Recovery): string {
  return `${action[recovery.action]}: ${reason[recovery.reason]}`;
}
