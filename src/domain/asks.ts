/**
 * When a call may not even ask: right after a no to the same call, and when a task or the whole scope has asked too
 * often. Such a call is refused with these words, and no card is made. [ASK-1] [ASK-2] [ASK-3]
 */
import { limits } from "../limits.ts";
import type { ApprovalRules } from "./policy-approvals.ts";

export const askRules = {
  denied_again: "asks:denied_again",
  of_task: "asks:of_task",
  in_minute: "asks:in_minute",
} as const;

export interface AskStanding {
  /** Asks of this task so far, and of the whole scope within the last minute. */
  readonly of_task: number;
  readonly in_minute: number;
  /** The last no to the same tool with the same canonical arguments in this task. */
  readonly denied: { readonly at: number; readonly said_by: string; readonly reason: string } | null;
}

export function whyNotAsk(
  { of_task, in_minute, denied }: AskStanding,
  rules: Pick<ApprovalRules, "asks_per_task" | "asks_per_minute">,
  now_ms: number,
): { readonly rule: string; readonly reason: string } | null {
  const most = rules.asks_per_task ?? limits.asks_per_task;
  const mostInMinute = rules.asks_per_minute ?? limits.asks_per_minute;
  if (denied !== null && Math.abs(now_ms - denied.at) < limits.denied_again_ms)
    return {
      rule: askRules.denied_again,
      reason: `${denied.said_by} denied this call less than ${limits.denied_again_ms / 1000} s ago: ${denied.reason}`,
    };
  if (of_task >= most)
    return { rule: askRules.of_task, reason: `this task has asked ${of_task} times, and ${most} is the most` };
  if (in_minute >= mostInMinute)
    return {
      rule: askRules.in_minute,
      reason: `${in_minute} calls asked within the last minute, and ${mostInMinute} is the most`,
    };
  return null;
}
