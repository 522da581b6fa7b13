/**
 * What a person should know of a plan before they sign it: steps that policy will refuse or ask about although the
 * plan holds them, steps whose result will be held, and checks that run what the item itself may change. Remarks inform; they decide nothing. [REM-*]
 */
import { globProblem, globsOverlap, matchesAny } from "./glob.ts";
import type { Taint } from "./message.ts";
import type { Plan, PlanItem } from "./plan.ts";
import { type Policy, resolve } from "./policy.ts";
import { unnamedWrite } from "./policy-arguments.ts";
import { touchOf } from "./policy-call.ts";
import { type Deployment, underPreset } from "./under-preset.ts";

export function remarksOn(
  plan: Pick<Plan, "items">,
  policy: Policy,
  taint: Taint,
  deployment: Deployment = { permissive_allowed: false },
): string[] {
  return plan.items.flatMap((item) => [
    ...presetRemarks(item, deployment),
    ...stepRemarks(item, policy, taint, deployment),
    ...checkRemarks(item),
  ]);
}

/** What a preset is worth here, where that is not what its name says. */
function presetRemarks({ id, preset }: PlanItem, { permissive_allowed }: Deployment): string[] {
  if (preset !== "PERMISSIVE") return [];
  return permissive_allowed
    ? [`${id}: under the preset PERMISSIVE nobody is asked about a tool that it was not granted`]
    : [`${id}: the preset PERMISSIVE is not allowed in this deployment, so it counts as DEFAULT`];
}

function stepRemarks(item: PlanItem, policy: Policy, taint: Taint, deployment: Deployment): string[] {
  const { allow, steps } = item;
  const context = { role: "crew", taint, holds_secret: allow.secrets.length > 0, token: { allow, steps } } as const;
  return steps.flatMap((command, index) => {
    const resolved = resolve(policy, { tool: "shell_execute", args: { command } }, context);
    const found = underPreset(item.preset ?? "DEFAULT", "shell_execute", resolved, deployment);
    const step = `${item.id}, step ${index + 1}`;
    if (found.decision === "deny") return [`${step}: policy will refuse it (${found.rule}): ${found.reason}`];
    if (found.decision === "ask") return [`${step}: it will wait for an approval of its own: ${found.reason}`];
    const unnamed = unnamedWrite(touchOf({ tool: "shell_execute", args: { command } }), [], allow.paths);
    if (unnamed === null) return [];
    return [`${step}: it writes ${unnamed.path}, ${unnamed.what}: allow.paths does not name it, so its result is held`];
  });
}

/** A check proves nothing when the patch may change what the check runs. */
function checkRemarks(item: PlanItem): string[] {
  if (item.verify === "none") return [`${item.id}: nothing checks its result`];
  const open = item.verify.flatMap((check) => check.run.flatMap(pathsIn).filter((path) => isOpen(item, path)));
  return [...new Set(open)].map((path) => `${item.id}: its checks name ${path}, which it may change`);
}

/** Words of a command that look like a file: `./check.sh`, `test/*.js`, `--config=a.json`. */
function pathsIn(word: string): string[] {
  const path = word.replace(/^--?[\w-]+=/, "").replace(/^(?:\.\/)+/, "");
  const looksLikeAFile = /[/.]/.test(path) && !path.startsWith("-") && !/^[\w.+-]+:|\s/.test(path);
  return looksLikeAFile && globProblem(path) === null ? [path] : [];
}

function isOpen(item: PlanItem, path: string): boolean {
  if (matchesAny(item.protect, path)) return false;
  return item.allow.paths.some((granted) => globsOverlap(granted, path) || globsOverlap(granted, `${path}/**`));
}
