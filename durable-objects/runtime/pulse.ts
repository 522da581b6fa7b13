/** After each commit: what must leave, leaves; who must know, is told; the one alarm is set for what is due next. [RTO-*] */
import { limits } from "../../src/limits.ts";
import { inTime } from "../in-time.ts";
import { earliest, type Post } from "../post.ts";
import { nextForgotten } from "./charges.ts";
import type { Crew } from "./crew.ts";
import type { DecisionDoor } from "./doors-decisions.ts";
import type { GithubDoor } from "./doors-github.ts";
import type { RecordsDoor } from "./doors-records.ts";
import type { Feed } from "./feed.ts";
import { nextConsultEnd } from "./guidance.ts";
import { nextResearchDue } from "./research.ts";
import type { Scope } from "./scope.ts";
import type { StandingUses } from "./standing-use.ts";
import { nextWebhookDue, orderDue } from "./webhooks.ts";

export class Pulse {
  readonly #scope: Scope;
  readonly #feed: Feed;
  readonly #crew: Crew;
  readonly #mail: () => Post;
  readonly #records: RecordsDoor;
  readonly #decisions: DecisionDoor;
  readonly #standing: StandingUses;
  readonly #github: () => GithubDoor;
  readonly #setAlarm: (at: number) => Promise<void>;
  /** Lost with the object, as is the flush itself: the next entry begins another. */
  #flushing: { readonly since: number; readonly done: Promise<void> } | null = null;
  constructor(
    scope: Scope,
    parts: {
      feed: Feed;
      crew: Crew;
      mail: () => Post;
      records: RecordsDoor;
      decisions: DecisionDoor;
      standing: StandingUses;
      github: () => GithubDoor;
      setAlarm: (at: number) => Promise<void>;
    },
  ) {
    this.#scope = scope;
    this.#feed = parts.feed;
    this.#crew = parts.crew;
    this.#mail = parts.mail;
    this.#records = parts.records;
    this.#decisions = parts.decisions;
    this.#standing = parts.standing;
    this.#github = parts.github;
    this.#setAlarm = parts.setAlarm;
  }

  /** Every entry ends here. Those that come while one flushes wait for it, but not for ever: the alarm goes on with it. */
  async after(wait_ms: number = limits.flush_wait_ms): Promise<void> {
    this.#feed.show();
    try {
      await inTime(this.#flushed(Date.now()), wait_ms, "what must leave");
    } catch (error) {
      console.warn("runtime: an entry does not wait any longer", error);
    }
    await this.arm(Date.now());
  }
  /** The flush under way, or a new one. One that is stuck is left behind: what it does twice changes nothing. */
  #flushed(now: number): Promise<void> {
    const under = this.#flushing;
    if (under !== null && now < under.since + limits.flush_stuck_ms) return under.done;
    const flushing = { since: now, done: this.#flush(now) };
    this.#flushing = flushing;
    return flushing.done.finally(() => {
      if (this.#flushing === flushing) this.#flushing = null;
    });
  }
  async #flush(now: number): Promise<void> {
    const parts = [
      // First, so that what it approves leaves with the rest.
      () => this.#standing.settle().finally(() => this.#feed.show()),
      () => this.#orderWebhooks(now),
      () => this.#crew.startNew(now),
      () => this.#mail().flush(now),
      () => this.#crew.callOff(now),
      () => this.#crew.wake(now),
    ];
    for (const part of parts)
      try {
        await part();
      } catch (error) {
        console.warn("runtime: something did not leave; it is tried again", error);
      }
  }
  async #orderWebhooks(now: number): Promise<void> {
    const due = nextWebhookDue(this.#scope.stores.webhooks);
    if (due !== null && due <= now) this.#scope.commit(orderDue);
  }
  /** Since when something should have happened here: how late it is tells an alarm that was lost or is stuck. */
  dueSince(now: number): number | null {
    const { queue, outbox, rows } = this.#scope.stores;
    const own = queue.depth("runtime_queue", now).eligible > 0 ? queue.view("runtime_queue").oldest_at : null;
    const since = own === null ? null : Date.parse(own);
    return earliest(
      queue.nextDueAt(now),
      outbox.nextDueAt(),
      this.#crew.dueSince(),
      this.#decisions.nextDueAt(),
      this.#standing.nextDueAt(now),
      this.#github().nextDueAt(),
      nextConsultEnd(rows),
      nextWebhookDue(this.#scope.stores.webhooks),
      since,
    );
  }
  async arm(now: number): Promise<void> {
    if (this.#scope.directory.self() === null) return;
    const { queue, letters, rows } = this.#scope.stores;
    const own = queue.depth("runtime_queue", now).eligible > 0 || letters.hasUntold() ? now : null;
    const at = earliest(
      queue.nextDueAt(now),
      this.#mail().nextDueAt(now),
      this.#crew.nextDueAt(now),
      this.#standing.nextDueAt(now),
      this.#records.nextDueAt(),
      this.#decisions.nextDueAt(),
      this.#github().nextDueAt(),
      nextConsultEnd(rows),
      nextForgotten(rows.thoughts.withStatus("open")),
      nextResearchDue(this.#scope.stores.rows),
      nextWebhookDue(this.#scope.stores.webhooks),
      own,
    );
    if (at !== null) await this.#setAlarm(Math.max(at, now));
  }
}
