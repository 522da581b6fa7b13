/**
 * What the courier brings from GitHub, with what GitHub says of its people: a wish becomes a task, a decision decides,
 * a change of the words is told. Whoever may not is not answered; all of it is on record. [GHR-30] to [GHR-49]
 */
import { answerWords, noTaskWords } from "../../src/domain/github/answers.ts";
import { taskOfBranch } from "../../src/domain/github/branches.ts";
import { failedCheckSubject, githubSubject } from "../../src/domain/github/identity.ts";
import { type GithubRequest, githubRequest, type Happening } from "../../src/domain/github/shapes.ts";
import { askOf, mayAsk, taskOf, type Wish } from "../../src/domain/github/wish.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { build, type Message } from "../../src/domain/message.ts";
import { refProblem } from "../../src/domain/repo.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { approvedPlan } from "./dispatch.ts";
import { taskIdOf, toCourier } from "./github-courier.ts";
import {
  cancelThere,
  decideThere,
  type GithubPrepared,
  githubCaller,
  mayDecideThere,
  pendingOf,
  refused,
  threadMeant,
} from "./github-decisions.ts";
import type { LinkRow, ThreadRow } from "./github-rows.ts";
import { mark, say } from "./github-sync.ts";
import { showAnew } from "./taints.ts";
import { createTask } from "./tasks.ts";
import type { Tx } from "./tx.ts";

interface Arrived {
  readonly tx: Tx;
  readonly message: Message;
  readonly request: GithubRequest;
  readonly link: LinkRow;
}
export interface GithubHands {
  readonly prepared: GithubPrepared | null;
  readonly can_sign: boolean;
}

/** Takes a `github_request`. */
export function acceptGithub(tx: Tx, message: Message, hands: GithubHands): void {
  const request = githubRequest.parse(message.payload);
  const link = tx.stores.github.link(request.repository.id);
  if (link?.state !== "linked") return drop(tx, message, request, "not_linked");
  const { happening } = request;
  const arrived: Arrived = { tx, message, request, link };
  switch (happening.kind) {
    case "wish":
      return wish(arrived, happening);
    case "decision":
      return decision(arrived, happening, hands);
    case "changed":
      return changed(arrived, happening);
  }
}

/** Not answered on GitHub: a stranger's words make the product say nothing, and fill no record. */
function drop(tx: Tx, message: Message, { delivery_id, repository, happening }: GithubRequest, why: string): void {
  const { github } = tx.stores;
  github.count(happening.kind, why);
  if (why === "not_a_writer" && !github.refused(delivery_id, tx.now)) return;
  tx.audit("effect", message, {
    decision: "github_dropped",
    reason: why,
    details: { delivery_id, repository: repository.full_name, kind: happening.kind, by: happening.by?.login ?? null },
  });
}

function wish({ tx, message, request, link }: Arrived, asked: Wish): void {
  const no = (why: string) => drop(tx, message, request, why);
  if (!mayAsk(asked, request.people)) return no("not_a_writer");
  const { github, rows } = tx.stores;
  const id = taskIdOf(request.delivery_id);
  if (rows.tasks.get(id) !== null) return;
  const follows = published(tx.stores, link, asked.follows);
  if (follows === null && ofBranch.has(asked.trigger)) return no("not_ours");
  const open = ({ task_id }: ThreadRow) => isOpen(tx.stores, task_id);
  const ask = askOf(asked);
  const alike = github.threadsOf(link.repository.id, asked.thread.number).filter((row) => row.ask === ask);
  const onBranch = follows === null ? [] : github.threadsOn(link.repository.id, follows);
  const busy = alike.find(open) ?? onBranch.find(open);
  if (busy !== undefined) {
    say(
      tx,
      busy.task_id,
      `${nameOf(asked)} asked again. ${busy.task_id} is still under way: ask anew once it has ended.`,
    );
    return no("already_open");
  }
  // What was sent once can be sent again under another id: it asks for nothing new.
  if (alike.some(({ asked_at }) => asked.at !== undefined && asked_at !== null && !isAfter(asked.at, asked_at)))
    return no("asked_before");
  if (asked.trigger === "failed_check" && countChecks(onBranch) >= limits.github_check_tasks) return no("checks_tried");

  const made = taskOf(asked, request.people);
  const caller: Caller = {
    ...githubCaller(tx.scope.scope_id, nameOf(asked)),
    subject: subjectOf(asked),
    role: "submitter",
  };
  const base_branch = follows ?? baseOf(asked);
  const input = {
    ...{ title: made.title, description: made.description, labels: made.labels },
    repo: { url: link.url, ref: base_branch ?? "HEAD" },
  };
  const created = createTask(tx, caller, input, id, {
    ...{ taint: made.taint, sources: made.sources, follows },
    asked: { by: caller.subject, where: asked.thread.url, hidden: made.hidden },
    labels_by_role: made.vouched ? "approver" : "submitter",
  });
  if (!created.ok) return no(created.refusal.code);
  const { kind, number } = asked.thread;
  const { trigger, comment_id } = asked;
  github.putThread({
    ...{ task_id: id, repository_id: link.repository.id, kind, number, trigger, ask, comment_id },
    asked_id: asked.by?.id ?? null,
    asked_at: asked.at ?? null,
    ...{ branch: created.value.branch, base_branch, version: 0, shown_version: 0, sync: null, next_at: tx.now },
    ...{ failures: 0, shown: null, note: null, offered: [], edits: [], audit_head: null },
  });
  tx.audit("transition", created.value, {
    actor: "user",
    decision: "github_asked",
    details: { delivery_id: request.delivery_id, repository: link.repository.full_name, number, trigger },
  });
  mark(tx, id);
}
/** Nobody asks there in words of their own for us, so it must be known to be ours. */
const ofBranch: ReadonlySet<Wish["trigger"]> = new Set(["failed_check", "review_comment"]);
/** The branch, if a task of this scope published it in this repository. Anybody may name theirs so. */
function published({ rows, github }: Tx["stores"], link: LinkRow, branch: string | null): string | null {
  const task = branch === null ? null : rows.tasks.get(taskOfBranch(branch));
  if (task === null || task.branch !== branch || task.published === null) return null;
  return github.linkAt(task.repo)?.repository.id === link.repository.id ? branch : null;
}
function isOpen({ rows }: Pick<Tx["stores"], "rows">, task_id: string): boolean {
  return !isFinal(rows.tasks.get(task_id)?.status ?? "done");
}
/** By one clock. What it says of the same moment says nothing of before and after. */
function isAfter(a: string, b: string): boolean {
  return Date.parse(a) > Date.parse(b);
}
function nameOf({ by }: Wish): string {
  return by === null ? "a failed check" : by.login;
}
function subjectOf({ by }: Wish): string {
  return by === null ? failedCheckSubject : githubSubject(by.login);
}
/** Of a pull request in the same repository the work is about its head. */
function baseOf({ thread }: Wish): string | null {
  const branch = thread.kind === "pull" ? (thread.head?.branch ?? null) : null;
  return branch === null || refProblem(branch) !== null ? null : branch;
}
function countChecks(rows: readonly ThreadRow[]): number {
  return rows.filter(({ trigger }) => trigger === "failed_check").length;
}

