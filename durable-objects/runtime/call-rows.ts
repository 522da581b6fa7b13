/** The rows of what attempts do: each call, what is still to be called off, and who came too late. [ROW-*] */
import { z } from "zod";
import { lifeStates } from "../../src/domain/approval.ts";

/** A token as it stands: its JWS and how far it has come. */
export const grantRow = z.strictObject({
  jws: z.string(),
  approval_id: z.string(),
  life: z.enum(lifeStates),
  void_reason: z.string().nullable(),
});

/**
 * `asking`: its attempt ended before its outcome was on record, and the sandbox is still to be asked. `unknown`: nobody
 * can say what became of it. Both are never run again.
 */
export const callRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  /** Of a publication, its verification. */
  attempt_id: z.string(),
  call_id: z.string(),
  kind: z.enum(["tool_call", "publish"]).default("tool_call"),
  tool: z.string(),
  arguments: z.string(),
  state: z.enum(["intent", "waiting", "allowed", "settled", "refused", "void", "asking", "unknown"]),
  rule: z.string(),
  reason: z.string(),
  tree: z.string().nullable(),
  grant: grantRow.nullable(),
  outcome: z.string().nullable(),
  /** When its attempt left it open, and what the other side said since. */
  left_at: z.string().nullable().default(null),
  answered: z.string().nullable().default(null),
});
export type CallRow = z.infer<typeof callRow>;

/** Work to call off at an agent, or a dead letter of its to send again: kept until the agent has answered. */
export const killRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  agent: z.string(),
  /** The attempt or verification, or the message. */
  owner: z.string(),
  what: z.enum(["call_off", "revive"]).default("call_off"),
  /** Calls to ask the sandbox about before it is destroyed. */
  calls: z.array(z.string()).default([]),
  /** Grows each time it is asked for anew, so that the answer to the one before does not end it. */
  version: z.number().int().default(0),
  since: z.number().default(0),
  next_at: z.number(),
  tries: z.number().int(),
});
export type KillRow = z.infer<typeof killRow>;

/** One thing that a superseded holder tried: it is on record once, however often it is tried. */
export const lateRow = z.strictObject({ id: z.string(), task_id: z.string() });
export type LateRow = z.infer<typeof lateRow>;
