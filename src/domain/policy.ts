/**
 * Which tool call runs, waits for a person, or never runs. The first match decides: what denies, the gates,
 * files that only a grant by name opens, the attempt's token, argument rules that ask, the role, the tool, and
 * else it asks. Deny is a floor:
 * nothing lifts it but another policy. [POL-*] [INV-07]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { readingGranted } from "./grant.ts";
import { pathGranted } from "./grant-paths.ts";
import { hostMatches } from "./hosts.ts";
import { argumentDepth, nestedAtMost } from "./nesting.ts";
import type { Grant } from "./plan-shape.ts";
import { approvalRules } from "./policy-approvals.ts";
import type { ArgumentRule } from "./policy-arguments.ts";
import { argumentRule, brokenBy, defaultArgumentRules, standsBeforeGrant } from "./policy-arguments.ts";
import type { CallContext, CallTouch, ToolCall, TrustRole } from "./policy-call.ts";
import { readingTools, touchOf, trustRoles } from "./policy-call.ts";
import type { Gate, GateNote } from "./policy-gates.ts";
import { evaluateGates, gate } from "./policy-gates.ts";
import { foldName } from "./workspace-path.ts";

const setting = z.enum(["auto_approve", "require_approval", "deny"]);
type Setting = z.infer<typeof setting>;
const toolName = /^[a-z][a-z0-9_]{0,63}$/;
/** `*` is for tools that the policy names nowhere. */
const table = z.record(
  z
    .string()
    .regex(/^(?:\*|[a-z][a-z0-9_]{0,63})$/, { error: "a tool's name is a-z, 0-9 and _, at most 64 of them; or *" }),
  setting,
);

export const policySchema = z
  .strictObject({
    tools: table,
    roles: z.partialRecord(z.enum(trustRoles), table),
    arguments: z.array(argumentRule).max(100),
    gates: z.array(gate).max(100),
    approvals: approvalRules.prefault({}),
  })
  .refine((policy) => globsIn(policy) <= limits.policy_globs, {
    error: `all rules and gates together have at most ${limits.policy_globs} globs`,
  });
export type Policy = z.infer<typeof policySchema>;
interface Globbed {
  readonly arguments: readonly ArgumentRule[];
  readonly gates: readonly Gate[];
}
function globsIn({ arguments: rules, gates }: Globbed): number {
  const lists = [...rules, ...gates].map(({ params }) =>
    "also" in params ? params.also.length : "globs" in params ? params.globs.length : 0,
  );
  return lists.reduce((sum, length) => sum + length, 0);
}

const asking = [
  "file_write",
  "file_edit",
  "shell_execute",
  "python_execute",
  "skill_execute",
  "git_add",
  "git_commit",
  "git_push",
  "task_assign",
  "agent_spawn",
  "agent_stop",
];
const denied = ["delete", "file_delete", "force_push"];

export const defaultPolicy: Policy = {
  tools: {
    ...all(
      readingTools.filter((tool) => tool !== "context_inspect"),
      "auto_approve",
    ),
    ...all(asking, "require_approval"),
    ...all(denied, "deny"),
  },
  roles: {
    mayor: all(["task_assign", "agent_spawn", "agent_stop", "git_commit"], "auto_approve"),
    deacon: all(["task_assign"], "auto_approve"),
    witness: all([...asking, ...denied, "*"], "deny"),
  },
  arguments: [...defaultArgumentRules],
  gates: [
    {
      id: "rule-of-two",
      trigger: "on_tool_call",
      lane: "policy",
      action: "ask",
      check: "rule_of_two",
      params: {
        inside: [
          ...readingTools.filter((tool) => tool !== "web_search"),
          "file_write",
          "file_edit",
          "git_add",
          "git_commit",
        ],
      },
    },
    ...(["every_user_message", "every_agent_response"] as const).map((trigger) => ({
      id: trigger === "every_user_message" ? "invisible-in-message" : "invisible-in-response",
      trigger,
      lane: "quality" as const,
      action: "annotate" as const,
      check: "invisible_text" as const,
      params: {},
    })),
  ],
  approvals: approvalRules.parse({}),
};
function all(tools: readonly string[], to: Setting): Record<string, Setting> {
  return Object.fromEntries(tools.map((tool) => [tool, to]));
}

export interface Resolution {
  readonly decision: "run" | "ask" | "deny";
  /** `argument:<id>`, `tool:<name>`, `role:<role>`, `gate:<id>`, `token`, `default`, or `arguments` where they cannot be judged. */
  readonly rule: string;
  readonly reason: string;
  /** What gates only remarked. */
  readonly notes: readonly GateNote[];
}

