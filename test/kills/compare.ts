/**
 * Holds what a service answered against what it has stored and what ran, after any number of deaths. Every sentence
 * it returns is a promise that was broken. [KILL-4] [KILL-5] [KILL-6]
 */
import { verifyChain } from "../../src/domain/audit.ts";
import type { AuditView } from "../../src/domain/record-view.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { taskStatuses } from "../../src/domain/view.ts";
import { type Fault, judge } from "../simulation/history.ts";
import { historyOf } from "./history-of.ts";
import { type Asked, said } from "./journal.ts";
import type { Stored, StoredTask } from "./stored.ts";

export interface Broken {
  readonly kind: "lost" | "doubled" | "other";
  readonly sentence: string;
}
type Status = (typeof taskStatuses)[number];

const ends = ["task_complete", "task_failed", "task_denied", "task_cancelled"];
const lostBy: readonly Fault[] = ["lost", "never_stored"];
const doubledBy: readonly Fault[] = ["doubled_effect", "two_holders", "life_after_ack", "dead_and_acked"];

export function compare(asked: readonly Asked[], stored: Stored): Broken[] {
  return [
    ...tasksAsked(asked, stored),
    ...decided(asked, stored),
    ...spoken(asked, stored),
    ...ended(stored),
    ...ran(stored),
    ...recorded(stored),
    ...quiet(stored),
    ...judged(asked, stored),
  ];
}

const lost = (sentence: string): Broken => ({ kind: "lost", sentence });
const doubled = (sentence: string): Broken => ({ kind: "doubled", sentence });
const other = (sentence: string): Broken => ({ kind: "other", sentence });

/** Every 202 is there exactly once, and the same key is the same task. */
function tasksAsked(asked: readonly Asked[], { tasks }: Stored): Broken[] {
  const creates = asked.filter((one) => one.what === "create");
  return [
    ...creates.flatMap((one) => {
      const made = tasks.filter(({ title }) => title === one.mark);
      const id = said(one);
      const broken = made.length > 1 ? [doubled(`${one.mark} became ${made.length} tasks`)] : [];
      if (id !== null && made.length === 0) broken.push(lost(`${one.mark} was accepted as ${id} and is not there`));
      if (id !== null && made.length > 0 && !made.some((task) => task.id === id))
        broken.push(lost(`${one.mark} was answered ${id} and is ${made[0]?.id}`));
      return broken;
    }),
    ...tasks
      .filter(({ title }) => !creates.some(({ mark }) => mark === title))
      .map(({ id, title }) => doubled(`nobody asked for task ${id} (${title})`)),
  ];
}

/** What was answered 200 stands, and no card was decided twice. */
function decided(asked: readonly Asked[], { cards, tasks }: Stored): Broken[] {
  const answered = (what: Asked["what"]) => asked.filter((one) => one.what === what && said(one) !== null);
  return [
    ...answered("decide").flatMap((one) => {
      const card = cards.find(({ id }) => id === one.approval_id);
      const stands = card?.decisions.some(({ comment }) => comment === one.mark) === true;
      return stands ? [] : [lost(`the decision ${one.mark} of ${one.approval_id} does not stand`)];
    }),
    ...cards.flatMap(({ id, decisions, status }) => [
      ...(decisions.length > 1 ? [doubled(`card ${id} was decided ${decisions.length} times`)] : []),
      ...(status === "pending" ? [other(`card ${id} still waits`)] : []),
    ]),
    ...answered("cancel").flatMap((one) => {
      const task = tasks.find(({ id }) => id === one.task_id);
      return task?.status === "cancelled" ? [] : [lost(`${one.task_id} was cancelled and is ${task?.status}`)];
    }),
  ];
}

/** Each message answered 202 was said, and taken in once by its id. */
function spoken(asked: readonly Asked[], { events, objects }: Stored): Broken[] {
  const links = objects.flatMap((each) => each.links);
  return asked.flatMap((one) => {
    const id = said(one);
    if (one.what !== "message" || id === null) return [];
    const told = events.filter((event) => event.type === "message" && event.detail === one.mark).length;
    const taken = links.filter((link) => link.message_id === id && is(link, "enqueue", "accepted")).length;
    const broken: Broken[] = [];
    if (told === 0) broken.push(lost(`the message ${one.mark} is in no event`));
    if (told > one.sent)
      broken.push(doubled(`the message ${one.mark} was sent ${one.sent} times and told ${told} times`));
    if (taken === 0) broken.push(lost(`the message ${one.mark} (${id}) never reached its inbox`));
    if (taken > 1) broken.push(doubled(`the message ${one.mark} (${id}) was taken in ${taken} times`));
    return broken;
  });
}

