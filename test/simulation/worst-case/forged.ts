/** Tokens from elsewhere, and rows that a hand changed after somebody approved them. [WORST-2] */
import { statementFor } from "../../../durable-objects/runtime/tokens.ts";
import { assembleJws } from "../../../src/domain/jws.ts";
import { readJws, type Statement, signingInput } from "../../../src/domain/token.ts";
import { type Held, Keys, missing, scopeId, shell } from "../../fakes/held-scope.ts";
import { again, granted, type Stage, type Trick, tree, trick } from "./tricks.ts";

const family = "tokens and rows";
const call = shell("echo a");
const evil = shell("echo evil", "step-1", tree);
const day_ms = 24 * 3_600_000;

interface About {
  readonly task_id: string;
  readonly held: Held;
}
type Hand = (stage: Stage, about: About) => void | Promise<void>;

/** After the plan was approved and its attempt begun. */
const onItems: readonly (readonly [string, Hand])[] = [
  ["the steps", (stage, { task_id }) => spec(stage, task_id, { steps: ["echo evil"] })],
  [
    "the grant",
    (stage, { task_id }) => spec(stage, task_id, { allow: { ...allowOf(stage, task_id), commands: ["**"] } }),
  ],
  [
    "the hosts",
    (stage, { task_id }) => spec(stage, task_id, { allow: { ...allowOf(stage, task_id), hosts: ["evil.example"] } }),
  ],
  ["what is protected", (stage, { task_id }) => spec(stage, task_id, { protect: [] })],
  ["the checks", (stage, { task_id }) => spec(stage, task_id, { verify: [{ run: ["true"], timeout_s: 1 }] })],
  [
    "a byte of the plan",
    (stage, { task_id }) => plan(stage, task_id, (row) => ({ ...row, markdown: `${row.markdown} ` })),
  ],
  ["the base commit", (stage, { task_id }) => plan(stage, task_id, (row) => ({ ...row, base_commit: "c".repeat(40) }))],
  [
    "the environment",
    (stage, { task_id }) =>
      plan(stage, task_id, (row) => ({ ...row, environment: { ...row.environment, hosts: ["evil.example"] } })),
  ],
  ["the plan's standing", (stage, { task_id }) => plan(stage, task_id, (row) => ({ ...row, status: "superseded" }))],
  [
    "the repository",
    (stage, { task_id }) => {
      const task = stage.held.rows.tasks.get(task_id) ?? missing("task");
      stage.held.rows.tasks.put({ ...task, repo: "https://evil.example/x" });
    },
  ],
  ["one byte of the token", (stage, { task_id }) => jws(stage, task_id, (text) => flipped(text, text.length - 5))],
  [
    "one byte of what the token says",
    (stage, { task_id }) => jws(stage, task_id, (text) => flipped(text, text.indexOf(".") + 40)),
  ],
  [
    "the token's signature: none",
    (stage, { task_id }) => jws(stage, task_id, (text) => `${text.split(".").slice(0, 2).join(".")}.`),
  ],
  ["the token: alg none", (stage, { task_id }) => jws(stage, task_id, algNone)],
  ["the token: another key of the same name", (stage, { task_id }) => foreign(stage, task_id, {}, otherKeys(stage))],
  ["the token: another scope's", (stage, { task_id }) => foreign(stage, task_id, { scope: "anotherscope0000" })],
  ["the token: another task's", (stage, { task_id }) => foreign(stage, task_id, { task: "another" })],
  ["the token: signed well, never consumed", (stage, { task_id }) => foreign(stage, task_id, {})],
  ["the token: another nonce", (stage, { task_id }) => foreign(stage, task_id, { nonce: "0".repeat(32) })],
  ["the token: a later end", (stage, { task_id }) => foreign(stage, task_id, { exp: 4_000_000_000 })],
  [
    "the token: none",
    (stage, { task_id }) => stage.held.rows.items.put({ ...stage.item(task_id), grant: null }) && undefined,
  ],
  [
    "the token: another item's",
    async (stage, { task_id }) => {
      const other = await stage.held.planned(granted);
      await stage.approved(other);
      stage.held.rows.items.put({ ...stage.item(task_id), grant: stage.item(other).grant });
    },
  ],
  ["the key: revoked", ({ held }) => void held.keys.pairs.delete(held.keys.kid)],
  [
    "the policy: it denies now",
    ({ held }) => held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: "deny" } })),
  ],
  [
    "the policy: a gate blocks now",
    ({ held }) =>
      held.edit((policy) => ({
        ...policy,
        gates: [
          {
            ...{ id: "no-shell", trigger: "on_tool_call", lane: "policy", action: "block", check: "tool_named" },
            params: { tools: ["shell_execute"] },
          },
        ],
      })),
  ],
];

/** After a person allowed the one call. */
const onCalls: readonly (readonly [string, Hand])[] = [
  ["its arguments", (stage, { held }) => row(stage, held, { arguments: evil.arguments })],
  ["its tool", (stage, { held }) => row(stage, held, { tool: "python_execute" })],
  ["its token: the plan's", (stage, { held, task_id }) => row(stage, held, { grant: stage.item(task_id).grant })],
  ["its token: none", (stage, { held }) => row(stage, held, { grant: null })],
  [
    "its token: another call's",
    async (stage, { held }) => {
      const other = await stage.allowed(shell("echo b"));
      row(stage, held, { grant: stage.row(other.held).grant });
    },
  ],
  [
    "its token: one byte",
    (stage, { held }) => {
      const { grant } = stage.row(held);
      if (grant !== null) row(stage, held, { grant: { ...grant, jws: flipped(grant.jws, grant.jws.length - 5) } });
    },
  ],
  ["the key: revoked", ({ held }) => void held.keys.pairs.delete(held.keys.kid)],
  [
    "the policy: it denies now",
    ({ held }) => held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: "deny" } })),
  ],
];

