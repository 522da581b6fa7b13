/** A person's yes to one call, and another call behind it; or the same call once more. [WORST-2] */
import { lookedUp } from "../../../durable-objects/runtime/calls.ts";
import type { ToolCall } from "../../../src/agents/bus.ts";
import { askingPlan, callerOf, must, planOf, shell } from "../../fakes/held-scope.ts";
import { ada, again, granted, type Trick, tree, trick } from "./tricks.ts";

const family = "approval smuggling";
const exited = { state: "exited", exit_code: 0, signal: null, duration_ms: 1 } as const;
const raw = (text: string, call_id = "step-1"): ToolCall => ({ ...shell("", call_id, tree), arguments: text });

/** After a yes to `asked`, these are tried first; then the recorded call, which still runs once. */
const behind: readonly (readonly [string, ToolCall, ToolCall])[] = [
  ["another command", shell("echo a"), shell("echo b", "step-1", tree)],
  ["one blank more in the command", shell("echo a"), shell("echo  a", "step-1", tree)],
  ["one blank more in the text", shell("echo a"), raw('{ "command":"echo a"}')],
  ["a newline after the text", shell("echo a"), raw('{"command":"echo a"}\n')],
  ["the key escaped", shell("echo a"), raw('{"\\u0063ommand":"echo a"}')],
  ["the value escaped", shell("echo a"), raw('{"command":"echo \\u0061"}')],
  ["the key twice, first as allowed", shell("echo a"), raw('{"command":"echo a","command":"echo evil"}')],
  ["the key twice, last as allowed", shell("echo a"), raw('{"command":"echo evil","command":"echo a"}')],
  ["one key more", shell("echo a"), raw('{"command":"echo a","cwd":"src"}')],
  ["a key of the prototype", shell("echo a"), raw('{"__proto__":{},"command":"echo a"}')],
  ["the other form of é", shell("echo \u00e9"), shell("echo e\u0301", "step-1", tree)],
  ["the compatible form", shell("echo ﬁ"), shell("echo fi", "step-1", tree)],
  ["a Cyrillic letter", shell("echo a"), shell("echo а", "step-1", tree)],
  ["an unseen mark", shell("echo a"), shell("echo a\u200b", "step-1", tree)],
  ["a NUL at the end", shell("echo a"), shell("echo a\u0000", "step-1", tree)],
  ["another tool", shell("echo a"), { ...shell("echo a", "step-1", tree), tool: "python_execute" }],
  ["the tool in capitals", shell("echo a"), { ...shell("echo a", "step-1", tree), tool: "SHELL_EXECUTE" }],
  ["another number", raw('{"command":"echo a","timeout_ms":1}'), raw('{"command":"echo a","timeout_ms":10}')],
  ["the number as 1.0", raw('{"command":"echo a","timeout_ms":1}'), raw('{"command":"echo a","timeout_ms":1.0}')],
  ["the number as 1e0", raw('{"command":"echo a","timeout_ms":1}'), raw('{"command":"echo a","timeout_ms":1e0}')],
  ["the keys in another order", raw('{"command":"echo a","cwd":"src"}'), raw('{"cwd":"src","command":"echo a"}')],
  ["another id", shell("echo a"), shell("echo a", "step-2", tree)],
  ["the id with a blank", shell("echo a"), shell("echo a", "step-1 ", tree)],
  ["the id in capitals", shell("echo a"), shell("echo a", "STEP-1", tree)],
  ["the id with an unseen mark", shell("echo a"), shell("echo a", "step-1\u200b", tree)],
  ["the id with a path", shell("echo a"), shell("echo a", "x/../step-1", tree)],
  ["no id", shell("echo a"), shell("echo a", "", tree)],
  ["an id without end", shell("echo a"), shell("echo a", "step-1".repeat(10_000), tree)],
];

const elsewhere: readonly (readonly [string, string | null])[] = [
  ["in another workspace", "9".repeat(40)],
  ["in no workspace", null],
  ["in a workspace without a name", ""],
  ["in the same tree, in capitals", "ABCDEF".padEnd(40, "6")],
];