/** Each task came to one end, and says so once. */
function ended({ tasks, events }: Stored): Broken[] {
  return tasks.flatMap((task) => {
    const told = events.filter((event) => event.task_id === task.id && ends.includes(event.type));
    // The status is the product's own word, read from its row.
    if (!isFinal(task.status as Status)) return [lost(`task ${task.id} never ended: it is ${task.status}`)];
    if (told.length === 1 && told[0]?.type === endOf(task)) return [];
    return [
      doubled(`task ${task.id} is ${task.status} and told ${told.map(({ type }) => type).join(", ") || "nothing"}`),
    ];
  });
}
function endOf({ status }: StoredTask): string {
  return status === "done" ? "task_complete" : `task_${status}`;
}

/** Each done item was merged once and ran once in what was published; each call was begun once; nothing else is published. */
function ran({ tasks, items, branches, objects }: Stored): Broken[] {
  const done = tasks.filter(({ status }) => status === "done");
  const intents = objects.flatMap(({ links }) => links.filter((link) => is(link, "effect", "intent")));
  const calls = intents.flatMap(({ details }) =>
    details.call_id === undefined ? [] : [`${details.attempt_id}/${details.call_id}`],
  );
  return [
    ...done.flatMap((task) => {
      const branch = branches.find(({ task_id }) => task_id === task.id);
      if (branch === undefined) return [lost(`task ${task.id} is done and its branch is not there`)];
      if (branch.commit !== task.published) return [lost(`task ${task.id} published another commit`)];
      const own = items.filter(({ task_id }) => task_id === task.id);
      return own.flatMap((item) => [
        ...once(branch.merged.filter((id) => id === item.id).length, `item ${item.id} was merged`),
        ...once(branch.lines.filter((word) => word === item.spec.id).length, `item ${item.id} wrote its line`),
        ...(branch.merged.length === own.length
          ? []
          : [doubled(`${branch.merged.length} commits of ${own.length} items`)]),
      ]);
    }),
    ...repeated(calls).map((call) => doubled(`the call ${call} was begun more than once`)),
    ...branches
      .filter(({ task_id }) => !tasks.some(({ id }) => id === task_id))
      .map(({ task_id }) => doubled(`a branch stands of ${task_id}, which is no task`)),
  ];
}
function once(times: number, what: string): Broken[] {
  if (times === 1) return [];
  return [times === 0 ? lost(`${what} never`) : doubled(`${what} ${times} times`)];
}
function repeated(all: readonly string[]): string[] {
  const seen = new Set<string>();
  return all.filter((one) => seen.size === seen.add(one).size);
}

/** Every chain verifies, and the record database has exactly its rows, each once. */
function recorded({ objects, recorded: rows, events }: Stored): Broken[] {
  const known = new Map(rows.map(({ object, seq, hash }) => [`${object} ${seq}`, hash]));
  return [
    ...objects.flatMap(({ object, links, shipped }) => {
      const chain = verifyChain(links);
      const broken: Broken[] = chain.ok ? [] : [other(`the chain of ${object}: ${chain.detail}`)];
      const stored = links.filter(({ seq, hash }) => known.get(`${object} ${seq}`) === hash).length;
      if (stored !== links.length || shipped !== links.length)
        broken.push(lost(`of ${object}'s ${links.length} audit rows D1 has ${stored}, and is said to have ${shipped}`));
      return broken;
    }),
    ...(rows.length === objects.reduce((sum, { links }) => sum + links.length, 0)
      ? []
      : [other(`D1 has ${rows.length} audit rows, which is not what the objects have`)]),
    ...(events.every((event, at) => event.seq === at + 1) ? [] : [other("the feed's numbers have a gap")]),
  ];
}

/** Nothing waits anywhere once all is quiet. */
function quiet({ objects }: Stored): Broken[] {
  return objects.flatMap(({ object, rows, outbox }) => [
    ...rows.map((row) => other(`${object}: ${row.message_id} is still ${row.state} in ${row.queue}`)),
    ...outbox.map((id) => other(`${object}: ${id} still stands in the outbox`)),
  ]);
}

function judged(asked: readonly Asked[], stored: Stored): Broken[] {
  return judge(historyOf(asked, stored)).map(({ fault, queue, message_id, detail }) => ({
    kind: lostBy.includes(fault) ? "lost" : doubledBy.includes(fault) ? "doubled" : "other",
    sentence: `${queue} ${message_id}: ${fault}: ${detail}`,
  }));
}

function is(link: AuditView, event_type: AuditView["event_type"], decision: string): boolean {
  return link.event_type === event_type && link.decision === decision;
}
