/** How a queue stands, and what each change to it does, in the words a person reads. */
import { type StandingState, standingMoves } from "../../../src/domain/queue-standing.ts";
import type { QueueMove } from "../api/queues.ts";

export const standingWords: Readonly<Record<StandingState, string>> = {
  open: "Open",
  paused: "Paused",
  draining: "Draining",
  drained: "Drained",
};
export const standingMeans: Readonly<Record<StandingState, string>> = {
  open: "Messages come in and go out.",
  paused: "Messages come in and wait. None is handed out.",
  draining: "What stands here is handed out. New messages wait with their senders.",
  drained: "It is empty. New messages wait with their senders until it is resumed.",
};

export const moves: Readonly<Record<QueueMove, { opens: string; does: string; confirm: string; busy: string }>> = {
  pause: {
    opens: "Pause…",
    does: "Nothing more is handed out until you resume it. What is held now goes on to its end.",
    confirm: "Pause it",
    busy: "Pausing…",
  },
  resume: {
    opens: "Resume…",
    does: "Messages come in and go out again; what waited with its senders comes within half a minute.",
    confirm: "Resume it",
    busy: "Resuming…",
  },
  drain: {
    opens: "Drain…",
    does: "No new message comes in: each waits with its sender. What stands here is worked off, and the queue stays empty until you resume it.",
    confirm: "Yes, drain it",
    busy: "Draining…",
  },
};

/** The moves that would change something: the service's own table says which. */
export function movesOf(state: StandingState): readonly QueueMove[] {
  return (["pause", "resume", "drain"] as const).filter((move) => standingMoves[state][move] !== state);
}
