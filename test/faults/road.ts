/**
 * One fault on a task's road over the real objects. The laws of the simulation hold at every step; at the end the task
 * is done in bounded time, its lines stand once on the published branch, and everybody was told once.
 */
import { describe, expect, it } from "vitest";
import type { TaskView } from "../../src/domain/view.ts";
import type { Disk } from "../simulation/platform/disk.ts";
import type { Rule } from "../simulation/platform/faults.ts";
import { repo } from "../simulation/scope/programs.ts";
import { type Road, walk } from "../simulation/scope/single.ts";
import { type Column, columns, type RowName, table } from "./table.ts";

/** Arranges the fault before the task is asked for. Returns the rules that must have been met. */
export type Fault = (road: Road) => readonly Rule[];
export type Cells = Readonly<Record<Column, (() => Promise<unknown>) | null>>;

/** The cells of one row as tests. A cell of the table that names another rule, or a reason, has no test here. */
export function row(name: RowName, title: `[FLT-${number}] ${string}`, cells: Cells): void {
  const id = title.slice(1, title.indexOf("]"));
  describe(name, () => {
    for (const column of columns) {
      const cell = table[name][column];
      const ours = "rule" in cell && cell.rule.split(" ").includes(id);
      const test = cells[column];
      if (ours !== (test !== null)) throw new Error(`${name}, ${column}: the table and the tests differ`);
      if (test !== null) it(`${title}: ${column}`, test);
    }
  });
}

/** One item: a step of `seconds`, then a check that sees its line. */
export function shortPlan(seconds = 1): string {
  const item = "{ id: a, runner: steps, verify: [{ run: [test, -f, made/a] }], ";
  return `---\ntitle: A plan\ngoal: A goal\nitems:\n  - ${item}allow: { tools: [shell_execute], paths: ['made/**'] } }\n---\n## a\n\`\`\`sh\necho a >> made/a; sleep ${seconds}\n\`\`\`\n`;
}

export interface Ends {
  readonly plan?: string;
  /** Attempts at most: one, where the fault costs none. */
  readonly attempts?: number;
  readonly within_ms?: number;
}
export interface Walked {
  readonly road: Road;
  readonly view: TaskView;
}

/** As `walk`; one that fails tells what happened last. */
export async function walkTold(arrange: (road: Road) => void, plan: string): Promise<Walked> {
  let trace: (lines: number) => readonly string[] = () => [];
  try {
    return await walk(
      "faults",
      (road) => {
        trace = (lines) => road.platform.timeline.trace.last(lines);
        arrange(road);
      },
      plan,
    );
  } catch (thrown) {
    throw new Error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n${trace(40).join("\n")}`);
  }
}

/** Walks the road under the fault and checks what must be so at its end. */
export async function survives(fault: Fault, { plan = shortPlan(), attempts = 1, within_ms = 1_200_000 }: Ends = {}) {
  let rules: readonly Rule[] = [];
  let begun = 0;
  const walked = await walkTold((road) => {
    begun = road.platform.timeline.now;
    rules = fault(road);
  }, plan);
  expect(
    rules.map(({ fired }) => fired > 0),
    "the faults were met",
  ).toEqual(rules.map(() => true));
  done(walked, attempts);
  const ended = Date.parse(walked.view.ended_at ?? "");
  expect(ended - begun, "virtual ms to the end").toBeLessThan(within_ms);
  return walked;
}

/** What a person, the branch and the record say of a task that is done. */
export function done({ road, view }: Walked, attempts: number): void {
  expect(view.status).toBe("done");
  expect(view.attempts.length).toBeLessThanOrEqual(attempts);
  expect(view.attempts.filter(({ state }) => state === "done")).toHaveLength(1);
  expect(published(road)).toEqual({ "README.md": "hello\n", "made/a": "a\n", "made/shared": "one\n" });
  const told = eventsOf(road).filter((type) => type === "task_complete" || type === "task_created");
  expect(told).toEqual(["task_created", "task_complete"]);
  const entered = road.platform.objects().flatMap((object) => decisions(object.name, road, "enqueue", "accepted"));
  expect(new Set(entered).size, "no message entered a queue twice").toBe(entered.length);
}

/** The files of the one branch that was published. */
export function published({ platform }: Road): Record<string, string> {
  const found = platform.memory.repos.get(repo);
  const branches = [...(found?.branches ?? [])].filter(([name]) => name.startsWith("countersign/"));
  expect(branches).toHaveLength(1);
  const tree = found?.commits.get(branches[0]?.[1] ?? "")?.tree ?? new Map<string, string>();
  return Object.fromEntries([...tree].map(([path, content]) => [path, atob(content)]));
}
export function eventsOf(road: Road): string[] {
  const sql = "SELECT body FROM events ORDER BY seq";
  return runtime(road)
    .disk.all(sql)
    .map(({ body }) => JSON.parse(String(body)).type);
}
/** The message ids of an object's audit links of one kind. */
export function decisions(object: string, { platform }: Road, event_type: string, decision: string): string[] {
  const { disk } = platform.object(object);
  if (disk.commits === 0 || object === "pool") return [];
  return disk
    .all("SELECT body FROM audit_chain ORDER BY seq")
    .map(({ body }) => JSON.parse(String(body)))
    .filter((link) => link.event_type === event_type && link.decision === decision)
    .map((link) => `${object} ${link.details.queue} ${link.message_id}`);
}
export function named(road: Road, agent: string): string {
  return `${road.scope.id}/${agent}`;
}
export function runtime(road: Road) {
  return road.platform.object(named(road, "runtime"));
}

/** Runs `act` when the host is about to be asked this for the `nth` time. */
export function whenHost({ platform }: Road, method: string, act: (id: string) => void, nth = 1): Rule {
  const { before } = platform.watch;
  const rule: Rule = { fired: 0 };
  let met = 0;
  platform.watch.before = (asked, args) => {
    before(asked, args);
    if (asked !== method || ++met !== nth) return;
    rule.fired++;
    act(String(args[0]));
  };
  return rule;
}
/** Runs `act` right after the step in which the object has stored what `sql` finds, before anything else happens. */
export function whenStored({ platform }: Road, object: string, sql: string, act: (disk: Disk) => void): Rule {
  const { timeline } = platform;
  const { afterStep } = timeline;
  const rule: Rule = { fired: 0 };
  let seen = 0;
  timeline.afterStep = () => {
    afterStep();
    const { disk } = platform.object(object);
    if (rule.fired > 0 || disk.commits === seen) return;
    seen = disk.commits;
    if (disk.all(sql).length === 0) return;
    rule.fired++;
    act(disk);
  };
  return rule;
}
export function later({ platform }: Road, ms: number, act: () => void): void {
  platform.timeline.after(ms, "the test goes on", act);
}
