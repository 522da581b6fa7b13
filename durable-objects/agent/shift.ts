/**
 * One shift of work at a time in an object. Whoever brings work begins it in the same call, without waiting for an
 * alarm, and is answered once an alarm stands by that goes on with it should the object die: who hears no answer
 * brings it again. An alarm that rings waits with the shift that is on instead of beginning another. [AGO-8] [AGO-9]
 */

/** What a shift needs of the object's storage. */
export interface Alarms {
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  /** Resolves when what was committed is on disk. */
  sync(): Promise<void>;
}
export interface ShiftParts {
  /** For messages about a bug. */
  readonly name: () => string;
  /** Works until nothing is due or its time is up. */
  readonly work: (started: number) => Promise<void>;
  /** When there is something to do next, as it stands after a shift; null when nothing is due at any time. */
  readonly nextDueAt: (now: number) => number | null;
}
interface Spell {
  readonly until: number;
  /** The alarm stands, or the shift is over. */
  standBy: Promise<void>;
  done: Promise<void>;
}

/**
 * How long what a dead object left behind waits for the alarm. The alarm is moved as seldom as can be, for each move
 * costs the platform a commit of its own: one that stands sooner stays, and rings once in vain after the last message.
 */
const standByMs = 1_000;
/** The platform ends an alarm that takes longer; a shift that hangs is not believed to be at work for ever. */
const longestMs = 15 * 60_000;
/** After a bug, so that an alarm set at once does not spin. */
const bugPauseMs = 1_000;

export class Shift {
  readonly #alarms: Alarms;
  readonly #parts: ShiftParts;
  #on: Spell | null = null;
  constructor(alarms: Alarms, parts: ShiftParts) {
    this.#alarms = alarms;
    this.#parts = parts;
  }

  isOn(now: number): boolean {
    return this.#current(now) !== null;
  }
  /** Right after the commit that brought something to do, in the same turn. Returns once the alarm stands by. */
  begin(now: number): Promise<void> {
    const on = this.#current(now);
    if (on !== null) return on.standBy;
    const spell = this.#start(now);
    spell.done.catch((error) => console.error(`${this.#parts.name()}: the alarm must go on with it`, error));
    spell.standBy = this.#standBy(spell, now);
    return spell.standBy;
  }
  /** The object's alarm. What it throws, the platform tries again. */
  alarm(now: number): Promise<void> {
    return (this.#current(now) ?? this.#start(now)).done;
  }
  /** Sets the alarm for what is due next; a shift that is on does so at its end. */
  async arm(now: number): Promise<void> {
    const stands = await this.#alarms.getAlarm();
    // Asked after the await, as a shift may have begun meanwhile.
    if (this.isOn(now)) return;
    const at = this.#parts.nextDueAt(now);
    if (at !== null) await this.#move(stands, Math.max(at, now), now);
  }

  #current(now: number): Spell | null {
    return this.#on !== null && now < this.#on.until ? this.#on : null;
  }
  #start(now: number): Spell {
    const spell: Spell = { until: now + longestMs, standBy: Promise.resolve(), done: Promise.resolve() };
    this.#on = spell;
    spell.done = this.#carry(spell, now);
    return spell;
  }
  async #carry(spell: Spell, started: number): Promise<void> {
    try {
      await this.#parts.work(started);
    } catch (error) {
      console.error(`${this.#parts.name()}: its work met a bug; it goes on`, error);
      await new Promise((resolve) => setTimeout(resolve, bugPauseMs));
    } finally {
      if (this.#on === spell) this.#on = null;
      await this.arm(Date.now());
    }
  }
  async #standBy(spell: Spell, now: number): Promise<void> {
    if (!this.#comesLate(await this.#alarms.getAlarm(), now + standByMs, now)) return;
    // The platform makes a commit wait for an alarm that is moved, and with it what the work says to others: so the
    // work's first commit goes before. One that is over by then has set the alarm for what is left.
    await this.#alarms.sync();
    if (this.#on !== spell) return spell.done;
    await this.#move(await this.#alarms.getAlarm(), now + standByMs, now);
  }
  async #move(stands: number | null, at: number, now: number): Promise<void> {
    if (this.#comesLate(stands, at, now)) await this.#alarms.setAlarm(at);
  }
  /** One in the past should have rung: it is not relied on. */
  #comesLate(stands: number | null, at: number, now: number): boolean {
    return stands === null || stands < now || stands > at;
  }
}
