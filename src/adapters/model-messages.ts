/**
 * A conversation of ours as the SDK's messages, in a form every provider takes: each call is answered right behind it,
 * no text is empty, ids are of letters and digits and each stands once. [MODEL-*]
 */
import type { JSONValue, ModelMessage, ToolCallPart, ToolResultPart } from "ai";
import type { ModelCall, Turn } from "../agents/models.ts";

type Said = Extract<Turn, { kind: "said" }>;
type Result = Extract<Turn, { kind: "result" }>;

export function messagesOf(turns: readonly Turn[]): ModelMessage[] {
  const shown = withoutCut(turns);
  const taken = new Set<Turn>();
  const ids = new Set<string>();
  const messages: ModelMessage[] = [];
  for (const [index, turn] of shown.entries()) {
    if (turn.kind === "told") told(messages, turn.text);
    if (turn.kind === "said") {
      const next = shown.findIndex((later, at) => at > index && later.kind === "said");
      const behind = shown.slice(index + 1, next === -1 ? shown.length : next);
      said(messages, turn, behind, taken, ids);
    }
    if (turn.kind === "result" && !taken.has(turn)) told(messages, `Result of ${turn.tool}:\n${turn.text}`);
  }
  return messages;
}

/** The results before the last cut keep their place and lose their text. */
function withoutCut(turns: readonly Turn[]): readonly Turn[] {
  const before = Math.max(0, ...turns.map((turn) => (turn.kind === "cut" ? turn.before : 0)));
  return turns.map((turn, index) =>
    turn.kind === "result" && index < before
      ? { ...turn, text: "[left out to keep this conversation short; call the tool again if it is needed]" }
      : turn,
  );
}

function told(messages: ModelMessage[], text: string): void {
  if (text.trim() !== "") messages.push({ role: "user", content: text });
}

function said(messages: ModelMessage[], turn: Said, behind: readonly Turn[], taken: Set<Turn>, ids: Set<string>): void {
  const calls: ToolCallPart[] = [];
  const results: ToolResultPart[] = [];
  for (const call of turn.calls) {
    const id = freshId(call.call_id, ids);
    const found = behind.find(
      (later): later is Result => later.kind === "result" && later.call_id === call.call_id && !taken.has(later),
    );
    if (found !== undefined) taken.add(found);
    const toolName = call.tool.replace(/[^\w-]/g, "_").slice(0, 64) || "unnamed";
    calls.push({ type: "tool-call", toolCallId: id, toolName, input: inputOf(call) });
    results.push({ type: "tool-result", toolCallId: id, toolName, output: outputOf(found) });
  }
  const words = turn.text.trim() === "" ? [] : [{ type: "text" as const, text: turn.text.trimEnd() }];
  if (words.length + calls.length > 0) messages.push({ role: "assistant", content: [...words, ...calls] });
  if (results.length > 0) messages.push({ role: "tool", content: results });
}

function freshId(wanted: string, ids: Set<string>): string {
  const id = /^[\w-]{1,64}$/.test(wanted) && !ids.has(wanted) ? wanted : `call_${ids.size + 1}_again`;
  ids.add(id);
  return id;
}

/** Providers take objects only: what the model wrote and cannot be one is shown to it as a text. */
function inputOf(call: ModelCall): Record<string, JSONValue> {
  try {
    const value: unknown = JSON.parse(call.arguments);
    // What JSON.parse gives is JSON.
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, JSONValue>;
  } catch {
    // Told below.
  }
  return { malformed_arguments: call.arguments };
}

function outputOf(result: Result | undefined): ToolResultPart["output"] {
  if (result === undefined) return { type: "error-text", value: "No result is known." };
  const value = result.text.trim() === "" ? "(no output)" : result.text;
  return { type: result.is_error ? "error-text" : "text", value };
}
