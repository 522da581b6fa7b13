/**
 * A text that a gate holds: what the gate reads of a message, and what its card shows and binds. The hash is over the
 * whole message, so what passes is exactly what was shown, or what follows the part that was shown. [GATE-*]
 */
import { limits } from "../limits.ts";
import { emptyCard } from "./approval.ts";
import type { Card } from "./approval-view.ts";
import { canonicalJson, sha256Hex } from "./canonical.ts";
import type { Message, Taint } from "./message.ts";
import { executionResult } from "./result.ts";
import type { GateNoteView } from "./view.ts";

/** All words of a message: those of its plan and of a command's output too. */
export function wordsOf(message: Pick<Message, "message_kind" | "content" | "plan_markdown" | "payload">): string {
  const output = message.message_kind === "execution_result" ? executionResult.safeParse(message.payload) : null;
  const errors = output?.success ? output.data.tool_errors.flatMap((error) => [error.raw, error.error_message]) : [];
  const parts = [message.content, message.plan_markdown ?? "", output?.success ? output.data.output : "", ...errors];
  // What says the same again is read, and shown, once.
  return parts
    .filter((part, at) => part !== "" && !parts.slice(0, at).some((before) => before.includes(part)))
    .join("\n\n");
}

/** The files that a finished attempt changed. */
export function changedBy(message: Pick<Message, "message_kind" | "payload">): readonly string[] {
  const result = message.message_kind === "execution_result" ? executionResult.safeParse(message.payload) : null;
  return result?.success ? (result.data.patch?.files.map(({ path }) => path) ?? []) : [];
}

/** `arguments` of the card: the same for the same message and for no other. */
export function heldBytes(message: Message): string {
  const words = wordsOf(message);
  return canonicalJson({
    from: message.sender,
    kind: message.message_kind,
    text: words.slice(0, limits.gate_shown_characters).toWellFormed(),
    sha256: sha256Hex(canonicalJson(message)),
  });
}

/** A message on its way past a gate: who said it, what it is in words, and what its task has read with it. */
export interface GatePass {
  readonly message: Message;
  readonly by: string;
  readonly what: string;
  readonly read: { readonly taint: Taint; readonly source: string };
  /** Nothing of the task goes on without it. */
  readonly carries_task: boolean;
}

export function heldCard(
  task: { readonly repo: string },
  { message, by, what, read }: GatePass,
  held: { readonly gate: string; readonly reason: string; readonly policy_hash: string },
): Card {
  const more = wordsOf(message).length - limits.gate_shown_characters;
  return {
    ...emptyCard({
      kind: "gate",
      title: `Let ${what} pass`,
      why: `The gate "${held.gate}" holds it: ${held.reason}. Approve to let this one pass, or deny to drop it.`,
      repo: task.repo,
      taint: message.taint,
      policy_hash: held.policy_hash,
      requested_by: by,
    }),
    tool: { name: message.message_kind, arguments: heldBytes(message), workspace_tree: "" },
    taint_sources: [{ ...read, at: message.created_at }],
    facts: more > 0 ? [`The text goes on for ${more} characters that are not shown; its hash covers them.`] : [],
  };
}

/** Notes only join, and of too many the oldest go. */
export function keepNotes(stored: readonly GateNoteView[], written: readonly GateNoteView[]): GateNoteView[] {
  const known = new Set(stored.map(canonicalJson));
  return [...stored, ...written.filter((note) => !known.has(canonicalJson(note)))].slice(-limits.gate_notes);
}
