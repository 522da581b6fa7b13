/**
 * All that a yes to a plan covers, as text for its check run: every field that the card's content hash covers, and the
 * plan as it is written. Whole, or not at all: what GitHub cannot show whole is not decided there. [GHR-62] [GHR-63]
 */
import { limits } from "../../limits.ts";
import { type Card, cardView } from "../approval-view.ts";
import { byteLength, sha256Hex } from "../canonical.ts";
import { visibleLine } from "../visible.ts";
import { shortHash } from "./status.ts";
import { verbatim } from "./words.ts";

/** `lacking`: why it cannot be shown whole. */
export type PlanText = { readonly text: string } | { readonly lacking: string };

/** `plan`: the stored document, which the card names by its hash alone. */
export function planText(card: Card, content_hash: string, plan: string | null): PlanText {
  const known = cardView.safeParse(card).success;
  if (!known || plan === null || sha256Hex(plan) !== card.plan_hash) return { lacking: "GitHub cannot show all of it" };
  const text = [
    `### All that a yes covers\n\nContent hash \`${shortHash(content_hash)}\`. ${note}`,
    verbatim(rows(head, card)),
    ...parts(below, card),
    block("The plan, as it is written", plan),
  ].join("\n\n");
  const fits = byteLength(text) <= limits.github_text_bytes;
  return fits ? { text } : { lacking: "the plan is longer than GitHub can show" };
}
const note =
  "A character that no screen shows is written out, as in `⟦U+200B⟧`; a line that goes on begins with `⟦…⟧`.";

/** Each field by its name: one that nobody shows does not compile. */
type Table<T, Seen = T> = { readonly [K in keyof T]-?: (of: Seen) => readonly string[] };
type Some<T> = Readonly<Record<string, (of: T) => readonly string[]>>;
type Item = Card["items"][number];
/** `like`: the first item that protects the same, which is long and nearly always of all of them. */
type Placed = Item & { readonly at: number; readonly like: number };

function parts<T>(table: Some<T>, of: T): string[] {
  return Object.values(table).flatMap((show) => show(of));
}
function rows<T>(table: Some<T>, of: T): string {
  return parts(table, of).join("\n");
}
function block(title: string, ...texts: readonly string[]): string {
  return [`#### ${title}`, ...texts.map(verbatim)].join("\n\n");
}
function row(name: string, value: string): string[] {
  return [`${name.padEnd(13)} ${visibleLine(value)}`];
}
/** One below the other, so that no value poses as two. */
function list(name: string, values: readonly string[], none: string): string[] {
  return values.length === 0 ? row(name, none) : [name, ...values.map((value) => `  - ${visibleLine(value)}`)];
}
/** Words that stay apart: one with anything but plain characters in it is quoted. */
function typed(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}
function spend({ tokens, usd, minutes }: NonNullable<Card["budget"]>, unsaid: string): string {
  return [
    tokens === null ? `tokens: ${unsaid}` : tokens === 0 ? "no tokens of its own" : `${tokens} tokens`,
    usd === null ? `dollars: ${unsaid}` : usd === 0 ? "no limit in dollars" : `${usd} USD`,
    minutes === null ? `minutes: ${unsaid}` : `${minutes} minutes`,
  ].join(", ");
}

const head = {
  kind: ({ kind }) => row("card", kind.replace("_", " ")),
  title: ({ title }) => row("title", title),
  why: ({ why }) => row("why", why),
  repo: ({ repo }) => row("repository", repo),
  base_commit: ({ base_commit }) => row("starts from", base_commit ?? "no commit"),
  publishes: ({ publishes }) => row("publishes", publishes ?? "nothing"),
  budget: ({ budget }) => row("budget", budget === null ? "no limit of its own" : spend(budget, "none stated")),
  taint: ({ taint }) => row("rests on", `words of ${taint}, the least trusted of what was read for it`),
  taint_sources: ({ taint_sources = [] }) =>
    taint_sources.flatMap(({ taint, source, at }) => row("", `${taint}: ${source}, ${at}`)),
  requested_by: ({ requested_by }) => row("requested by", requested_by),
  asked_by: ({ asked_by }) =>
    asked_by === undefined
      ? []
      : row("asked by", `${asked_by.by}${asked_by.where === null ? "" : `, ${asked_by.where}`}`),
  plan_hash: ({ plan_hash }) => row("plan hash", plan_hash ?? "none"),
  policy_hash: ({ policy_hash }) => row("policy hash", policy_hash),
} satisfies Partial<Table<Card>>;

