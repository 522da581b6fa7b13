/** Faults around a person's decision: the first one stands, what does not fit the card decides nothing. */
import { expect } from "vitest";
import type { ApprovalView, Decision } from "../../src/domain/approval-view.ts";
import type { Result } from "../../src/domain/refusal.ts";
import { as } from "../simulation/platform/actors.ts";
import type { Rule } from "../simulation/platform/faults.ts";
import type { Road } from "../simulation/scope/single.ts";
import { named, row, runtime, shortPlan, type Walked, walkTold } from "./road.ts";

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const approve = (content_hash: string): Decision => ({ decision: "approve", content_hash, comment: null });
const deny = (content_hash: string): Decision => ({ decision: "deny", content_hash, comment: "no", stop: false });
const heard = <T>(asked: Promise<Result<T>>): Promise<Result<T> | null> => asked.catch(() => null);

interface Told {
  /** What each was told in the end, in the order they asked. */
  readonly answers: string[];
}
/** Asks until there is an answer: `ok`, or the code of the refusal. */
async function insist(road: Road, card: string, decision: Decision): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await heard(road.scope.runtime.decide(road.scope.admin, card, decision));
    if (answer !== null) return answer.ok ? "ok" : answer.refusal.code;
    await sleep(300);
  }
  return "no answer";
}
/** Looks at the cards five times as often as the one who approves whatever is asked. */
async function cards(road: Road, count: number): Promise<ApprovalView[]> {
  for (;;) {
    await sleep(200);
    const query = { status: "pending", limit: 20, cursor: null };
    const page = await heard(road.scope.runtime.approvals(road.scope.admin, query));
    if (page?.ok === true && page.value.items.length >= count) return page.value.items;
  }
}
interface Scenario {
  readonly faults: (road: Road) => readonly Rule[];
  readonly bob: (road: Road, told: Told) => Promise<void>;
  readonly plan?: string;
}
async function decided({ faults, bob, plan = shortPlan() }: Scenario): Promise<Walked & Told> {
  const told: Told = { answers: [] };
  let rules: readonly Rule[] = [];
  const walked = await walkTold((road) => {
    rules = faults(road);
    void as({ name: "bob", alive: true }, () => bob(road, told));
  }, plan);
  expect(rules.map(({ fired }) => fired > 0)).toEqual(rules.map(() => true));
  return { ...walked, ...told };
}
function planCard(road: Road) {
  const [first] = runtime(road).disk.all("SELECT doc FROM approvals ORDER BY seq");
  return JSON.parse(String(first?.doc));
}
type Rules = (road: Road) => readonly Rule[];
/** The four moments of a decision. `decision` is what its commit records. */
function moments(decision: string): Record<"before" | "after" | "lost" | "slow", Rules> {
  const crash =
    (at: "before" | "after"): Rules =>
    (road) => [road.platform.faults.crash({ object: named(road, "runtime"), at, decision })];
  const call =
    (fault: { lose: "reply"; times: number } | { delay_ms: number }): Rules =>
    (road) => [road.platform.faults.call({ to: named(road, "runtime"), from: "bob", method: "decide", ...fault })];
  return {
    before: crash("before"),
    after: crash("after"),
    lost: call({ lose: "reply", times: 2 }),
    slow: call({ delay_ms: 3_000 }),
  };
}

// --- twice

async function twice(faults: Rules): Promise<void> {
  const { road, view, answers } = await decided({
    faults,
    bob: async (road, { answers }) => {
      const [card] = await cards(road, 1);
      if (card === undefined) return;
      const one = insist(road, card.id, approve(card.content_hash));
      await sleep(10);
      const other = insist(road, card.id, deny(card.content_hash));
      answers.push(await one, await other);
    },
  });
  const { decisions, status } = planCard(road);
  expect(decisions).toHaveLength(1);
  expect([status, view.status]).toEqual(
    decisions[0].decision === "approve" ? ["approved", "done"] : ["denied", "denied"],
  );
  // Whoever is answered late hears of the first decision; at most one is told that theirs holds.
  expect(answers).toHaveLength(2);
  expect(answers.filter((answer) => answer === "ok").length).toBeLessThanOrEqual(1);
  expect(answers.filter((answer) => answer !== "ok" && answer !== "already_resolved")).toEqual([]);
  if (view.status === "denied") expect(road.platform.memory.begun).toEqual([]);
}
const first = moments("approve");
row("approval twice", "[FLT-19] of two decisions about a card the first stands, and the other is told of it", {
  "before commit": () => twice(first.before),
  "after commit, before reply": () => twice(first.after),
  "reply lost": () => twice(first.lost),
  slow: () => twice(first.slow),
});

