/** From a person's decision to the executor that holds the checked token, and a crowd that decides the same cards. */
import { generateKeyPairSync } from "node:crypto";
import { type Caller, secondsAbreast } from "../call.ts";
import { percentile } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import type { Counted, Decided, Waiting } from "../worker/approvals-object.ts";
import { prepare, serve } from "../workerd.ts";
import { eachCall, type Group, type World } from "../world.ts";

const worker = { entry: "approvals-entry.ts", objects: { APPROVALS: "ApprovalsObject" } } as const;
const clients = 32;
const perAsk = 50;
const warmUp = 10;
/** Decided by that many of the crowd each. */
const rivals = 2;

export const approvals: Group = {
  name: "approvals",
  about: "from a decision to the checked token, and many who decide at once",
  async run(world) {
    const served = await serve(world.ground, await prepare(world.ground, worker));
    try {
      return [await road(world, served.caller), await crowd(world, served.caller)];
    } finally {
      await served.kill();
    }
  },
};

/** One after another: each sample is a plan in review, a yes, and an executor that asks at once. */
async function road({ sizes, say }: World, caller: Caller): Promise<Table> {
  const at = "/approvals/road";
  await caller.run(`${at}/open`, { signing: signingKeys() });
  const samples = { decide: [] as number[], claim: [] as number[], begin: [] as number[], all: [] as number[] };
  const count = Math.max(200, sizes.samples);
  say(`${count} decisions, one after another`);
  for (let number = -warmUp; number < count; number++) {
    const [card] = await caller.post<Waiting[]>(`${at}/ask`, { count: 1 });
    const decided: Decided = { card: card as Waiting, by: "ada", yes: true }; // One was asked for.
    const began = performance.now();
    const answer = await caller.post<string>(`${at}/decide`, decided);
    const afterDecide = performance.now();
    const ref = await caller.post<object>(`${at}/claim`, { agent: "crew-1" });
    const afterClaim = performance.now();
    await caller.run(`${at}/begin`, ref);
    const ended = performance.now();
    if (answer !== "ok") throw new Error(`a decision was answered ${answer}`);
    await caller.run(`${at}/cancel`, decided.card);
    if (number < 0) continue;
    samples.decide.push(afterDecide - began);
    samples.claim.push(afterClaim - afterDecide);
    samples.begin.push(ended - afterClaim);
    samples.all.push(ended - began);
  }
  const row = (what: string, of: readonly number[]): Row => ({
    what,
    figures: { p50_ms: percentile(of, 0.5), p99_ms: percentile(of, 0.99), max_ms: Math.max(...of) },
    durable: eachCall,
  });
  return {
    title: "approvals: from a decision sent to an executor that holds the checked token",
    how: `Over HTTP into the scope's own doors, ${count} plans of one item, one after another; the executor asks as soon as the decision is answered. Signing, verifying and the check of the stored bytes are in it; the platform's queue that wakes a sleeping executor is not.`,
    rows: [
      row("decision sent -> begun under its checked token", samples.all),
      row("of that, the decision: signed, verified, recorded, attached", samples.decide),
      row("of that, the claim", samples.claim),
      row("of that, the begin: token checked against the stored bytes", samples.begin),
    ],
    targets: [],
  };
}

/** Each card is sent to two of the crowd, who may say different things; all in an order of chance. */
async function crowd({ sizes, say }: World, caller: Caller): Promise<Table> {
  const at = "/approvals/crowd";
  await caller.run(`${at}/open`, { signing: signingKeys() });
  const size = sizes.cycles * 10;
  say(`${size} cards are made`);
  const cards: Waiting[] = [];
  while (cards.length < size)
    cards.push(...(await caller.post<Waiting[]>(`${at}/ask`, { count: Math.min(perAsk, size - cards.length) })));
  const work = cards.flatMap((card) =>
    Array.from({ length: rivals }, () => ({ card, order: Math.random(), yes: Math.random() < 0.5 })),
  );
  work.sort((a, b) => a.order - b.order);
  const answers = new Map<string, number>();
  const wins = new Map<string, number>();
  const took: number[] = [];
  say(`${work.length} decisions by ${clients} clients`);
  const seconds = await secondsAbreast(work.length, clients, async (number) => {
    const one = work[number];
    if (one === undefined) return;
    const began = performance.now();
    const decided: Decided = { card: one.card, by: `person-${number % clients}`, yes: one.yes };
    const answer = await caller.post<string>(`${at}/decide`, decided);
    took.push(performance.now() - began);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    if (answer === "ok") wins.set(one.card.id, (wins.get(one.card.id) ?? 0) + 1);
  });
  const seen = await caller.post<Counted>(`${at}/count`, { cards });
  const twice = [...wins.values()].filter((times) => times > 1).length;
  const whole =
    wins.size === size && seen.decided === size && seen.audited.decided === size && seen.tokens === seen.approved;
  if (twice > 0 || !whole)
    throw new Error(`decided twice: ${twice}; ${JSON.stringify({ ...seen, won: wins.size, answers: [...answers] })}`);
  return {
    title: `approvals: ${size} pending cards, ${clients} clients, each card sent to ${rivals} of them`,
    how: `In an order of chance, each a yes or a no by chance. ${answers.get("ok") ?? 0} won, ${answers.get("already_resolved") ?? 0} were told who had won; the rows hold ${seen.decided} decided cards, ${seen.audited.decided} decisions and ${seen.audited.refused} refusals in the audit, and ${seen.tokens} tokens for ${seen.approved} cards approved.`,
    rows: [
      {
        what: "decisions answered, won and lost",
        figures: {
          per_s: work.length / seconds,
          p50_ms: percentile(took, 0.5),
          p99_ms: percentile(took, 0.99),
          decided_per_s: size / seconds,
          decided_twice: twice,
        },
        durable: eachCall,
      },
    ],
    targets: [{ what: "cards decided twice", limit: 0, better: "at_most", unit: "cards", seen: twice }],
  };
}

function signingKeys(): string {
  const pair = generateKeyPairSync("ed25519");
  const key = { private: pair.privateKey.export({ format: "jwk" }), public: pair.publicKey.export({ format: "jwk" }) };
  return JSON.stringify({ active: "bench", keys: { bench: key } });
}
