/**
 * What a preset makes of a call that the policy has resolved. READONLY denies what changes anything. DEFAULT takes the
 * policy as it is. STRICT asks a person before anything is changed, whatever was granted. PERMISSIVE does not ask about
 * a tool for its name alone, where the deployment allows that. None lifts a denial, a gate or an argument rule. [PRE-*]
 */
import type { Resolution } from "./policy.ts";
import { readingTools } from "./policy-call.ts";
import type { Preset } from "./presets.ts";

/** `permissive_allowed`: the deployment's own switch. */
export interface Deployment {
  readonly permissive_allowed: boolean;
}

/** Whether an agent under the preset is offered the tool at all. */
export function offeredUnder(preset: Preset, tool: string): boolean {
  return preset !== "READONLY" || readingTools.includes(tool);
}

export function underPreset(preset: Preset, tool: string, resolved: Resolution, deployment: Deployment): Resolution {
  if (resolved.decision === "deny") return resolved;
  const rule = `preset:${preset}`;
  switch (preset) {
    case "DEFAULT":
      return resolved;
    case "READONLY":
      if (readingTools.includes(tool)) return resolved;
      return { ...resolved, decision: "deny", rule, reason: "it may only read" };
    case "STRICT":
      if (resolved.decision === "ask" || readingTools.includes(tool)) return resolved;
      return { ...resolved, decision: "ask", rule, reason: "a person is asked before anything is changed" };
    case "PERMISSIVE":
      if (!deployment.permissive_allowed || resolved.decision === "run" || !asksForName(resolved.rule)) return resolved;
      return { ...resolved, decision: "run", rule, reason: "nobody is asked about this tool by itself" };
  }
}

/** It asks because of which tool it is, not because of what this call does or who has read what. */
function asksForName(rule: string): boolean {
  return rule === "default" || rule.startsWith("tool:") || rule.startsWith("role:");
}