// --- late

/** `sent`: the decision was on its way before the card was over. */
async function late(faults: Rules, sent: "after" | "before"): Promise<void> {
  const { road, view, answers } = await decided({
    faults,
    bob: async (road, { answers }) => {
      const [card] = await cards(road, 1);
      if (card === undefined) return;
      const approved = () => insist(road, card.id, approve(card.content_hash));
      const early = sent === "before" ? approved() : null;
      const cancelled = heard(road.scope.runtime.cancelTask(road.scope.admin, card.task_id ?? "", "not any more"));
      answers.push((await cancelled)?.ok === true ? "cancelled" : "not cancelled");
      answers.push(await (early ?? approved()));
    },
  });
  expect(answers).toEqual(["cancelled", "already_resolved"]);
  expect([view.status, planCard(road).status]).toEqual(["cancelled", "superseded"]);
  expect(road.platform.memory.begun).toEqual([]);
}
const refused = moments("refused");
row("approval late", "[FLT-20] a decision about a card that is over decides nothing and starts nothing", {
  "before commit": () => late(refused.before, "after"),
  "after commit, before reply": () => late(refused.after, "after"),
  "reply lost": () => late(refused.lost, "after"),
  slow: () => late(refused.slow, "before"),
});

// --- the wrong item

const item = (id: string) =>
  `  - { id: ${id}, runner: steps, verify: none, allow: { paths: ['made/**'] }, touches: { paths: ['made/${id}'] } }`;
const section = (id: string) => `## ${id}\n\`\`\`sh\necho ${id} >> made/${id}\n\`\`\`\n`;
const twoAsk = `---\ntitle: A plan\ngoal: A goal\nitems:\n${item("a")}\n${item("b")}\n---\n${section("a")}${section("b")}`;

/** Each card that appears is at once answered with the hash of another. */
async function wrongItem(faults: Rules): Promise<void> {
  const { road, view, answers } = await decided({
    faults,
    plan: twoAsk,
    bob: async (road, { answers }) => {
      const seen = new Map<string, string>();
      while (seen.size < 3)
        for (const { id, content_hash } of await cards(road, 1)) {
          const other = [...seen.values()].at(-1);
          if (seen.has(id)) continue;
          seen.set(id, content_hash);
          if (other !== undefined) void insist(road, id, approve(other)).then((answer) => answers.push(answer));
        }
    },
  });
  expect(answers).toHaveLength(2);
  expect(answers).toContain("content_changed");
  expect(answers).not.toContain("ok");
  expect(view.status).toBe("done");
  expect(road.platform.memory.begun.filter(({ call_id }) => call_id === "step-1")).toHaveLength(2);
}
/** Slow, and still before anybody else decides. */
const soon: Rules = (road) => [
  road.platform.faults.call({ to: named(road, "runtime"), from: "bob", method: "decide", delay_ms: 150 }),
];
row("approval for the wrong item", "[FLT-21] an approval of one item's card opens no other item", {
  "before commit": () => wrongItem(refused.before),
  "after commit, before reply": () => wrongItem(refused.after),
  "reply lost": () => wrongItem(refused.lost),
  slow: () => wrongItem(soon),
});

// --- changed bytes

async function changed(faults: Rules): Promise<void> {
  const { road, view, answers } = await decided({
    faults,
    bob: async (road, { answers }) => {
      const [card] = await cards(road, 1);
      if (card === undefined) return;
      const other = `${card.content_hash.slice(0, -1)}${card.content_hash.endsWith("0") ? "1" : "0"}`;
      runtime(road).disk.db.exec("UPDATE plans SET doc = replace(doc, 'echo a', 'echo b')");
      answers.push(await insist(road, card.id, approve(other)));
      answers.push(await insist(road, card.id, approve(card.content_hash)));
      await sleep(60_000);
      answers.push(await insist(road, card.id, deny(card.content_hash)));
    },
  });
  expect(answers.slice(0, 2)).toEqual(["content_changed", "content_changed"]);
  expect([view.status, planCard(road).decisions.length]).toEqual(["denied", 1]);
  expect(road.platform.memory.begun).toEqual([]);
}
row(
  "approval of changed bytes",
  "[FLT-22] what is approved is what was shown and stands: anything else starts nothing",
  {
    "before commit": () => changed(refused.before),
    "after commit, before reply": () => changed(refused.after),
    "reply lost": () => changed(refused.lost),
    slow: () => changed(refused.slow),
  },
);
