/** One call against one policy, answered as `decision rule`. */
import type { JsonValue } from "../../src/domain/message.ts";
import type { Grant } from "../../src/domain/plan-shape.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import type { CallContext } from "../../src/domain/policy-call.ts";

const grant = (more: Partial<Grant> = {}): Grant => ({
  tools: [],
  paths: [],
  commands: [],
  hosts: [],
  secrets: [],
  ...more,
});
export const token = (more: Partial<Grant>, steps: string[] = []) => ({ allow: grant(more), steps });
export const crew: CallContext = { role: "crew", taint: "member", holds_secret: false, token: null };
export const asked = (
  tool: string,
  args: JsonValue = {},
  context: Partial<CallContext> = {},
  policy: Policy = defaultPolicy,
) => {
  const { decision, rule } = resolve(policy, { tool, args }, { ...crew, ...context });
  return `${decision} ${rule}`;
};
export const shell = (command: string, context: Partial<CallContext> = {}, more: Record<string, JsonValue> = {}) =>
  asked("shell_execute", { command, ...more }, context);
