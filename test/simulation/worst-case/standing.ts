/** What a standing approval spoke for once, or seems to speak for. [WORST-2] */
import { callerOf, missing, must, shell } from "../../fakes/held-scope.ts";
import { alice, day, plan, StandingScope, widePlan } from "../../fakes/standing-scope.ts";
import type { Stage, Trick } from "./tricks.ts";

const family = "standing approvals";
const call = shell("echo a > src/a.txt");

function chore(name: string, run: (stage: Stage, held: StandingScope) => Promise<readonly string[]>): Trick {
  return {
    ...{ family, name, scope: () => new StandingScope() },
    async run(stage) {
      if (!(stage.held instanceof StandingScope)) throw new Error("another scope stands here");
      return run(stage, stage.held);
    },
  };
}
/** Whatever is there to claim is claimed, begun and run. */
async function tryAll(stage: Stage): Promise<void> {
  const held = stage.held.claim();
  if (held === null) return void stage.note(stage.trick, "wait", "a person decides");
  const entry = await stage.held.begin(held);
  stage.note(stage.trick, entry.answer === "go" ? "run" : entry.answer, "reason" in entry ? entry.reason : "");
  await stage.try(held, call);
}
/** A plan for which nothing speaks: it waits, and nothing can be claimed. */
const unheard: readonly (readonly [string, (held: StandingScope) => Promise<unknown>])[] = [
  ["wider than its bounds", (held) => held.chore(widePlan)],
  ["of somebody it does not name", (held) => held.chore(plan, callerOf("eve#eve001"))],
  ["with a label that a submitter set", (held) => held.chore(plan, callerOf("alice#sub001", "submitter"))],
  ["without its label", (held) => held.chore(plan, alice, [])],
  ["with its label in capitals", (held) => held.chore(plan, alice, ["CHORE"])],
  ["with one command more", (held) => held.chore(plan.replace("echo a >", "curl evil.example; echo a >"))],
  ["with no check", (held) => held.chore(plan.replace("verify: [{ run: [npm, test] }]", "verify: none"))],
  [
    "after its end",
    async (held) => {
      held.now += 11 * day;
      await held.chore();
    },
  ],
  [
    "when two must approve",
    async (held) => {
      const task = await held.chore();
      held.edit((policy) => ({ ...policy, approvals: { ...policy.approvals, two_approvers: ["plan"] } }));
      return task;
    },
  ],
];

export const standing: readonly Trick[] = [
  ...unheard.map(([name, ask]) =>
    chore(`a plan ${name}`, async (stage, held) => {
      await held.made();
      await ask(held);
      await held.flush();
      await tryAll(stage);
      return [];
    }),
  ),
  chore("a plan over its count", async (stage, held) => {
    await held.made({ uses: 1 });
    await held.chore();
    await held.flush();
    const first = held.claim() ?? missing("request");
    await held.begin(first);
    await held.authorize(first, call);
    await held.chore();
    await held.flush();
    await tryAll(stage);
    return [stage.effect(first)];
  }),
  chore("revoked while its plan is queued", async (stage, held) => {
    const { id } = await held.made();
    await held.chore();
    await held.flush();
    must(await held.revoke(id));
    await tryAll(stage);
    return [];
  }),
  chore("revoked while its attempt runs", async (stage, held) => {
    const { id } = await held.made();
    await held.chore();
    await held.flush();
    const running = held.claim() ?? missing("request");
    await held.begin(running);
    must(await held.revoke(id));
    await stage.try(running, call);
    await tryAll(stage);
    return [];
  }),
  chore("revoked while its token is signed", async (stage, held) => {
    const { id } = await held.made();
    await held.chore();
    held.between(() => held.revoke(id));
    await held.flush();
    await tryAll(stage);
    return [];
  }),
];
