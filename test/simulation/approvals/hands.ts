/** What else may happen to a scope in a walk: an admin edits the policy, or a hand changes stored rows behind everybody's back. */
import type { Policy } from "../../../src/domain/policy.ts";
import type { HeldScope } from "../../fakes/held-scope.ts";
import type { Random } from "../random.ts";

/** Another policy, chosen now and stored when called. Says what it is. */
export function edited(held: HeldScope, dice: Random): () => string {
  const { chance, int } = dice;
  const tool = chance(0.8) ? "require_approval" : chance(0.5) ? "auto_approve" : "deny";
  const approvals: Policy["approvals"] = {
    two_approvers: [...(chance(0.2) ? (["plan"] as const) : []), ...(chance(0.3) ? (["tool_call"] as const) : [])],
    own_task: chance(0.2) ? "forbid" : "allow",
    proof: { kinds: chance(0.15) ? { tool_call: "session" } : {}, tools: {} },
    expires_after_s: { ...(chance(0.3) ? { tool_call: 3_600 } : {}), ...(chance(0.2) ? { plan: 7_200 } : {}) },
    asks_per_task: chance(0.1) ? int(1, 3) : 50,
    asks_per_minute: chance(0.1) ? int(1, 3) : 1_000,
  };
  return () => {
    held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: tool }, approvals }));
    return `${tool} ${JSON.stringify(approvals)}`;
  };
}

/** One of a task's rows with other content than it was stored with. Says which. */
export function tampered(held: HeldScope, dice: Random, task_id: string): () => string {
  const { rows } = held;
  const evil = '{"command":"echo evil"}';
  const calls = rows.calls.ofTask(task_id);
  const cards = rows.approvals.ofTask(task_id).filter(({ status }) => status === "pending");
  const tokens = [...rows.items.all(), ...rows.calls.all()].flatMap(({ grant }) => (grant === null ? [] : [grant]));
  const ways: (() => string)[] = [
    ...calls.map((call) => () => {
      rows.calls.put({ ...call, arguments: evil });
      return `the arguments of ${call.id}`;
    }),
    ...calls.map((call) => () => {
      const grant = tokens.length === 0 ? null : { ...dice.pick(tokens), life: "attached" as const, void_reason: null };
      rows.calls.put({ ...call, state: "allowed", grant });
      return `${call.id} is allowed by a token from elsewhere`;
    }),
    ...cards.flatMap((card) => {
      const { tool } = card.card;
      if (tool === null) return [];
      return [
        () => {
          rows.approvals.put({ ...card, card: { ...card.card, tool: { ...tool, arguments: evil } } });
          return `what card ${card.id} shows`;
        },
      ];
    }),
    ...rows.items.ofTask(task_id).map((item) => () => {
      rows.items.put({ ...item, spec: { ...item.spec, steps: ["echo evil"] } });
      return `the steps of ${item.id}`;
    }),
    ...rows.items.ofTask(task_id).map((item) => () => {
      const grant = tokens.length === 0 ? null : { ...dice.pick(tokens), life: "attached" as const, void_reason: null };
      rows.items.put({ ...item, grant });
      return `${item.id} has a token from elsewhere`;
    }),
  ];
  return ways.length === 0 ? () => "nothing" : dice.pick(ways);
}
