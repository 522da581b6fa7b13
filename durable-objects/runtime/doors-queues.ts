/** The scope's queues as people meet them: its two shared ones and each agent's inbox, shown, steered and mended. [HTTP-70] to [HTTP-77] */
import type { DeadLetterView, QueueDetail, QueueMove, QueueView, Requeued } from "../../src/domain/queue-shapes.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { PageQuery, RuntimeDoor } from "../../src/http/doors.ts";
import { limits } from "../../src/limits.ts";
import type { Letter, LetterStanding, Shelf } from "../letters.ts";
import { detailedQueue, moveQueue, shownQueue } from "../queue-shown.ts";
import type { QueueMoved, RemoteAgent } from "../remote.ts";
import { askAll } from "./ask-all.ts";
import { ownHolder } from "./dead-letters.ts";
import type { Scope } from "./scope.ts";
import { type Found, sendAgain } from "./send-again.ts";

type Door = Pick<
  RuntimeDoor,
  "queues" | "queueDetail" | "deadLetters" | "moveQueue" | "requeueLetter" | "requeueLetters"
>;

/** The runtime's outbox is found under its inbox. */
const own: readonly Shelf[] = [
  { queue: "runtime_queue", owner: "runtime_queue", outbox: true },
  { queue: "executor_queue", owner: "executor_queue", outbox: false },
];

/** One queue, wherever it is held. */
interface Held {
  readonly holder: string;
  detail(): Promise<QueueDetail>;
  move(move: QueueMove, by: string, reason: string): Promise<QueueMoved>;
  letters(query: PageQuery): Promise<Page<Letter>>;
  letter(message_id: string): Promise<LetterStanding | null>;
}