export const smuggling: readonly Trick[] = [
  ...behind.map(([name, asked, tried]) =>
    trick(family, `allowed one call, ran ${name}`, async (stage) => {
      const { held } = await stage.allowed(asked);
      await stage.try(held, tried);
      await stage.held.authorize(held, { ...asked, tree });
      return [stage.effect(held)];
    }),
  ),
  ...elsewhere.map(([name, other]) =>
    trick(family, `allowed in one workspace, ran ${name}`, async (stage) => {
      const { held } = await stage.allowed();
      await stage.try(held, shell("echo a", "step-1", other));
      // Void is void: the right tree comes too late.
      await stage.try(held, again);
      return [];
    }),
  ),
  trick(family, "ran again after it was settled", async (stage) => {
    const { held } = await stage.allowed();
    await stage.held.authorize(held, again);
    stage.held.settle(held, "step-1");
    await stage.try(held, again);
    return [stage.effect(held)];
  }),
  trick(family, "settled twice, then ran again", async (stage) => {
    const { held } = await stage.allowed();
    await stage.held.authorize(held, again);
    for (const _ of [1, 2]) stage.held.settle(held, "step-1");
    await stage.try(held, again);
    return [stage.effect(held)];
  }),
  trick(family, "settled what it never asked, then asked", async (stage) => {
    const { held } = await stage.going();
    stage.held.settle(held, "step-1");
    await stage.try(held, shell("echo a"));
    return [];
  }),
  trick(family, "settled what still waits", async (stage) => {
    const { held } = await stage.going();
    await stage.held.authorize(held, shell("echo a"));
    stage.held.settle(held, "step-1");
    stage.held.scope.commit((tx) =>
      lookedUp(tx, held.ref, { attempt_id: held.ref.attempt_id, call_id: "step-1" }, exited),
    );
    await stage.try(held, shell("echo a"));
    return [];
  }),
  trick(family, "settled what was allowed and never begun, then ran it", async (stage) => {
    const { held } = await stage.allowed();
    stage.held.settle(held, "step-1");
    if (stage.row(held).state !== "allowed") throw new Error("it was taken for one that ran");
    await stage.try(held, shell("echo b", "step-1", tree));
    await stage.held.authorize(held, again);
    return [stage.effect(held)];
  }),
  trick(family, "settled another's call, so that it would run again", async (stage) => {
    const { held } = await stage.going(granted);
    await stage.held.authorize(held, shell("echo a"));
    const thief = { ...held, ref: { ...held.ref, agent: "crew-9" } };
    stage.held.settle(thief, "step-1");
    if (stage.row(held).state !== "intent") throw new Error("another's word settled it");
    await stage.try(thief, shell("echo a"));
    return [stage.effect(held)];
  }),
  trick(family, "asked again with a small change after a no", async (stage) => {
    const { task_id, card } = await stage.waiting();
    must(await stage.held.deny(ada, card));
    must(await stage.held.approve(ada, stage.held.card(task_id)));
    const held = await stage.held.begun();
    await stage.try(held, shell("echo a"));
    await stage.try(held, shell("echo a", "step-2"));
    for (const [at, command] of ["echo  a", "echo a ", "echo 'a'", "echo a;", "echo a #"].entries())
      await stage.try(held, shell(command, `step-${3 + at}`));
    return [];
  }),
  trick(family, "asked 51 times, and 21 times in a minute", async (stage) => {
    stage.held.demand({ asks_per_task: 50, asks_per_minute: 20 });
    const { held } = await stage.going();
    for (let at = 1; at <= 21; at++) await stage.try(held, shell(`echo ${at}`, `step-${at}`));
    for (let at = 22; at <= 53; at++) {
      stage.held.now += 4_000;
      await stage.try(held, shell(`echo ${at}`, `step-${at}`));
    }
    return [];
  }),
  trick(family, "two attempts with one call id, one of them allowed", async (stage) => {
    const { held } = await stage.allowed();
    const other = await stage.going();
    await stage.try(other.held, again);
    await stage.held.authorize(held, again);
    return [stage.effect(held)];
  }),
  trick(family, "two items with one call id, one of them granted", async (stage) => {
    const items = ["id: a, runner: steps, verify: none", "id: b, runner: steps, verify: none"];
    const [a = "", b = ""] = items;
    const plan = planOf([
      `${a}, allow: { tools: [shell_execute], paths: ['a/**'] }`,
      `${b}, allow: { paths: ['b/**'] }`,
    ]);
    const task_id = await stage.held.planned(plan);
    await stage.approved(task_id);
    const both = [await stage.held.begun(), await stage.held.begun()];
    const [free, other] = both[0]?.ref.attempt_id.includes(".a.") ? both : both.toReversed();
    if (free === undefined || other === undefined) throw new Error("two items, two attempts");
    await stage.held.authorize(free, shell("echo a"));
    await stage.try(other, shell("echo a"));
    return [stage.effect(free)];
  }),
  ...(
    [
      ["a call with other arguments than it asked", shell("echo evil")],
      ["a call it never asked", shell("echo a", "step-7")],
      ["another tool than it asked", { ...shell("echo a"), tool: "python_execute" }],
    ] as const
  ).map(([name, shown]) =>
    trick(family, `showed a person ${name}`, async (stage) => {
      const { task_id, held } = await stage.going();
      await stage.held.authorize(held, shell("echo a"));
      await stage.held.suspend(held, shown, tree);
      const [card] = stage.held.cards(task_id);
      if (card !== undefined) await stage.held.approve(ada, card);
      const next = stage.held.claim();
      if (next === null) stage.note(stage.trick, "refused", "nobody could approve it");
      else {
        await stage.held.begin(next);
        await stage.try(next, { ...shown, tree });
        await stage.try(next, again);
      }
      return [];
    }),
  ),
  trick(family, "showed a person what policy denies", async (stage) => {
    const { task_id, held } = await stage.going();
    const evil = shell("rm -rf src");
    await stage.try(held, evil);
    await stage.held.suspend(held, evil, tree);
    const [card] = stage.held.cards(task_id);
    if (card !== undefined) await stage.held.approve(ada, card);
    const next = stage.held.claim();
    if (next !== null) {
      await stage.held.begin(next);
      await stage.try(next, { ...evil, tree });
    }
    return [];
  }),
  trick(family, "showed a person a call that has run, for a second time", async (stage) => {
    const { task_id, held } = await stage.allowed();
    await stage.held.authorize(held, again);
    stage.held.settle(held, "step-1");
    await stage.held.suspend(held, again, tree);
    const [card] = stage.held.cards(task_id);
    if (card !== undefined) await stage.held.approve(ada, card);
    const next = stage.held.claim();
    if (next === null) stage.note(stage.trick, "refused", "nobody could approve it");
    else {
      await stage.held.begin(next);
      await stage.try(next, again);
    }
    return [stage.effect(held)];
  }),
  trick(family, "showed a person a call that they had allowed already", async (stage) => {
    const { task_id, held } = await stage.allowed();
    await stage.held.suspend(held, again, tree);
    stage.note(stage.trick, stage.held.cards(task_id).length === 0 ? "refused" : "run", "it does not wait");
    await stage.try(held, again);
    return [];
  }),
  ...(["viewer", "submitter"] as const).map((role) =>
    trick(family, `approved by a ${role}`, async (stage) => {
      const { card } = await stage.waiting();
      const said = await stage.held.approve(callerOf("eve", role), card);
      stage.note(stage.trick, said.ok ? "run" : "refused", said.ok ? "" : said.refusal.code);
      if (stage.held.claim() !== null) throw new Error("the attempt goes on");
      return [];
    }),
  ),
  trick(family, "approved with the hash of another card", async (stage) => {
    const one = await stage.waiting();
    const two = await stage.waiting(shell("echo b"));
    const said = await stage.held.approve(ada, { id: two.card.id, content_hash: one.card.content_hash });
    stage.note(stage.trick, said.ok ? "run" : "refused", said.ok ? "" : said.refusal.code);
    if (stage.held.claim() !== null) throw new Error("the attempt goes on");
    return [];
  }),
  trick(family, "approved, and the plan's own yes taken for the call's", async (stage) => {
    const { task_id, held } = await stage.going();
    await stage.held.authorize(held, shell("echo a"));
    const { grant } = stage.item(task_id);
    stage.held.rows.calls.put({ ...stage.row(held), state: "allowed", grant });
    await stage.try(held, again);
    return [];
  }),
  trick(family, "asked without ever having begun", async (stage) => {
    const task_id = await stage.held.planned(askingPlan);
    await stage.approved(task_id);
    const held = stage.held.claim();
    if (held === null) throw new Error("there is nothing to claim");
    await stage.try(held, shell("echo a"));
    return [];
  }),
];