function decision(
  { tx, message, request }: Arrived,
  said: Extract<Happening, { kind: "decision" }>,
  hands: GithubHands,
): void {
  if (!mayDecideThere(request)) return drop(tx, message, request, "not_a_writer");
  const thread = threadMeant(tx.stores, request);
  const task = thread === null ? null : tx.rows.tasks.get(thread.task_id);
  if (thread === null || task === null) return answer(tx, message, request, noTaskWords(said));
  const words = answerWords(said);
  if (said.what === "status") return mark(tx, task.id);
  if (words !== null) return say(tx, task.id, words);
  if (isFinal(task.status)) return refused(tx, task, said, `the task is already ${task.status}`);
  if (said.what !== "cancel") return decideThere(tx, task, { said, thread, ...hands });
  if (said.via === "comment" && !isAfter(said.said_at, thread.asked_at ?? task.created_at))
    return refused(tx, task, said, "it was said before this task was asked for");
  return cancelThere(tx, task, said, thread);
}
/** Said in a thread where no task of ours is to say it with, and seldom: a machine may answer each comment of ours. */
function answer(tx: Tx, message: Message, request: GithubRequest, words: string): void {
  const { delivery_id, repository, happening } = request;
  const number = happening.thread?.number;
  // A button names its task, and no thread.
  if (number === undefined) return drop(tx, message, request, "no_task");
  if (!tx.stores.github.mayAnswer(repository.id, number, tx.now)) return drop(tx, message, request, "answered_before");
  const payload = { delivery_id, repository, number, words };
  toCourier(
    tx,
    build({
      message_id: derivedId(message.message_id, "github_answer", 0),
      trace_id: message.trace_id,
      scope_id: tx.scope.scope_id,
      message_kind: "github_answer",
      sender: "runtime",
      recipient: "courier",
      content: `say how a command is written in ${repository.full_name}`,
      taint: message.taint,
      payload,
      created_at: tx.at,
    }),
  );
}

/** Open tasks that were made of this thread, or of this one comment of it. */
export function madeOf(
  stores: Pick<Tx["stores"], "rows" | "github">,
  repository_id: number,
  { thread, comment_id }: Pick<Extract<Happening, { kind: "changed" }>, "thread" | "comment_id">,
): ThreadRow[] {
  return stores.github
    .threadsOf(repository_id, thread.number)
    .filter((row) => row.number === thread.number && (comment_id === null || row.comment_id === comment_id))
    .filter(({ task_id }) => isOpen(stores, task_id));
}

/** The words of a task are those it was made of. What is not approved yet goes when they are taken away. */
function changed(
  { tx, message, request }: Arrived,
  { what, by, thread, comment_id }: Extract<Happening, { kind: "changed" }>,
): void {
  const open = madeOf(tx.stores, request.repository.id, { thread, comment_id });
  if (open.length === 0) return drop(tx, message, request, "no_task");
  const which =
    comment_id === null
      ? `${thread.kind === "issue" ? "Issue" : "Pull request"} #${thread.number}`
      : "The comment that asked";
  for (const row of open) {
    const task = tx.rows.tasks.get(row.task_id);
    const change = `${comment_id ?? "thread"} ${what}`;
    // Told once: whoever edits their words without end must not keep the card from ever being decided.
    if (task === null || row.edits.some((told) => told.change === change)) continue;
    if (what === "deleted" && approvedPlan(tx, task) === null) {
      tx.finish(task, "cancelled", {
        reason: `${which} was deleted before anything was approved.`,
        actor: githubSubject(by.login),
      });
      continue;
    }
    const fact = `${which} was ${what === "unlabeled" ? "stripped of its label" : what} by ${githubSubject(by.login)} at ${tx.at}, after this task was made of it. The task keeps the words it had.`;
    tx.event("github_changed", task, { actor: githubSubject(by.login), detail: fact });
    if (what === "edited" || what === "deleted") {
      tx.stores.github.putThread({ ...row, edits: [...row.edits, { change, fact }] });
      for (const card of pendingOf(tx.rows, task.id)) {
        const shown = { ...card.card, facts: [fact, ...card.card.facts] };
        showAnew(tx, task, card, { reason: "the text it was made of was changed", card: shown });
      }
    }
    mark(tx, task.id);
  }
}
