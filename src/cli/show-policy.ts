/** A policy, its changes and its answers as text: whatever somebody wrote stays on its line, and nothing in it hides. [CLI-1] */
import { type Policy, policySchema } from "../domain/policy.ts";
import type { PolicyMove, PolicyVersion, PolicyView, ReplayView } from "../domain/policy-shapes.ts";
import { visible, visibleLine } from "../domain/visible.ts";
import { countOf } from "./counts.ts";

export function policyText(view: PolicyView): string {
  const read = policySchema.safeParse(view.policy);
  // A service newer than this command may know rules that this one does not.
  const body = read.success ? sections(read.data) : [visible(JSON.stringify(view.policy, null, 2))];
  return [versionRow(view), `hash        ${visibleLine(view.policy_hash)}`, ...body].join("\n");
}
export function versionRow({ version, changed_at, changed_by, reason }: PolicyVersion): string {
  const why = reason === null ? "" : `: ${visibleLine(reason)}`;
  return `version ${version}  ${changed_at}  by ${changed_by === null ? "the service" : visibleLine(changed_by)}${why}`;
}

const settings = ["auto_approve", "require_approval", "deny"] as const;
type Table = Policy["tools"];

function sections({ tools, roles, arguments: rules, gates, approvals }: Policy): string[] {
  return [
    ...section("Tools", settingRows(tools)),
    ...section(
      "Roles",
      Object.entries(roles).flatMap(([role, table]) =>
        settingRows(table).map((row) => `${visibleLine(role).padEnd(8)}  ${row}`),
      ),
    ),
    ...section(
      "Argument rules",
      rules.map(({ id, effect, check, params }) => ruleRow(id, effect, check, params)),
    ),
    ...section(
      "Gates",
      gates.map(({ id, action, trigger, check, params }) => ruleRow(id, action, `${trigger}  ${check}`, params)),
    ),
    ...section(
      "Approvals",
      Object.entries(approvals).map(([key, value]) => `${key.padEnd(16)}  ${visibleLine(JSON.stringify(value))}`),
    ),
  ];
}
function section(title: string, rows: readonly string[]): string[] {
  return ["", title, ...(rows.length === 0 ? ["  none"] : rows.map((row) => `  ${row}`))];
}
function settingRows(table: Table): string[] {
  return settings.flatMap((setting) => {
    const tools = Object.keys(table).filter((tool) => table[tool] === setting);
    return tools.length === 0 ? [] : [`${setting.padEnd(16)}  ${visibleLine(tools.join(", "))}`];
  });
}
function ruleRow(id: string, does: string, check: string, params: object): string {
  const given = Object.keys(params).length === 0 ? "" : `  ${visibleLine(JSON.stringify(params))}`;
  return `${visibleLine(id).padEnd(24)}  ${does.padEnd(8)}  ${check}${given}`;
}

export function moveRow({ path, before, after }: PolicyMove): string {
  const side = (value: string | null) => (value === null ? "(nothing)" : visibleLine(value));
  return `  ${visibleLine(path)}: ${side(before)} -> ${side(after)}`;
}

export const decisionWords = { run: "runs", ask: "asks", deny: "denied" } as const;
type Answer = ReplayView["changed"][number]["before"];

export function answerText({ decision, rule, reason }: Answer): string {
  return `${decisionWords[decision]}  ${visibleLine(rule)}: ${visibleLine(reason)}`;
}
const argumentCharacters = 200;
export function replayText({ checked, left_out, changed }: ReplayView): string {
  const left = left_out === 0 ? "" : `; ${countOf(left_out, "other was", "others were")} not looked at`;
  return [
    `${countOf(checked, "call")} checked, ${changed.length} would be answered otherwise${left}.`,
    ...changed.flatMap((call) => [
      `${visibleLine(call.call_id)} of ${visibleLine(call.attempt_id)}  ${visibleLine(call.tool)}  ${visibleLine(call.arguments.slice(0, argumentCharacters).toWellFormed())}`,
      `  now   ${answerText(call.before)}`,
      `  then  ${answerText(call.after)}`,
    ]),
  ].join("\n");
}
