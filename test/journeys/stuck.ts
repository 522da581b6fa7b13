/**
 * Work that a model does, or does not get done: plans whose items are given to a loop, scripts that tell the tasks of one
 * service apart, and a command of the repository that counts how often it ran.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { approvalView } from "../../src/domain/approval-view.ts";
import type { AuditView, EventView } from "../../src/domain/record-view.ts";
import type { TaskView } from "../../src/domain/view.ts";
import { type ModelServer, type ScriptedRequest, startModelServer } from "../setup/model-server.ts";
import { type Mind, mindOf, type Play } from "./minds.ts";
import { openRoad, type Repository, type Road } from "./road.ts";

export interface LoopItem {
  readonly id: string;
  readonly section?: string;
  readonly tokens?: number;
  readonly depends_on?: readonly string[];
  readonly verify?: readonly (readonly string[])[];
  readonly max_attempts?: number;
  readonly on_stuck?: "consult_planner" | "replan" | "escalate";
}
/** `name` stands in what every mind is told of the task, so that a script knows whose turn it is. */
/** Word for word: no wildcard speaks for the words of a script. */
const marks = ["one", "two", "three"].flatMap((word) => [0, 3].map((seconds) => `sh mark.sh ${word} ${seconds}`));
export function loopPlan(name: string, items: readonly LoopItem[], tokens = 400_000): string {
  const front = {
    title: `Change ${name}`,
    goal: `A journey through the service with ${name}`,
    budget: { tokens },
    items: items.map((item) => ({
      id: item.id,
      title: `Change ${name}: ${item.id}`,
      runner: "loop",
      depends_on: item.depends_on ?? [],
      touches: { paths: [`src/${item.id}.txt`], services: [] },
      allow: { tools: ["file_write", "file_edit", "shell_execute"], paths: ["src/**"], commands: [...marks] },
      verify: item.verify === undefined ? "none" : item.verify.map((run) => ({ run, timeout_s: 60 })),
      max_attempts: item.max_attempts ?? 1,
      on_stuck: item.on_stuck ?? "consult_planner",
      ...(item.tokens === undefined ? {} : { budget: { tokens: item.tokens } }),
    })),
  };
  const sections = items.map(({ id, section }) => `## ${id}\n\n${section ?? "Write the words."}\n`);
  return `---\n${stringify(front)}---\n${sections.join("\n")}`;
}

/** The one task a request is about: what it is told of others comes after its own. */
function taskOf({ messages }: ScriptedRequest, names: readonly string[]): string | undefined {
  const text = messages[0]?.text ?? "";
  const at = (name: string) => text.indexOf(name);
  return names.filter((name) => at(name) >= 0).toSorted((a, b) => at(a) - at(b))[0];
}
function byTask(plays: Readonly<Record<string, Play>>): Play {
  return (request) => {
    const name = taskOf(request, Object.keys(plays)) ?? "";
    const nobody = { fails: "status", status: 400, message: "nothing was written for this task" } as const;
    return plays[name]?.(request) ?? nobody;
  };
}
/** Each time a mind is asked anew, the next of its conversations begins; the last one stays. */
export function inTurn(...plays: readonly [Play, ...Play[]]): Play {
  const begun: string[] = [];
  return (request) => {
    const first = request.messages[0]?.text ?? "";
    const known = begun.indexOf(first);
    if (known < 0) begun.push(first);
    const at = known < 0 ? begun.length - 1 : known;
    return (plays[Math.min(at, plays.length - 1)] ?? plays[0])(request);
  };
}

export interface ThinkingRoad {
  readonly road: Road;
  readonly server: ModelServer;
  /** What the task's mind was asked, in order. */
  requests(task: string, mind: Mind): ScriptedRequest[];
  /** The first thing each of its conversations was told, each once. */
  briefs(task: string, mind: Mind): string[];
  close(): Promise<void>;
}

/** Planner and executor think, the proxy does not: its words are the template's. */
export async function openThinkingRoad(plays: Readonly<Record<string, Play>>): Promise<ThinkingRoad> {
  const server = await startModelServer();
  const play = byTask(plays);
  const names = Object.keys(plays);
  const seen: ScriptedRequest[] = [];
  server.script((request) => {
    seen.push(request);
    return play(request);
  });
  const requests = (task: string, mind: Mind) =>
    seen.filter((request) => mindOf(request.tools) === mind && taskOf(request, names) === task);
  const model = "compatible/thinker";
  const env = { MODEL_PLANNER: model, MODEL_EXECUTOR: model, MODEL_BASE_URL: server.url };
  const road = await openRoad({ env });
  addMark(road.repo);
  return {
    road,
    server,
    requests,
    briefs: (task, mind) => [...new Set(requests(task, mind).map(({ messages }) => messages[0]?.text ?? ""))],
    close: async () => {
      await road.close();
      await server.stop();
    },
  };
}

/** `sh mark.sh WORD SECONDS` adds a line to a file and says so: whoever runs it twice is found out. */
function addMark({ folder, git }: Repository): void {
  const path = join(folder, "mark.sh");
  writeFileSync(path, 'echo "$1" >> src/marks.txt\necho "marked $1"\nsleep "$2"\n');
  chmodSync(path, 0o755);
  git("add", "mark.sh");
  git("commit", "--quiet", "--message", "A mark");
}

export function grant(road: Road, card: { id: string; content_hash: string }, tokens: number) {
  const body = { content_hash: card.content_hash, amount: { tokens } };
  return road.client.post(`/api/approvals/${card.id}/approve`, body, approvalView);
}
/** The rungs of a task as they were taken: from where to where, and how each ended. */
export function rungsOf({ rungs = [] }: TaskView): string[] {
  return rungs.map(({ from, to, state }) => `${from} > ${to}: ${state}`);
}
/** The same steps as the feed told them. */
export function toldRungs(events: readonly EventView[]): string[] {
  return events.flatMap((event) =>
    event.type === "rung" && event.to !== undefined && event.state === undefined ? [`${event.from} > ${event.to}`] : [],
  );
}
/** Tool calls that were begun, by attempt and call. */
export function begunCalls(rows: readonly AuditView[]): string[] {
  const begun = rows.filter(
    ({ event_type, decision, details }) =>
      event_type === "effect" && decision === "intent" && details.call_id !== undefined,
  );
  return begun.map(({ details }) => `${details.attempt_id}/${details.call_id}`);
}
/** What `mark.sh` said, as the feed told it, in order. */
export function markedIn(events: readonly EventView[]): string[] {
  const text = [...logsOf(events).values()].join("");
  return [...text.matchAll(/^marked (\w+)$/gm)].map((found) => found[1] ?? "");
}
/** What each agent printed at each attempt, put together: after a restart the feed may be told a part once more. */
export function logsOf(events: readonly EventView[]): Map<string, string> {
  const logs = new Map<string, string>();
  for (const event of events) {
    if (event.type !== "agent_output") continue;
    const name = `${event.attempt_id} ${event.actor}`;
    const log = (logs.get(name) ?? "").padEnd(Number(event.offset));
    const text = String(event.text);
    logs.set(name, log.slice(0, Number(event.offset)) + text + log.slice(Number(event.offset) + text.length));
  }
  return logs;
}
