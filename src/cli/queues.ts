/**
 * `countersign queues ...`: what waits, who holds what, what was given up; and pause, resume, drain and send again.
 * [CLI-30] to [CLI-35]
 */
import type { z } from "zod";
import { deadLetterView, type QueueMove, queueDetail, queueList, requeued } from "../domain/queue-shapes.ts";
import { page } from "../domain/view.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import { type Call, type Command, exit } from "./command.ts";
import { deadLetterText, queueRow, queueText } from "./show-queues.ts";
import { UsageError } from "./target.ts";
import { query } from "./tasks.ts";

const string = { type: "string" } as const;

export const list: Command = {
  usage: "countersign queues list",
  options: {},
  takes: [],
  async run(call) {
    const found = await call.client.get("/api/queues", queueList);
    call.terminal.out(call.json ? JSON.stringify(found) : found.items.map(queueRow).join("\n"));
    if (!call.json && found.silent.length > 0)
      call.terminal.err(`No answer from ${found.silent.map(visibleLine).join(", ")}: ask again in a moment.`);
    return exit.done;
  },
};

export const show: Command = {
  usage: "countersign queues show NAME",
  options: {},
  takes: ["NAME"],
  async run(call) {
    return answer(call, await call.client.get(path(call), queueDetail));
  },
};

export const deadLetters: Command = {
  usage: "countersign queues dead-letters NAME [--limit N] [--cursor C]",
  options: { limit: string, cursor: string },
  takes: ["NAME"],
  async run(call) {
    const found = await call.client.get(
      `${path(call)}/dead-letters${query(call, ["limit", "cursor"])}`,
      page(deadLetterView),
    );
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(deadLetterText).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${found.next_cursor}`);
    return exit.done;
  },
};

export const requeue: Command = {
  usage: "countersign queues requeue NAME (ID | --all) [--reason TEXT]",
  options: { all: { type: "boolean" }, reason: string },
  takes: ["NAME", "[ID]"],
  async run(call) {
    const id = call.args[1];
    if ((id === undefined) !== call.flag("all"))
      throw new UsageError(`name one letter or say --all\nusage: ${this.usage}`);
    const body = reasonOf(call);
    if (id !== undefined) {
      const one = await call.client.post(
        `${path(call)}/dead-letters/${encodeURIComponent(id)}/requeue`,
        body,
        requeued,
      );
      call.terminal.out(call.json ? JSON.stringify(one) : "Sent again.");
      return exit.done;
    }
    const all = { requeued: 0, left: 0 };
    const { dead, outbox } = await call.client.get(path(call), queueDetail);
    const goal = dead + (outbox?.dead ?? 0);
    // Each call moves a bounded number and the next goes on, until one moves nothing, or as many went as there were:
    // what dies again at once must not be sent for ever.
    for (let round = 0; round < limits.requeue_rounds; round++) {
      const made = await call.client.post(`${path(call)}/dead-letters/requeue`, body, requeued);
      all.requeued += made.requeued;
      all.left = made.left;
      if (made.requeued === 0 || made.left === 0 || all.requeued >= goal) break;
      if (!call.json) call.terminal.err(`${all.requeued} sent again, ${all.left} left`);
    }
    call.terminal.out(call.json ? JSON.stringify(all) : `${all.requeued} sent again, ${all.left} left.`);
    return exit.done;
  },
};

export const pause = moving("pause");
export const resume = moving("resume");
export const drain = moving("drain");

function moving(move: QueueMove): Command {
  return {
    usage: `countersign queues ${move} NAME [--reason TEXT]`,
    options: { reason: string },
    takes: ["NAME"],
    async run(call) {
      return answer(call, await call.client.post(`${path(call)}/${move}`, reasonOf(call), queueDetail));
    },
  };
}

function answer(call: Call, queue: z.infer<typeof queueDetail>): typeof exit.done {
  call.terminal.out(call.json ? JSON.stringify(queue) : queueText(queue));
  return exit.done;
}
function reasonOf(call: Call): { reason?: string } {
  const reason = call.text("reason");
  return reason === undefined ? {} : { reason };
}
function path(call: Call): string {
  return `/api/queues/${encodeURIComponent(call.args[0] ?? "")}`;
}