export function resolve(policy: Policy, call: ToolCall, context: CallContext): Resolution {
  if (!nestedAtMost(argumentDepth, call.args))
    return { decision: "deny", rule: "arguments", reason: "its arguments are nested too deep to be judged", notes: [] };
  const touch = touchOf(call);
  if (touch.paths.length > limits.call_paths)
    return { decision: "deny", rule: "arguments", reason: "it names more files than anybody reads", notes: [] };
  const denial = denialOf(policy, touch, context);
  if (denial !== null) return { ...denial, notes: [] };
  const gates = evaluateGates(policy.gates, "on_tool_call", {
    text: JSON.stringify(call.args),
    taint: context.taint,
    call: { touch, context, args: call.args },
  });
  const notes = gates.notes;
  if (gates.action !== "pass")
    return {
      decision: gates.action === "block" ? "deny" : "ask",
      rule: `gate:${gates.gate}`,
      reason: gates.reason,
      notes,
    };
  const unnamed = firstBroken(policy.arguments.filter(standsBeforeGrant), "ask", touch, context);
  if (unnamed !== null) return { decision: "ask", ...unnamed, notes };
  const granted = grantedBy(context.token, touch);
  if (granted !== null) return { decision: "run", rule: "token", reason: granted, notes };
  return { ...ungranted(policy, touch, context), notes };
}

type Verdict = Omit<Resolution, "notes">;

/** The floor. */
function denialOf(policy: Policy, touch: CallTouch, context: CallContext): Verdict | null {
  const broken = firstBroken(policy.arguments, "deny", touch, context);
  if (broken !== null) return { decision: "deny", ...broken };
  // Another spelling of a denied name may reach the same tool.
  for (const tool of new Set([touch.tool, foldName(touch.tool).trim()])) {
    if (settingOf(policy.tools, tool, policy) === "deny")
      return { decision: "deny", rule: `tool:${tool}`, reason: `the policy denies ${tool}` };
    if (roleSetting(policy, context.role, tool) === "deny")
      return {
        decision: "deny",
        rule: `role:${context.role}`,
        reason: `the policy denies ${tool} to the role ${context.role}`,
      };
  }
  return null;
}

/** What neither is denied nor gated nor granted. */
function ungranted(policy: Policy, touch: CallTouch, context: CallContext): Verdict {
  const asks = firstBroken(policy.arguments, "ask", touch, context);
  if (asks !== null) return { decision: "ask", ...asks };
  const byRole = roleSetting(policy, context.role, touch.tool);
  if (byRole !== null)
    return settled(
      byRole,
      `role:${context.role}`,
      `the role ${context.role} may use ${touch.tool}`,
      `the role ${context.role} asks for ${touch.tool}`,
    );
  const byTool = settingOf(policy.tools, touch.tool, policy);
  if (byTool !== null)
    return settled(
      byTool,
      `tool:${touch.tool}`,
      `the policy allows ${touch.tool}`,
      `the policy asks for ${touch.tool}`,
    );
  return { decision: "ask", rule: "default", reason: `${touch.tool.slice(0, 60)} is not in the policy` };
}
function settled(to: Setting, rule: string, runs: string, asks: string): Verdict {
  return to === "auto_approve" ? { decision: "run", rule, reason: runs } : { decision: "ask", rule, reason: asks };
}

function firstBroken(
  rules: readonly ArgumentRule[],
  effect: ArgumentRule["effect"],
  touch: CallTouch,
  context: CallContext,
): { rule: string; reason: string } | null {
  for (const rule of rules) {
    const reason = rule.effect === effect ? brokenBy(rule, touch, context) : null;
    if (reason !== null) return { rule: `argument:${rule.id}`, reason };
  }
  return null;
}

function roleSetting(policy: Policy, role: TrustRole, tool: string): Setting | null {
  return settingOf(policy.roles[role] ?? {}, tool, policy);
}
/** Own entries only: a tool may be called `constructor`. */
function settingOf(from: Readonly<Record<string, Setting>>, tool: string, policy: Policy): Setting | null {
  if (Object.hasOwn(from, tool) && tool !== "*") return from[tool] ?? null;
  if (Object.hasOwn(policy.tools, tool) && tool !== "*") return null;
  const others = from["*"] ?? null;
  // What no policy could name is no tool: no word for the others lets it run.
  return others === "auto_approve" && !toolName.test(tool) ? null : others;
}

/** Why the token grants the call; null when it does not. The grant names the tool, and all the call touches. */
function grantedBy(token: CallContext["token"], touch: CallTouch): string | null {
  if (token === null || !token.allow.tools.includes(touch.tool) || touch.odd !== null) return null;
  // What no policy could name is no tool, whoever wrote it into a grant.
  if (!toolName.test(touch.tool)) return null;
  if (touch.tool === "shell_execute") return shellGrant(token.allow, token.steps, touch);
  // Which file it changes must be seen where files are granted.
  if (touch.writes && touch.tool.startsWith("file_") && touch.paths.length === 0) return null;
  const inPaths = touch.paths.every((path) => pathGranted(path, token.allow, touch.cwd));
  const inHosts = touch.hosts.every((host) => token.allow.hosts.some((entry) => hostMatches(entry, host)));
  return inPaths && inHosts ? `the approved plan grants ${touch.tool}` : null;
}
function shellGrant(allow: Grant, steps: readonly string[], touch: CallTouch): string | null {
  if (touch.shell === null || touch.script === null) return null;
  if (touch.cwd === "." && steps.includes(touch.script)) return "the approved plan holds this block";
  return readingGranted(touch.shell, allow, touch.cwd) ? "the approved plan grants these commands" : null;
}
