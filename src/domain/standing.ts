/**
 * Whether a standing approval speaks for a plan: every bound is held against the card a person would see, and the
 * first that does not hold is the answer. What is not certain does not fit. [STA-4] to [STA-13]
 */

import type { Card } from "./approval-view.ts";
import type { Given, Spending } from "./asked-budget.ts";
import { commandContains, globContains } from "./containment.ts";
import { personOf } from "./deciding.ts";
import { inGithubFolder } from "./github/folder.ts";
import { commandGranted, shellGranted } from "./grant.ts";
import { joinTaint, type Taint, taints } from "./message.ts";
import type { Grant } from "./plan-shape.ts";
import type { Policy } from "./policy.ts";
import { mayNameProtected } from "./protected-files.ts";
import { overTask } from "./standing-budget.ts";
import type { Amounts, StandingBounds } from "./standing-shape.ts";
import type { CallerRole } from "./view.ts";

export interface Standing {
  readonly name: string;
  readonly status: "active" | "used_up" | "expired" | "revoked";
  readonly bounds: StandingBounds;
  readonly until_ms: number;
  readonly uses_left: number;
  readonly made_by: string;
  /** Who else made the link of the session it was made in. */
  readonly link_by?: string;
  /** Whether who made it may still approve: what they lent ends with their own right. */
  readonly maker_stands: boolean;
}
export interface StandingTask {
  readonly created_by: string;
  readonly repo: string;
  readonly labels: readonly string[];
  /** The role of who set the labels; null where nobody knows. */
  readonly labels_by_role: CallerRole | null;
  readonly taint: Taint;
  /** Whether a person has decided about a plan of this task before: then they wait to see the next one. */
  readonly decided_by_person: boolean;
  /** What whoever asked gave it to spend. */
  readonly budget: Given;
  /** What it has spent in all its life. */
  readonly spent: Spending;
  /** What its own account still pays: the planner's calls under a plan that states no tokens. */
  readonly own_left: Spending;
}
/** What the plans it spoke for in the last 24 hours have stated together. */
export interface StandingUsage {
  readonly plans: number;
  readonly tokens: number;
  readonly usd: number;
  readonly minutes: number;
}
export interface Asked {
  readonly standing: Standing;
  readonly card: Card;
  readonly task: StandingTask;
  readonly usage: StandingUsage;
  readonly rules: Policy["approvals"];
  readonly now: number;
}
/** `passed`: how many bounds held before the one that did not, to tell the near from the far. */
export type Fit = { readonly fits: true } | { readonly fits: false; readonly why: string; readonly passed: number };

type Item = Card["items"][number];
type Bound = (asked: Asked) => string | null;

export function fits(asked: Asked): Fit {
  for (const [passed, bound] of bounds.entries()) {
    const why = bound(asked);
    if (why !== null) return { fits: false, why, passed };
  }
  return { fits: true };
}

const bounds: readonly Bound[] = [
  inForce,
  byPolicy,
  ({ task }) => (task.decided_by_person ? "a person has decided about a plan of this task before" : null),
  ({ standing, task }) => (standing.bounds.who.includes(task.created_by) ? null : `${task.created_by} may not use it`),
  ({ standing, card, task }) =>
    standing.bounds.repos.includes(card.repo) && card.repo === task.repo
      ? null
      : `${card.repo} is not one of its repositories`,
  labelled,
  ({ standing, card, task }) => {
    const read = joinTaint(card.taint, task.taint);
    return taints.indexOf(read) <= taints.indexOf(standing.bounds.taint)
      ? null
      : `the task has read what is ${read}, and ${standing.bounds.taint} is the most it allows`;
  },
  environmentInside,
  ({ standing, card }) => firstOf(card.items, (item) => itemOutside(item, standing.bounds)),
  ({ standing, card }) => overBudget(standing.bounds.budget.plan, statedBy(card), "a plan"),
  dayIsFull,
  ({ standing, card, task }) => overTask(task, card.budget, standing.bounds.budget.plan),
];

function inForce({ standing, card, now }: Asked): string | null {
  if (standing.status !== "active") return `it is ${standing.status.replace("_", " ")}`;
  if (now >= standing.until_ms) return "its time is over";
  if (standing.uses_left < 1) return "it is used up";
  if (!standing.maker_stands) return `${standing.made_by}, who made it, may no longer approve`;
  return card.kind === "plan" && card.items.length > 0 ? null : "it speaks for plans only";
}

/** What policy asks of a person's yes, a yes in advance cannot give. */
function byPolicy({ standing, task, rules }: Asked): string | null {
  if (rules.two_approvers.includes("plan")) return "the policy asks for two approvers of a plan";
  if ((rules.proof.kinds.plan ?? "token") !== "token")
    return "the policy asks for a person's own session to approve a plan";
  const { made_by, link_by = made_by } = standing;
  const own = [made_by, link_by].find((by) => personOf(by) === personOf(task.created_by));
  return rules.own_task === "forbid" && own !== undefined
    ? `the policy lets nobody approve their own task, and ${own} made both`
    : null;
}

function labelled({ standing, task }: Asked): string | null {
  const { labels } = standing.bounds;
  const missing = labels.find((label) => !task.labels.includes(label));
  if (missing !== undefined) return `the task has no label ${missing}`;
  const byApprover = task.labels_by_role === "approver" || task.labels_by_role === "admin";
  return labels.length === 0 || byApprover ? null : "its labels were not set by somebody who may approve";
}