const below = {
  facts: ({ facts }) =>
    facts.length === 0 ? [] : [block("Before you decide", facts.map((fact) => `- ${visibleLine(fact)}`).join("\n"))],
  hidden: ({ hidden = [] }) =>
    hidden.length === 0 ? [] : [block("Hidden from the page of the issue; no model was given it", ...hidden)],
  goal: ({ goal }) => (goal === undefined ? [] : [block("Goal, which every model that works at it is told", goal)]),
  environment: ({ environment }) =>
    environment === null ? [] : [block("Prepared before every attempt", rows(surroundings, environment))],
  items: ({ items }) =>
    items.flatMap((item, at) => {
      const same = JSON.stringify(item.protect);
      const placed = { ...item, at, like: items.findIndex(({ protect }) => JSON.stringify(protect) === same) };
      return [block(`Item ${at + 1}`, rows(granted, placed)), ...parts(told, item)];
    }),
  tool: ({ tool }) => (tool === null ? [] : [block("Call", rows(call, tool))]),
} satisfies Table<Omit<Card, keyof typeof head>>;

const surroundings: Table<NonNullable<Card["environment"]>> = {
  setup: ({ setup }) => list("runs", setup.map(typed), "nothing"),
  hosts: ({ hosts }) => list("network then", hosts, "closed"),
  cache: ({ cache }) => list("caches", cache, "none"),
};
const call: Table<NonNullable<Card["tool"]>> = {
  name: ({ name }) => row("tool", name),
  arguments: (tool) => row("arguments", tool.arguments),
  workspace_tree: ({ workspace_tree }) => row("workspace", workspace_tree),
};

const grants: Table<Item["grants"]> = {
  tools: ({ tools }) => list("tools", tools, "none"),
  paths: ({ paths }) => list("may change", paths, "no file"),
  commands: ({ commands }) => list("commands", commands, "none but its steps"),
  hosts: ({ hosts }) => list("network", hosts, "closed"),
  secrets: ({ secrets }) => list("secrets", secrets, "none"),
};
/** What an item may do, and how it is bounded and checked. */
const granted = {
  id: ({ id }) => row("item", id),
  title: ({ title }) => row("title", title),
  runner: ({ runner }) => row("runs as", runner),
  max_attempts: ({ max_attempts }) => row("attempts", `at most ${max_attempts}`),
  depends_on: ({ depends_on }) => list("after", depends_on, "nothing"),
  grants: (item) => parts(grants, item.grants),
  protect: ({ protect, at, like }) =>
    like < at
      ? row("must not touch", `the same as item ${like + 1}`)
      : list("must not touch, whatever it may change (`!`: but this it may)", protect, "nothing"),
  verify: ({ verify }) => list("checked by", verify.map(typed), "nothing: one success is done"),
  verify_timeouts_s: ({ verify_timeouts_s = [] }) =>
    verify_timeouts_s.length === 0
      ? []
      : row("checks take", `at most ${verify_timeouts_s.join(", ")} seconds, in their order`),
  preset: ({ preset }) => (preset === undefined ? [] : row("preset", preset)),
  on_stuck: ({ on_stuck }) => (on_stuck === undefined ? [] : row("when stuck", on_stuck.replace("_", " "))),
  budget: ({ budget }) => (budget === undefined ? [] : row("may spend", spend(budget, "its share of the plan's"))),
  touches: ({ touches = [] }) => (touches.length === 0 ? [] : list("its model is given the files", touches, "")),
  skills: ({ skills = [] }) => (skills.length === 0 ? [] : list("skills", skills, "")),
  item_hash: ({ item_hash }) => row("item hash", item_hash),
} satisfies Partial<Table<Item, Placed>>;
/** What it runs, or what its model is told: word for word. */
const told = {
  steps: ({ steps }) => (steps.length === 0 ? [] : [block("Its steps, run as written and in this order", ...steps)]),
  section: ({ section }) =>
    section === undefined
      ? []
      : [block("What its model is told", section === "" ? "its title and nothing more" : section)],
} satisfies Table<Omit<Item, keyof typeof granted>>;