export class QueuesDoor implements Door {
  readonly #scope: Scope;
  readonly #agent: (name: string) => RemoteAgent;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, agent: (name: string) => RemoteAgent, after: () => Promise<void>) {
    this.#scope = scope;
    this.#agent = agent;
    this.#after = after;
  }

  async queues(caller: Caller): Promise<Result<{ queues: QueueView[]; silent: string[] }>> {
    const names = this.#scope.directory.agents().map(({ name }) => name);
    const { answers, silent } = await askAll(names, this.#agent, (agent) => agent.queueView(caller.scope_id));
    return ok({ queues: [...own.map((shelf) => shownQueue(this.#scope.stores, shelf)), ...answers], silent });
  }
  async queueDetail(_caller: Caller, name: string): Promise<Result<QueueDetail>> {
    const held = this.#held(name);
    return held === null ? noQueue(name) : ok(await held.detail());
  }
  async deadLetters(_caller: Caller, name: string, query: PageQuery): Promise<Result<Page<DeadLetterView>>> {
    const held = this.#held(name);
    if (held === null) return noQueue(name);
    const page = await held.letters(query);
    return ok({ ...page, items: page.items.map((letter) => this.#shown(held.holder, letter)) });
  }

  async moveQueue(
    caller: Caller,
    name: string,
    { move, reason }: { move: QueueMove; reason: string },
  ): Promise<Result<QueueDetail>> {
    const held = this.#held(name);
    if (held === null) return noQueue(name);
    const { queue, changed } = await held.move(move, caller.subject, reason);
    if (changed)
      this.#scope.commit((tx) =>
        tx.event("queue_changed", null, {
          actor: caller.subject,
          detail: `${name} is ${queue.state}${reason === "" ? "" : `: ${reason}`}`,
          queue: name,
          state: queue.state,
        }),
      );
    await this.#after();
    return ok(queue);
  }

  async requeueLetter(caller: Caller, name: string, message_id: string, reason: string): Promise<Result<Requeued>> {
    const held = this.#held(name);
    if (held === null) return noQueue(name);
    const standing = await held.letter(message_id);
    if (standing === null) return refuse("dead_letter_not_found", `The queue ${name} knows no message ${message_id}.`);
    const found = { ...standing, message_id, holder: held.holder, queue: name };
    const done = this.#scope.commit((tx) => {
      const sent = sendAgain(tx, caller, found, reason);
      if (sent.ok)
        tx.event("queue_changed", null, {
          actor: caller.subject,
          detail: `${name}: a dead letter is sent again`,
          queue: name,
        });
      return sent;
    });
    await this.#after();
    if (!done.ok) return done;
    return ok({ requeued: 1, left: await this.#left(held) });
  }
  /** The newest first, a bounded number at once; what a person dropped, or is being sent again already, stays. */
  async requeueLetters(caller: Caller, name: string, reason: string): Promise<Result<Requeued>> {
    const held = this.#held(name);
    if (held === null) return noQueue(name);
    let requeued = 0;
    let cursor: string | null = null;
    for (let pages = 0; pages < limits.requeue_pages && requeued < limits.requeue_most; pages++) {
      const page: Page<Letter> = await held.letters({ limit: limits.page_max, cursor });
      const most = limits.requeue_most - requeued;
      requeued += this.#scope.commit((tx) => {
        let sent = 0;
        // Oldest first within the page, so that they go on in the order in which they came.
        for (const letter of page.items.toReversed())
          if (sent < most && sendAgain(tx, caller, foundOf(letter, held.holder, name), reason).ok) sent++;
        if (sent > 0)
          tx.event("queue_changed", null, {
            actor: caller.subject,
            detail: `${name}: ${sent} dead letters are sent again`,
            queue: name,
          });
        return sent;
      });
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    await this.#after();
    return ok({ requeued, left: await this.#left(held) });
  }

  /** An agent that has not answered yet still holds letters that are on their way: those are not left. */
  async #left({ holder, detail }: Held): Promise<number> {
    const { dead, outbox } = await detail();
    const going = this.#scope.stores.rows.kills.all().filter((kill) => kill.agent === holder && kill.what === "revive");
    return Math.max(0, dead + (outbox?.dead ?? 0) - going.length);
  }
  #shown(holder: string, { place, death, ...letter }: Letter): DeadLetterView {
    const { stores } = this.#scope;
    const { message_id } = letter;
    const known = stores.heard.get({ holder, place, message_id, death });
    const card = known?.approval_id == null ? null : stores.rows.approvals.get(known.approval_id);
    return { ...letter, card: card === null ? null : { id: card.id, status: card.status } };
  }
  #held(name: string): Held | null {
    const shelf = own.find((each) => each.owner === name);
    if (shelf !== undefined) return this.#heldHere(shelf);
    // Asked of the directory first: naming an agent nobody made must not make its object.
    return this.#scope.directory.agent(name) === null ? null : this.#heldBy(name);
  }
  #heldHere(shelf: Shelf): Held {
    const { stores } = this.#scope;
    const detail = async () => detailedQueue(stores, shelf);
    return {
      holder: ownHolder,
      detail,
      move: async (move, by, reason) => {
        const { scope_id } = this.#scope.self();
        const { changed } = this.#scope.commit((tx) => {
          const stood = moveQueue(stores.queue, shelf.queue, move, { scope_id, by, reason: reason || null }, tx.now);
          tx.facts(stood.facts);
          return stood;
        });
        return { queue: await detail(), changed };
      },
      letters: async (query) => stores.letters.page(shelf, query),
      letter: async (message_id) => stores.letters.standing(shelf, message_id),
    };
  }
  #heldBy(agent: string): Held {
    const { scope_id } = this.#scope.self();
    return {
      holder: agent,
      detail: () => this.#agent(agent).queueDetail(scope_id),
      move: (move, by, reason) => this.#agent(agent).moveQueue(scope_id, move, { by, reason }),
      letters: (query) => this.#agent(agent).letters(scope_id, query),
      letter: (message_id) => this.#agent(agent).letter(scope_id, message_id),
    };
  }
}

function foundOf(letter: Letter, holder: string, queue: string): Found {
  const { message_id, place, death, task_id } = letter;
  return { message_id, holder, queue, state: "dead", task_id, deaths: [{ place, death }] };
}
function noQueue(name: string) {
  return refuse("queue_not_found", `There is no queue ${name}: GET /api/queues lists them.`);
}