function environmentInside({ standing, card }: Asked): string | null {
  const { setup, hosts, cache } = standing.bounds.environment;
  const asks = card.environment;
  if (asks === null) return null;
  const literal = setup.filter((words) => !words.includes("*"));
  const command = asks.setup.find(
    (argv) => !commandGranted(literal, argv) && !commandInside(argv, { ...none, commands: setup }),
  );
  if (command !== undefined) return `set-up runs ${command.join(" ")}, which it does not allow`;
  const host = asks.hosts.find((name) => !hosts.includes(name));
  if (host !== undefined) return `set-up reaches ${host}, which it does not allow`;
  const kept = asks.cache.find((name) => !cache.some((allowed) => allowed === name));
  return kept === undefined ? null : `set-up keeps a cache of ${kept}, which it does not allow`;
}

function itemOutside(item: Item, allowed: StandingBounds): string | null {
  const { grants } = item;
  const no = (what: string): string => `${item.id}: ${what}`;
  if (!allowed.runners.includes(item.runner)) return no(`the runner ${item.runner} is outside`);
  if (item.preset === "PERMISSIVE") return no("the preset PERMISSIVE is outside");
  const tool = grants.tools.find((name) => !allowed.tools.includes(name));
  if (tool !== undefined) return no(`the tool ${tool} is outside`);
  const path = grants.paths.find((glob) => !pathInside(glob, allowed.paths));
  if (path !== undefined) return no(`the path ${path} is outside`);
  const ci = grants.paths.find(inGithubFolder);
  if (ci !== undefined) return no(`${ci} is under .github, which a person decides each time`);
  const command = grants.commands.find((words) => !grantInside(words, allowed));
  if (command !== undefined) return no(`the command ${command} is outside`);
  const host = grants.hosts.find((name) => !allowed.hosts.includes(name));
  if (host !== undefined) return no(`the host ${host} is outside`);
  const secret = grants.secrets.find((name) => !allowed.secrets.includes(name));
  if (secret !== undefined) return no(`the secret ${secret} is outside`);
  // Blocks are granted as they stand, so each must be what the bounds would let a call run.
  const block = item.steps.findIndex((script) => !shellGranted(script, { ...none, ...allowed }));
  if (block >= 0) return no(`step ${block + 1} is not surely inside its commands and paths`);
  const open = allowed.protect.find((glob) => !keeps(item.protect, glob));
  if (open !== undefined) return no(`${open} is not protected`);
  const unchecked = allowed.verify.find((check) => !item.verify.some((argv) => isCheck(argv, check)));
  return unchecked === undefined ? null : no(`the check ${unchecked} is missing`);
}
/** Whether the bounds grant whatever the plan's grant does: its own words must be such as their wildcards may stand for. */
function grantInside(words: string, allowed: StandingBounds): boolean {
  if (allowed.commands.includes(words)) return true;
  if (!allowed.commands.some((outer) => commandContains(outer, words))) return false;
  const sample = words
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "**");
  const paths = [...allowed.paths, anyWord, `${anyWord}/**`];
  return commandInside(
    sample.map((word) => word.replaceAll("*", anyWord)),
    { ...none, commands: allowed.commands, paths },
  );
}
/** Stands for what a wildcard of the plan's own grant may be: that is judged when it is used. */
const anyWord = "word";
function commandInside(argv: readonly string[], allow: Grant): boolean {
  const quoted = argv.map((word, at) =>
    at === 0 && /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
  return shellGranted(quoted.join(" "), allow);
}
function isCheck(argv: readonly string[], check: string): boolean {
  const words = check.split(/\s+/);
  return argv.length === words.length && words.every((word, index) => argv[index] === word);
}
const none = { tools: [], paths: [], commands: [], hosts: [], secrets: [] };

function pathInside(glob: string, allowed: readonly string[]): boolean {
  // To name a protected file is to grant more than a glob over it does, so only the same entry in the bounds grants it.
  return allowed.includes(glob) || (allowed.some((outer) => globContains(outer, glob)) && !mayNameProtected(glob));
}

/** Whether nothing that the glob matches may be changed. */
function keeps(protect: readonly string[], glob: string): boolean {
  const freed = protect.flatMap((entry) => (entry.startsWith("!") ? [entry.slice(1)] : []));
  return !freed.some((path) => globContains(glob, path)) && protect.some((entry) => globContains(entry, glob));
}

/** What the plan says it may spend. Zero tokens or dollars is a statement only where no model is called. */
export function statedBy(card: Card): Amounts {
  const budget = card.budget ?? { tokens: null, usd: null, minutes: null };
  const calls = card.items.some(({ runner }) => runner !== "steps");
  const stated = (amount: number | null): number | null => (amount === 0 && calls ? null : amount);
  return { tokens: stated(budget.tokens), usd: stated(budget.usd), minutes: budget.minutes };
}

const kinds = ["tokens", "usd", "minutes"] as const;
function overBudget(
  most: Amounts,
  asks: Amounts,
  of: string,
  before: Omit<StandingUsage, "plans"> = nothing,
): string | null {
  for (const kind of kinds) {
    const bound = most[kind];
    if (bound === null) continue;
    const amount = asks[kind];
    if (amount === null) return `the plan does not say how many ${kind} it may spend`;
    if (before[kind] + amount > bound) return `${before[kind] + amount} ${kind} are more than the ${bound} of ${of}`;
  }
  return null;
}
const nothing = { tokens: 0, usd: 0, minutes: 0 };

function dayIsFull({ standing, card, usage }: Asked): string | null {
  const { plans, ...most } = standing.bounds.budget.day;
  if (plans !== null && usage.plans >= plans) return `it has spoken for ${usage.plans} plans in 24 hours`;
  return overBudget(most, statedBy(card), "24 hours", usage);
}

function firstOf<T>(all: readonly T[], why: (one: T) => string | null): string | null {
  for (const one of all) {
    const found = why(one);
    if (found !== null) return found;
  }
  return null;
}
