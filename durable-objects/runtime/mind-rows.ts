/** The rows of thinking: each call of a model, each account that pays, each rung of a ladder that was taken. [ROW-*] */
import { z } from "zod";
import { modelRoles } from "../../src/agents/models.ts";
import { rungStates, rungs } from "../../src/domain/attempt.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

/**
 * Rows from before providers' counts were checked may hold any number: a part of a token is a whole one, less than none
 * is none, and what is beyond counting is the most that one call is believed to cost.
 */
export const storedCount = z
  .number()
  .nullable()
  .transform((stored) => {
    const whole = Math.max(0, Math.ceil(stored ?? Number.POSITIVE_INFINITY));
    return Number.isSafeInteger(whole) ? whole : limits.call_tokens;
  });
const storedUsd = z.number().transform((stored) => Math.max(0, stored));

const cost = z.strictObject({
  input_tokens: storedCount,
  output_tokens: storedCount,
  cached_tokens: storedCount,
  estimated: z.boolean(),
});

/** `estimated`: nobody told what it has cost, so the most it may have is charged. */
export const thoughtRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  run_id: z.string(),
  /** The account's row. */
  account: z.string(),
  attempt_id: z.string().nullable(),
  why: z.string(),
  role: z.enum(modelRoles),
  agent: z.string(),
  prompt: z.string(),
  reserve_tokens: z.number().int(),
  reserve_usd: z.number().nullable().default(null),
  /** The phase it was made in: its row. */
  phase_id: z.string().nullable(),
  state: z.enum(["open", "charged", "estimated"]),
  model: z.string().nullable(),
  usage: cost.nullable(),
  usd: storedUsd.nullable(),
  failure: z.string().nullable(),
  at: z.string(),
  ended_at: z.string().nullable(),
});
export type ThoughtRow = z.infer<typeof thoughtRow>;

export const accountRow = z.strictObject({
  /** The task and the account, parted by a colon: `t1:task`, `t1:plan:p1`, `t1:item:p1.a`. */
  id: z.string(),
  task_id: z.string(),
  spent: z.strictObject({
    calls: z.number().int(),
    input_tokens: storedCount,
    output_tokens: storedCount,
    usd: storedUsd,
    unknown_price: z.boolean(),
    estimated: z.boolean(),
  }),
  /** What people added, each by a decision of their own. Minutes stand in older rows only: nothing ever read them. */
  extra: z.strictObject({ tokens: z.number(), usd: z.number(), minutes: z.number().exactOptional() }),
  /** Cards asked about it: names the next one. */
  asked: z.number().int(),
  /** A person said no to more of it, or nobody said anything in time. */
  closed: z.boolean(),
});
export type AccountRow = z.infer<typeof accountRow>;

export const rungRow = z.strictObject({
  /** Of a consult, the `consult_id`; of a re-plan, the `replan_id`. */
  id: z.string(),
  task_id: z.string(),
  work_item_id: z.string(),
  attempt_id: z.string(),
  attempt_number: z.number().int(),
  from: z.enum(rungs),
  to: z.enum(rungs),
  why: z.string(),
  skipped: z.array(z.string()),
  at: z.string(),
  state: z.enum(rungStates),
  /** Until when an answer counts. */
  due_at: z.number().nullable(),
  /** What came of it, in words. */
  detail: z.string().nullable(),
});
export type RungRow = z.infer<typeof rungRow>;

/** A task's thoughts, oldest first; `cursor` is the `next_cursor` of the page before. */
export function thoughtsOf(
  sql: Sql,
  task_id: string,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
): { items: ThoughtRow[]; next_cursor: string | null } {
  const from = cursor === null ? 0 : Number.parseInt(cursor, 10) || 0;
  const found = sql.all<{ seq: number; doc: string }>(
    "SELECT seq, doc FROM thoughts WHERE task_id = ? AND seq > ? ORDER BY seq LIMIT ?",
    ...[task_id, from, limit + 1],
  );
  const page = found.slice(0, limit);
  const items = page.map(({ doc }) => thoughtRow.parse(JSON.parse(doc)));
  return { items, next_cursor: found.length > limit ? String(page.at(-1)?.seq ?? from) : null };
}