export const forged: readonly Trick[] = [
  ...onItems.map(([name, hand]) =>
    trick(family, `changed after the plan was approved: ${name}`, async (stage) => {
      const about = await stage.going(granted);
      await hand(stage, about);
      await stage.try(about.held, call);
      await stage.try(about.held, shell("echo evil", "step-2"));
      return [];
    }),
  ),
  ...onCalls.map(([name, hand]) =>
    trick(family, `changed after the call was allowed: ${name}`, async (stage) => {
      const about = await stage.allowed();
      await hand(stage, about);
      await stage.try(about.held, again);
      await stage.try(about.held, evil);
      return [];
    }),
  ),
  trick(family, "a spent token put back", async (stage) => {
    const { held } = await stage.allowed();
    const before = stage.row(held);
    await stage.held.authorize(held, again);
    stage.held.settle(held, "step-1");
    stage.held.rows.calls.put(before);
    await stage.try(held, again);
    return [stage.effect(held)];
  }),
  trick(family, "a running call whose arguments were changed", async (stage) => {
    const { held } = await stage.allowed();
    await stage.held.authorize(held, again);
    row(stage, held, { arguments: evil.arguments });
    await stage.try(held, evil);
    return [stage.effect(held)];
  }),
  trick(family, "a plan's token after 30 days", async (stage) => {
    const task_id = await stage.held.planned(granted);
    await stage.approved(task_id);
    stage.held.now += 30 * day_ms;
    const held = stage.held.claim() ?? missing("request");
    const entry = await stage.held.begin(held);
    stage.note(stage.trick, entry.answer === "go" ? "run" : entry.answer, "reason" in entry ? entry.reason : "");
    await stage.try(held, call);
    return [];
  }),
  trick(family, "a call's token after 30 days", async (stage) => {
    const { task_id } = await stage.waiting();
    // Not so the plan's: it was approved anew meanwhile.
    await stage.approved(task_id);
    stage.held.now += 30 * day_ms;
    const held = stage.held.claim() ?? missing("request");
    await stage.held.begin(held);
    await stage.try(held, again);
    return [];
  }),
  trick(family, "one second before its end a token stands, whatever key signs by now", async (stage) => {
    const task_id = await stage.held.planned(granted);
    await stage.approved(task_id);
    stage.held.now += 30 * day_ms - 1_000;
    stage.held.keys.rotate();
    const held = await stage.held.begun();
    await stage.held.authorize(held, call);
    stage.held.now += 1_000;
    await stage.try(held, shell("echo a", "step-2"));
    return [stage.effect(held)];
  }),
];

function spec(stage: Stage, task_id: string, more: object): void {
  const item = stage.item(task_id);
  stage.held.rows.items.put({ ...item, spec: { ...item.spec, ...more } });
}
function allowOf(stage: Stage, task_id: string) {
  return stage.item(task_id).spec.allow;
}
type PlanRow = NonNullable<ReturnType<Stage["held"]["rows"]["plans"]["get"]>>;
function plan(stage: Stage, task_id: string, change: (row: PlanRow) => PlanRow): void {
  const [found] = stage.held.rows.plans.ofTask(task_id);
  stage.held.rows.plans.put(change(found ?? missing("plan")));
}
function row(stage: Stage, held: Held, more: Partial<ReturnType<Stage["row"]>>): void {
  stage.held.rows.calls.put({ ...stage.row(held), ...more });
}
function jws(stage: Stage, task_id: string, change: (text: string) => string): void {
  const item = stage.item(task_id);
  const grant = item.grant ?? missing("grant");
  stage.held.rows.items.put({ ...item, grant: { ...grant, jws: change(grant.jws) } });
}
function flipped(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
}
function algNone(text: string): string {
  const [head = "", body = ""] = text.split(".");
  const said = JSON.parse(Buffer.from(head, "base64url").toString());
  return `${Buffer.from(JSON.stringify({ ...said, alg: "none" })).toString("base64url")}.${body}.`;
}
/** The item's own statement said otherwise, and signed by a key of the deployment, or of somebody else. */
async function foreign(
  stage: Stage,
  task_id: string,
  more: Partial<Statement>,
  keys: Keys = stage.held.keys,
): Promise<void> {
  const read = readJws(stage.item(task_id).grant?.jws ?? "") ?? missing("statement");
  const { approval_id, content_hash, subject, policy_hash = "", approver } = read.statement;
  const about = { scope_id: scopeId, task_id, approval_id, content_hash, policy_hash, subject };
  const said = statementFor(about, { approver, approvers: [], nonce: "f".repeat(32), now: stage.held.now });
  const input = signingInput(keys.kid, { ...said, ...more });
  const made = assembleJws(input, await keys.sign(input));
  jws(stage, task_id, () => made);
}
function otherKeys(stage: Stage): Keys {
  const keys = new Keys();
  if (keys.kid !== stage.held.keys.kid) throw new Error("the two keys have two names");
  return keys;
}
