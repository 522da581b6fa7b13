/**
 * Gates: deterministic checks at fixed points, as data. The policy lane may block or ask; the quality
 * lane may only annotate. Agents never see them. [POL-*] [GATE-*]
 */
import { z } from "zod";
import { gatedFile, gatedPath, wordsOfCall } from "./gate-paths.ts";
import { invisibleIn, SearchedText, secretIn } from "./gate-texts.ts";
import { globProblem } from "./glob.ts";
import type { JsonValue, Taint } from "./message.ts";
import { taint, taints } from "./message.ts";
import type { CallContext, CallTouch } from "./policy-call.ts";
import { sandboxTools } from "./taint.ts";

export const gateTriggers = ["every_user_message", "on_tool_call", "after_step", "every_agent_response"] as const;
export type GateTrigger = (typeof gateTriggers)[number];

const common = {
  id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
  trigger: z.enum(gateTriggers),
  lane: z.enum(["policy", "quality"]),
  action: z.enum(["block", "ask", "annotate"]),
};
const words = z.array(z.string().min(1).max(500)).min(1).max(200);
const globs = z
  .array(z.string().refine((glob) => globProblem(glob) === null, { error: "is not a glob" }))
  .min(1)
  .max(200);
export const gate = z
  .discriminatedUnion("check", [
    z.strictObject({ ...common, check: z.literal("tool_named"), params: z.strictObject({ tools: words }) }),
    z.strictObject({ ...common, check: z.literal("path_matches"), params: z.strictObject({ globs }) }),
    z.strictObject({ ...common, check: z.literal("text_contains"), params: z.strictObject({ any: words }) }),
    z.strictObject({
      ...common,
      check: z.literal("text_longer_than"),
      params: z.strictObject({ characters: z.int().positive() }),
    }),
    /** Characters that nobody sees: they hide, reorder or carry other text. */
    z.strictObject({ ...common, check: z.literal("invisible_text"), params: z.strictObject({}) }),
    /** Tokens and keys by their known shapes. What was found is never repeated. */
    z.strictObject({ ...common, check: z.literal("secret_like"), params: z.strictObject({}) }),
    z.strictObject({ ...common, check: z.literal("taint_at_least"), params: z.strictObject({ taint }) }),
    /** `inside`: tools known to stay within the workspace; every other one is held to reach out. */
    z.strictObject({
      ...common,
      check: z.literal("rule_of_two"),
      params: z.strictObject({ inside: z.array(z.string()) }),
    }),
  ])
  .refine((one) => one.lane === "policy" || one.action === "annotate", {
    error: "a gate of the quality lane may only annotate",
  });
export type Gate = z.infer<typeof gate>;

/** What a gate looks at: a text (message, step output, response), or a tool call. */
export interface GateSubject {
  readonly text: string;
  readonly taint: Taint;
  readonly call: { readonly touch: CallTouch; readonly context: CallContext; readonly args: JsonValue } | null;
  /** The files of a finished patch. */
  readonly files?: readonly string[];
}
/** What several gates read is made once for all of them. */
interface Read extends GateSubject {
  /** The text, and what a call says in words. */
  readonly said: string;
  readonly searched: SearchedText;
}
export interface GateNote {
  readonly gate: string;
  readonly reason: string;
}
export interface GateOutcome {
  readonly action: "pass" | "ask" | "block";
  /** The gate that decided; null when all passed. */
  readonly gate: string | null;
  readonly reason: string;
  readonly notes: readonly GateNote[];
}

/** All gates of the trigger are asked; one that blocks wins over one that asks, else the first. */
export function evaluateGates(gates: readonly Gate[], trigger: GateTrigger, subject: GateSubject): GateOutcome {
  const { call, text } = subject;
  const said = call === null ? text : `${text}\n${wordsOfCall(call.args, call.touch)}`;
  const asked = gates.filter((one) => one.trigger === trigger);
  const lists = asked.flatMap((one) => (one.check === "text_contains" ? [one.params.any] : []));
  const read: Read = { ...subject, said, searched: new SearchedText(said, lists) };
  const fired = asked.flatMap((one) => {
    const reason = firedBy(one, read);
    return reason === null ? [] : [{ gate: one.id, action: one.action, reason }];
  });
  const notes = fired.filter((one) => one.action === "annotate").map(({ gate: id, reason }) => ({ gate: id, reason }));
  const deciding = fired.find((one) => one.action === "block") ?? fired.find((one) => one.action === "ask");
  if (deciding === undefined || deciding.action === "annotate")
    return { action: "pass", gate: null, reason: "no gate objects", notes };
  return { action: deciding.action, gate: deciding.gate, reason: deciding.reason, notes };
}

function firedBy(one: Gate, subject: Read): string | null {
  const { call, text } = subject;
  switch (one.check) {
    case "tool_named":
      return call !== null && one.params.tools.includes(call.touch.tool)
        ? `the tool ${call.touch.tool} is gated`
        : null;
    case "path_matches":
      return call === null ? gatedFile(one.params.globs, subject.files ?? []) : gatedPath(one.params.globs, call.touch);
    case "text_contains": {
      const found = subject.searched.wordIn(one.params.any);
      return found === null ? null : `the text contains "${found}"`;
    }
    case "text_longer_than":
      return text.length > one.params.characters ? `the text has more than ${one.params.characters} characters` : null;
    case "invisible_text": {
      const found = invisibleIn(text);
      return found === null ? null : `the text holds characters that nobody sees (${found})`;
    }
    case "secret_like": {
      const found = secretIn(subject.said);
      return found === null ? null : `the text seems to hold ${found}`;
    }
    case "taint_at_least":
      return taints.indexOf(subject.taint) >= taints.indexOf(one.params.taint)
        ? `it derives from ${subject.taint} content`
        : null;
    case "rule_of_two":
      return call === null ? null : reachesOut(one.params.inside, subject.taint, call);
  }
}

/** Untrusted content, a secret and a way out never meet unasked. */
function reachesOut(
  inside: readonly string[],
  read: Taint,
  call: { touch: CallTouch; context: CallContext },
): string | null {
  const untrusted = taints.indexOf(read) >= taints.indexOf("outsider");
  if (!untrusted || !call.context.holds_secret) return null;
  // What runs in the sandbox has no network but what the grant opens.
  const sandboxed = sandboxTools.includes(call.touch.tool) && (call.context.token?.allow.hosts.length ?? 0) === 0;
  if (call.touch.hosts.length === 0 && (sandboxed || inside.includes(call.touch.tool))) return null;
  return "the run has read untrusted content and holds a secret: what leaves the workspace is asked for";
}
