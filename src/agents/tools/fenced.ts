/**
 * What a call brought back, as a model is told it: all of it stands in a fence that says how far it is trusted, and
 * nothing in it can hide. Whose words they are is never left to the text itself. [MND-40]
 */
import { asData } from "../../domain/context.ts";
import { type JsonValue, joinTaint, type Taint } from "../../domain/message.ts";
import type { Grant } from "../../domain/plan-shape.ts";
import { touchOf } from "../../domain/policy-call.ts";
import { readByCall } from "../../domain/taint.ts";
import type { Told } from "./tool.ts";

/** How far what a call brings back is trusted. `args` as they were authorized. */
export type Reads = (call: { readonly tool: string; readonly args: JsonValue }) => Taint;

/**
 * In an attempt: members wrote the workspace at best; what the task has read may lie in it, and what came over an open
 * host does not stay where it came.
 */
export function readsOf(run: { readonly taint: Taint; readonly allow: Pick<Grant, "hosts"> | null }): Reads {
  const base = joinTaint("member", run.taint, (run.allow?.hosts ?? []).length > 0 ? "web" : "member");
  return (call) => joinTaint(base, readByCall(touchOf(call), run.allow)?.taint ?? "member");
}

/** A tool that fenced each thing it found has said more than one fence could. */
export function fenced({ text, is_error, marked }: Told, source: string, taint: Taint): Told {
  return { text: marked === true ? text : asData(text, { taint, source }), is_error };
}
