/** The scope's events as they are followed: pushed to open sockets, and handed to whoever waits for the next. [EV-*] */

import type { EventView } from "../../src/domain/record-view.ts";
import { ok, type Result } from "../../src/domain/refusal.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { RuntimeDoor } from "../../src/http/doors.ts";
import type { EventLog } from "../event-log.ts";
import type { EventSockets } from "../event-sockets.ts";

const waitForEventsMs = 20_000;

export class Feed implements Pick<RuntimeDoor, "events"> {
  readonly #events: EventLog;
  readonly #sockets: EventSockets;
  #waiters = new Set<() => void>();
  constructor(events: EventLog, sockets: EventSockets) {
    this.#events = events;
    this.#sockets = sockets;
  }

  show(): void {
    this.#sockets.push();
    for (const waiter of this.#waiters) waiter();
    this.#waiters.clear();
  }
  async events(
    _caller: Caller,
    query: { after: number | null; limit: number; types: string[] | null; wait_ms: number },
  ): Promise<Result<{ events: EventView[]; last_seq: number; reset: number | null }>> {
    const after = query.after ?? this.#events.newest();
    let feed = this.#events.after(after, query.limit, query.types);
    const until = Date.now() + Math.min(query.wait_ms, waitForEventsMs);
    while (feed.events.length === 0 && feed.reset === null && Date.now() < until) {
      await this.#nextEvent(until - Date.now());
      feed = this.#events.after(after, query.limit, query.types);
    }
    return ok(feed);
  }
  #nextEvent(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(ms, 1));
      this.#waiters.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
