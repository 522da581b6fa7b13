/** `countersign task ...`: ask for work, look at it, follow it, stop it. [CLI-9] [CLI-10] [CLI-11] */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import { type EventView, eventView } from "../domain/record-view.ts";
import { page, type TaskView, taskSummary, taskView } from "../domain/view.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import { type Call, type Command, type ExitCode, exit, required } from "./command.ts";
import { taskRow, taskText } from "./show.ts";
import { UsageError } from "./target.ts";
import { outputOf, wordsOf } from "./words.ts";

const string = { type: "string" } as const;

export const create: Command = {
  usage:
    "countersign task create (--plan FILE | --title TEXT) --repo URL [--ref REF] [--description TEXT] [--label L]...",
  options: {
    plan: string,
    repo: string,
    ref: string,
    title: string,
    description: string,
    label: { type: "string", multiple: true },
  },
  takes: [],
  async run(call) {
    const file = call.text("plan");
    const plan = file === undefined ? null : readPlan(resolve(call.terminal.cwd, file));
    const title = call.text("title") ?? (plan === null ? null : titleOf(plan));
    if (title === null) throw new UsageError("give a plan with --plan, or say what you wish with --title");
    const ref = call.text("ref");
    const body = {
      title,
      description: call.text("description") ?? "",
      repo: { url: repoUrl(required(call, "repo"), call.terminal.cwd), ...(ref === undefined ? {} : { ref }) },
      ...(plan === null ? {} : { plan }),
      labels: call.texts("label"),
    };
    const task = await call.client.post("/api/tasks", body, taskView);
    call.terminal.out(
      call.json
        ? JSON.stringify(task)
        : `Task ${task.id} received: ${visibleLine(task.title)}\nFollow it with: npx countersign task watch ${task.id}`,
    );
    return exit.done;
  },
};

export const list: Command = {
  usage: "countersign task list [--status active|waiting|done|denied|failed|cancelled] [--limit N] [--cursor C]",
  options: { status: string, limit: string, cursor: string },
  takes: [],
  async run(call) {
    const found = await call.client.get(`/api/tasks${query(call, ["status", "limit", "cursor"])}`, page(taskSummary));
    if (call.json) call.terminal.out(JSON.stringify(found));
    else if (found.items.length === 0) call.terminal.out("No tasks.");
    else call.terminal.out(found.items.map(taskRow).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${visibleLine(found.next_cursor)}`);
    return exit.done;
  },
};

export const show: Command = {
  usage: "countersign task show ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    const task = await taskOf(call);
    call.terminal.out(call.json ? JSON.stringify(task) : taskText(task));
    return exit.done;
  },
};

export const cancel: Command = {
  usage: "countersign task cancel ID [--reason TEXT]",
  options: { reason: string },
  takes: ["ID"],
  async run(call) {
    const reason = call.text("reason");
    const task = await call.client.post(`${path(call)}/cancel`, reason === undefined ? {} : { reason }, taskView);
    call.terminal.out(call.json ? JSON.stringify(task) : `Task ${task.id}: ${task.status}`);
    return exit.done;
  },
};

export const watch: Command = {
  usage: "countersign task watch ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    const told = teller(call);
    for (const event of await history(call)) told.tell(event);
    const task = await untilSettled(call, told);
    // The task's word may be ahead of the feed: what led to it is told before it.
    for (const event of await history(call)) told.tell(event);
    if (call.json) call.terminal.out(JSON.stringify({ task }));
    else call.terminal.out(`\n${taskText(task)}`);
    return codeFor(task);
  },
};

interface Teller {
  /** Of the last event told. */
  readonly seq: () => number;
  readonly tell: (event: EventView) => void;
}

/** Tells each event once, in order. */
function teller(call: Call): Teller {
  let seq = 0;
  return {
    seq: () => seq,
    tell: (event) => {
      if (event.seq <= seq) return;
      seq = event.seq;
      const text = call.json ? JSON.stringify(event) : lineOf(event);
      if (text !== null) call.terminal.out(text);
    },
  };
}

/** Follows the feed until the task is final or waits for a person, and answers it as it then stands. */
async function untilSettled(call: Call, told: Teller): Promise<TaskView> {
  let task = await taskOf(call);
  if (task.status !== "active") return task;
  const stop = new AbortController();
  try {
    for await (const event of call.client.events(told.seq(), stop.signal)) {
      if (event.task_id !== task.id) continue;
      told.tell(event);
      if (!/^(task_|approval_|tool_approval|plan_ready)/.test(event.type)) continue;
      task = await taskOf(call);
      if (task.status !== "active") return task;
    }
    return task;
  } finally {
    stop.abort();
  }
}

export function codeFor(task: Pick<TaskView, "status">): ExitCode {
  if (task.status === "done") return exit.done;
  return task.status === "waiting" ? exit.waiting : exit.failed;
}

async function history(call: Call): Promise<EventView[]> {
  const events: EventView[] = [];
  let cursor: string | null = null;
  do {
    const search: string = `?limit=${limits.page_max}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const found: { items: EventView[]; next_cursor: string | null } = await call.client.get(
      `${path(call)}/events${search}`,
      page(eventView),
    );
    events.push(...found.items);
    cursor = found.next_cursor;
  } while (cursor !== null);
  return events;
}

function lineOf(event: EventView): string | null {
  const output = outputOf(event);
  if (output !== null) return output.trimEnd().replaceAll(/^/gm, "    | ");
  const words = wordsOf(event);
  return words === null ? null : `${event.at.slice(11, 19)}  ${words}`;
}

function taskOf(call: Call): Promise<TaskView> {
  return call.client.get(path(call), taskView);
}
function path(call: Call): string {
  return `/api/tasks/${encodeURIComponent(call.args[0] ?? "")}`;
}
export function query(call: Call, names: readonly string[]): string {
  const search = new URLSearchParams();
  for (const name of names) {
    const value = call.text(name);
    if (value !== undefined) search.set(name, value);
  }
  return search.size === 0 ? "" : `?${search}`;
}

function readPlan(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`the plan cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The title in the plan's front matter. Whether the plan is a good one is for the service to say. */
export function titleOf(plan: string): string {
  const front = /^---\r?\n([\s\S]*?)\r?\n---/.exec(plan)?.[1];
  try {
    return z.object({ title: z.string().trim().min(1) }).parse(parse(front ?? "")).title;
  } catch {
    throw new UsageError("the plan's front matter has no title: add one, or give --title");
  }
}

/** A folder of this machine may be named by its path. */
export function repoUrl(text: string, cwd: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : pathToFileURL(resolve(cwd, text)).href;
}
