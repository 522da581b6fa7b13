/**
 * A run as `simulation/history.ts` judges it: each object's chain tells what its queues did, and what clients were
 * answered stands beside it as queues whose messages are never taken out. [KILL-6]
 */

import { entriesOf } from "../objects/commands/told-by-chain.ts";
import type { Entry, History } from "../simulation/history.ts";
import { type Asked, said } from "./journal.ts";
import type { Stored } from "./stored.ts";

export function historyOf(asked: readonly Asked[], stored: Stored): History {
  const entries = [...stored.objects.flatMap(entriesOf), ...asked.flatMap(asks)];
  return { entries: entries.sort((a, b) => a.at - b.at), final: finalOf(stored) };
}

function asks(asked: Asked): Entry[] {
  const about = { process: "client", queue: queueOf(asked), message_id: asked.mark };
  const asking: Entry = { ...about, at: asked.asked_at, what: "invoke" };
  if (asked.answer === null || asked.answered_at === null) return [asking];
  // A lost answer may have been a yes: a no to the same words sent again says nothing.
  if (!asked.answer.ok && asked.sent > 1) return [asking];
  return [asking, { ...about, at: asked.answered_at, what: "return", ok: said(asked) !== null }];
}
function queueOf({ what }: Asked): string {
  return `clients/${what}`;
}

function finalOf({ objects, tasks, cards, events }: Stored): NonNullable<History["final"]> {
  const stands = (what: Asked["what"], message_id: string | null) =>
    message_id === null ? [] : [{ queue: `clients/${what}`, message_id, state: "stored" }];
  const words = (type: string) => events.filter((event) => event.type === type);
  // A task's title is told as its first message; only what was said later is a message of a client.
  const marked = (detail: string | null, what: Asked["what"]) =>
    detail !== null && new RegExp(`^client-\\d+-${what}-\\d+$`).test(detail) ? detail : null;
  return [
    ...objects.flatMap(({ object, rows }) =>
      rows.map(({ queue, message_id, state }) => ({ queue: `${object}/${queue}`, message_id, state })),
    ),
    ...tasks.flatMap(({ title }) => stands("create", title)),
    ...cards.flatMap(({ decisions }) => decisions.flatMap(({ comment }) => stands("decide", comment))),
    ...words("task_cancelled").flatMap(({ detail }) => stands("cancel", marked(detail, "cancel"))),
    ...words("message").flatMap(({ detail }) => stands("message", marked(detail, "message"))),
  ];
}
