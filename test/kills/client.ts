/**
 * One client of a service that dies again and again: it asks for tasks, decides their cards, cancels some, says
 * something about others, and writes down what it asked and what it was answered.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ApprovalView, approvalView } from "../../src/domain/approval-view.ts";
import { isFinal } from "../../src/domain/task.ts";
import { taskView } from "../../src/domain/view.ts";
import { planOf } from "../journeys/plan-of.ts";
import type { Random } from "../simulation/random.ts";
import type { Asked } from "./journal.ts";
import type { Line } from "./line.ts";

/** Looks at a task at most this often before it counts as stuck. */
const looksMost = 2_400;
const lookEachMs = 400;

/** What shall become of a task, as far as its client has a say. */
type Script = "approve" | "talk" | "deny" | "cancel early" | "cancel late";
const scripts: readonly Script[] = [
  "approve",
  "approve",
  "approve",
  "talk",
  "talk",
  "deny",
  "cancel early",
  "cancel late",
];

/** Each item appends one line, which tells one run of it from another, to a file of the published branch. */
export function planFor(items: number): string {
  const ids = ["first", "second"].slice(0, items);
  return planOf(
    ids.map((id, at) => ({
      id,
      depends_on: ids.slice(0, at),
      steps: [`echo "${id} $RANDOM$RANDOM" >> src/ran.txt`],
      verify: [["grep", "-q", id, "src/ran.txt"]],
    })),
  );
}

export interface Work {
  readonly name: string;
  readonly repo: string;
  readonly tasks: number;
  /** Settles when the client may begin its nth task. */
  turn(task: number): Promise<void>;
}

export class Client {
  readonly asked: Asked[] = [];
  readonly #line: Line;
  readonly #random: Random;
  readonly #work: Work;
  #marks = 0;
  constructor(work: Work, line: Line, random: Random) {
    this.#work = work;
    this.#line = line;
    this.#random = random;
  }

  async run(): Promise<void> {
    for (let task = 0; task < this.#work.tasks; task++) {
      await this.#work.turn(task);
      await this.#one(this.#random.pick(scripts), this.#random.int(1, 2));
    }
  }

  async #one(script: Script, items: number): Promise<void> {
    const mark = this.#mark("create");
    const { repo } = this.#work;
    const body = { title: mark, repo: { url: repo, ref: "main" }, plan: planFor(items) };
    const id = await this.#ask({ what: "create", mark, task_id: null, approval_id: null }, "/api/tasks", body, mark);
    if (id === null) throw new Error(`the task ${mark} was refused`);
    if (script === "cancel early") await this.#cancel(id);
    const cancelAt = script === "cancel late" ? this.#random.int(1, 12) : Number.POSITIVE_INFINITY;
    let talked = script !== "talk";
    for (let look = 0; look < looksMost; look++) {
      const answer = await this.#line.get(`/api/tasks/${id}`);
      const task = taskView.parse(answer.body);
      if (isFinal(task.status)) return;
      for (const card of task.pending_approvals) await this.#decide(id, card, script === "deny");
      if (!talked) {
        talked = true;
        const words = this.#mark("message");
        const asks = { what: "message", mark: words, task_id: id, approval_id: null } as const;
        await this.#ask(asks, `/api/tasks/${id}/messages`, { text: words });
      }
      if (look === cancelAt) await this.#cancel(id);
      await sleep(lookEachMs);
    }
    throw new Error(`task ${id} of ${this.#work.name} never came to its end`);
  }

  async #cancel(id: string): Promise<void> {
    const reason = this.#mark("cancel");
    const asks = { what: "cancel", mark: reason, task_id: id, approval_id: null } as const;
    await this.#ask(asks, `/api/tasks/${id}/cancel`, { reason });
  }
  /** Sent again after a lost answer, a decision is refused when it stands already: then the card says whose it is. */
  async #decide(task_id: string, approval_id: string, deny: boolean): Promise<void> {
    const card = approvalView.parse((await this.#line.get(`/api/approvals/${approval_id}`)).body);
    if (card.status !== "pending") return;
    const words = this.#mark("decide");
    const asks = { what: "decide", mark: words, task_id, approval_id } as const;
    const path = `/api/approvals/${approval_id}/${deny ? "deny" : "approve"}`;
    const body = deny ? { reason: words } : { content_hash: card.content_hash, comment: words };
    await this.#ask(asks, path, body, undefined, async () => {
      const now = approvalView.parse((await this.#line.get(`/api/approvals/${approval_id}`)).body);
      return wasDecidedWith(now, words);
    });
  }

  /** The id of what was made, or null when it was refused. */
  async #ask(
    asks: Pick<Asked, "what" | "mark" | "task_id" | "approval_id">,
    path: string,
    body: unknown,
    key?: string,
    stands: () => Promise<boolean> = async () => false,
  ): Promise<string | null> {
    const asked_at = Date.now();
    const { status, sent, dropped, body: answered } = await this.#line.post(path, body, key);
    const ok = status < 300 || (status === 409 && sent > 1 && (await stands()));
    const id = ok ? idIn(answered) : null;
    const answer = { ok, status, id };
    this.asked.push({ ...asks, asked_at, answered_at: Date.now(), sent, dropped, answer });
    return ok ? (id ?? "") : null;
  }
  #mark(what: Asked["what"]): string {
    this.#marks += 1;
    return `${this.#work.name}-${what}-${this.#marks}`;
  }
}

export function wasDecidedWith(card: Pick<ApprovalView, "decisions">, words: string): boolean {
  return card.decisions.some((decision) => decision.comment === words);
}
function idIn(body: unknown): string | null {
  if (typeof body !== "object" || body === null) return null;
  const id = "id" in body ? body.id : "message_id" in body ? body.message_id : null;
  return typeof id === "string" ? id : null;
}
