/**
 * What one policy changes against another: place by place, and in what it would have answered to calls that are on
 * record. [PDT-4] [PDT-5]
 */
import { canonicalJson } from "./canonical.ts";
import type { JsonValue } from "./message.ts";
import { type Policy, type Resolution, resolve } from "./policy.ts";
import type { CallContext } from "./policy-call.ts";
import type { PolicyMove } from "./policy-shapes.ts";

const valueCharacters = 300;

/** Every place where the two differ, as the documents are written. */
export function diffPolicies(before: Policy, after: Policy): PolicyMove[] {
  const [old, now] = [placesOf(before), placesOf(after)];
  const moves = [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path) ?? null, now.get(path) ?? null];
    return was === is ? [] : [{ path, before: cut(was), after: cut(is) }];
  });
  return [...moves, ...orderOf("arguments", before, after), ...orderOf("gates", before, after)];
}
/** The first rule that matches is the one an answer names. */
function orderOf(name: "arguments" | "gates", before: Policy, after: Policy): PolicyMove[] {
  const ids = (policy: Policy, other: Policy): string =>
    policy[name].flatMap(({ id }) => (other[name].some((each) => each.id === id) ? [id] : [])).join(", ");
  const [was, is] = [ids(before, after), ids(after, before)];
  return was === is ? [] : [{ path: `${name} in order`, before: cut(was), after: cut(is) }];
}
function cut(text: string | null): string | null {
  return text === null || text.length <= valueCharacters
    ? text
    : `${text.slice(0, valueCharacters).toWellFormed()} ...`;
}

/** Each leaf by its path. Rules are found by their id, so that one put before another does not move all behind it. */
function placesOf(policy: Policy): Map<string, string> {
  const places = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) places.set(path, String(value));
    else if (!Array.isArray(value)) for (const [key, inner] of Object.entries(value)) walk(inner, `${path}.${key}`);
    else places.set(path, canonicalJson(value));
  };
  // All that a policy has, whatever it is: what is left out here could be changed without a word.
  const { arguments: rules, gates, ...rest } = policy;
  for (const [name, value] of Object.entries(rest)) walk(value, name);
  for (const { id, ...rule } of rules) places.set(`arguments.${id}`, canonicalJson(rule));
  for (const { id, ...rule } of gates) places.set(`gates.${id}`, canonicalJson(rule));
  return places;
}

export interface RecordedCall {
  readonly call_id: string;
  readonly attempt_id: string;
  readonly tool: string;
  /** JSON, as it was asked. */
  readonly arguments: string;
  readonly context: CallContext;
}
export interface ChangedAnswer {
  readonly call: RecordedCall;
  readonly before: Resolution;
  readonly after: Resolution;
}

/** Calls to which the second policy gives another answer than the first, or the same by another rule. */
export function replay(before: Policy, after: Policy, calls: readonly RecordedCall[]): ChangedAnswer[] {
  return calls.flatMap((call) => {
    const args: JsonValue = JSON.parse(call.arguments);
    const answer = (policy: Policy): Resolution => resolve(policy, { tool: call.tool, args }, call.context);
    const changed = { call, before: answer(before), after: answer(after) };
    return changed.before.decision === changed.after.decision && changed.before.rule === changed.after.rule
      ? []
      : [changed];
  });
}
