/**
 * A dead letter sent again by the queue's door. Its card, if one waits, gives way in the same transaction; a person
 * who decided that card first was first. [HTTP-74] [HTTP-75]
 */
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { LetterStanding } from "../letters.ts";
import { ownHolder } from "./dead-letters.ts";
import type { ApprovalRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

export interface Found extends LetterStanding {
  readonly message_id: string;
  /** The agent that holds it, or the runtime; and the queue it is found under. */
  readonly holder: string;
  readonly queue: string;
}

export function sendAgain(tx: Tx, caller: Caller, found: Found, reason: string): Result<null> {
  const { message_id, holder, queue, state, deaths } = found;
  if (deaths.length === 0)
    return refuse("not_in_this_state", `This message is not a dead letter: it is ${state}.`, { state });
  const heard = deaths.map((each) => tx.stores.heard.get({ holder, message_id, ...each }));
  if (heard.some((known) => known?.sent_again))
    return refuse("not_in_this_state", "This letter is being sent again already.", { state: "sent_again" });
  const cards = heard.flatMap((known) => {
    const card = known?.approval_id == null ? null : tx.rows.approvals.get(known.approval_id);
    return card === null ? [] : [card];
  });
  const decided = cards.find((card) => card.status === "approved" || card.status === "denied");
  if (decided !== undefined) return decidedBefore(decided);

  const waiting = cards.filter((card) => card.status === "pending");
  for (const card of waiting) tx.supersede(card, `sent again by ${caller.subject}`);
  for (const each of deaths) tx.stores.heard.sendAgain({ holder, message_id, ...each });
  const task = found.task_id === null ? null : tx.rows.tasks.get(found.task_id);
  if (holder === ownHolder) {
    tx.stores.outbox.revive(message_id, tx.now);
    tx.facts(tx.stores.queue.requeueDead(queue, message_id, tx.now).facts);
  } else tx.revive(task?.id ?? "", holder, message_id);
  tx.audit("transition", task ?? { trace_id: `queue:${tx.scope.scope_id}/${queue}`, message_id }, {
    actor: "user",
    decision: "dead_letter_sent_again",
    reason: reason === "" ? null : reason,
    details: { message_id, queue, by: caller.subject },
  });
  if (task !== null && waiting.length > 0) tx.touch(task);
  return ok(null);
}

function decidedBefore(card: ApprovalRow): Result<null> {
  const [last] = card.decisions.slice(-1);
  const who = last === undefined ? "somebody" : last.by;
  return card.status === "approved"
    ? refuse("not_in_this_state", `${who} approved its card: it is being sent again already.`, { state: "approved" })
    : refuse("not_in_this_state", `${who} dropped this letter in Review.`, { state: "dropped" });
}
