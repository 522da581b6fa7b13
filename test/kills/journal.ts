/**
 * What the clients of a service wrote down of their own requests: what they asked, when, how often, and what the
 * answer was, if one came. Every request carries a mark of its own, which what it makes carries too. [KILL-4]
 */
export interface Asked {
  readonly what: "create" | "decide" | "cancel" | "message";
  /** Of a task: its Idempotency-Key and its title. Of a decision, a cancellation, a message: its words. */
  readonly mark: string;
  /** The task; null for one whose creation was never answered. */
  readonly task_id: string | null;
  readonly approval_id: string | null;
  /** Milliseconds; `answered_at` is null when no answer ever came. */
  readonly asked_at: number;
  readonly answered_at: number | null;
  /** How often it was sent, and how many of its answers were thrown away on purpose. */
  readonly sent: number;
  readonly dropped: number;
  /** Yes with the id of what was made, or no with the status; null without an answer. */
  readonly answer: { readonly ok: boolean; readonly status: number; readonly id: string | null } | null;
}

export interface Counts {
  readonly requests: number;
  readonly answered: number;
  readonly dropped: number;
}
export function countsOf(asked: readonly Asked[]): Counts {
  const sum = (of: (one: Asked) => number) => asked.reduce((total, one) => total + of(one), 0);
  return {
    requests: sum((one) => one.sent),
    answered: asked.filter((one) => one.answer !== null).length,
    dropped: sum((one) => one.dropped),
  };
}

/** The yes that was answered, with the id it named. */
export function said(asked: Asked): string | null {
  return asked.answer?.ok === true ? (asked.answer.id ?? "") : null;
}
