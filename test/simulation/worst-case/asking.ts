/** The forbidden calls, each once, under one policy and one grant. The control calls between them must run. [WORST-1] */
import type { Policy } from "../../../src/domain/policy.ts";
import { planOf } from "../../fakes/held-scope.ts";
import { destruction } from "./destruction.ts";
import { exfiltration } from "./exfiltration.ts";
import type { Family, Opening } from "./forbidden.ts";
import { names } from "./names.ts";
import { persistence } from "./persistence.ts";
import { type Outcome, Scene } from "./scene.ts";

export const families: readonly Family[] = [destruction, exfiltration, persistence, names];

export interface Ruled {
  readonly under: string;
  readonly opening: Opening | null;
  readonly allow: string;
  readonly policy: (policy: Policy) => Policy;
}
const everyTool = "shell_execute, file_read, file_write, file_edit, file_delete, python_execute, git_push, web_search";
export const rulings: readonly Ruled[] = [
  { under: "the default policy", opening: null, allow: "paths: ['src/**']", policy: (policy) => policy },
  {
    ...{ under: "a grant of every tool, path and command", opening: "grant", policy: (policy) => policy },
    allow: `tools: [${everyTool}], paths: ['**'], commands: ['**']`,
  },
  {
    ...{ under: "a policy that lets every tool run", opening: "auto", allow: "paths: ['src/**']" },
    policy: (policy) => ({
      ...policy,
      tools: everyAuto(policy),
      roles: { ...policy.roles, crew: { "*": "auto_approve" } },
    }),
  },
];
/** What it denies by name it still denies. */
function everyAuto(policy: Policy): Policy["tools"] {
  const open = Object.entries(policy.tools).map(([tool, to]) => [tool, to === "deny" ? to : "auto_approve"] as const);
  return { ...Object.fromEntries(open), "*": "auto_approve" };
}
/** Harmless under all of them. */
const control = { tool: "file_read", arguments: '{"path":"src/a.ts"}' };

export async function askAll({ family, calls }: Family, { opening, allow, policy }: Ruled): Promise<Outcome> {
  const scene = new Scene(family);
  try {
    scene.held.edit(policy);
    const task_id = await scene.held.planned(planOf([`id: a, runner: steps, verify: none, allow: { ${allow} }`]));
    await scene.approved(task_id);
    const held = await scene.held.begun();
    const may: string[] = [];
    for (const [at, call] of calls.entries()) {
      const call_id = `step-${at + 1}`;
      await scene.ask(call.name, held, { call_id, step: at, tool: call.tool, arguments: call.arguments, tree: null });
      if (opening !== null && call.opens.includes(opening)) may.push(`${call_id} ${call.tool}`);
    }
    await scene.held.authorize(held, { call_id: "control", step: 0, tree: null, ...control });
    may.push(`control ${control.tool}`);
    return scene.outcome(may.map((one) => `${held.ref.attempt_id}/${one}`));
  } finally {
    scene.close();
  }
}
