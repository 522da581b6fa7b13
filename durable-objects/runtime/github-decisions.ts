/**
 * A decision that came from GitHub takes the same road as one from the page: the card is found, what must be signed is
 * signed, and inside the transaction both are looked at again. A refusal stands where it was said. [GHR-40] to [GHR-55]
 */
import type { Decision } from "../../src/domain/approval-view.ts";
import { asMeant, type GithubDecision, isSecond, pickCard } from "../../src/domain/github/deciding.ts";
import { githubSubject } from "../../src/domain/github/identity.ts";
import { type PlanText, planText } from "../../src/domain/github/plan-text.ts";
import { type Answering, whyPage } from "../../src/domain/github/risk.ts";
import { type GithubRequest, githubRequest, mayWrite } from "../../src/domain/github/shapes.ts";
import type { WaitingCard } from "../../src/domain/github/status.ts";
import { permissionOf } from "../../src/domain/github/wish.ts";
import type { Message } from "../../src/domain/message.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { takeDecision } from "./decisions.ts";
import type { ThreadRow } from "./github-rows.ts";
import { say } from "./github-sync.ts";
import { needsFor } from "./needs.ts";
import { prepare } from "./preparing.ts";
import type { ApprovalRow, TaskRow } from "./rows.ts";
import type { Prepared } from "./scene.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";
import { cancelTask } from "./tasks.ts";
import type { ScopeStores, Tx } from "./tx.ts";

/** What was looked at changed until the transaction: the whole of it is undone and prepared anew. */
export class DecideAgain extends Error {
  constructor() {
    super("others decided at the same time");
    this.name = "DecideAgain";
  }
}
export interface GithubPrepared {
  readonly content_hash: string;
  readonly prepared: Prepared;
}

type Stores = Pick<ScopeStores, "rows" | "people" | "github">;
interface Chosen {
  readonly card: ApprovalRow;
  readonly caller: Caller;
  readonly decision: Decision;
}

/** A person of the repository, as GitHub vouches for them now: an approver, proved as well as by a token. */
export function githubCaller(scope_id: string, login: string): Caller {
  const subject = githubSubject(login);
  return { scope_id, subject, role: "approver", via: "github", credential_id: subject };
}

/**
 * The task that was meant: by a button the one of its check; by a comment, of its thread's, the one whose card it names,
 * else the newest that waits, that goes on, or that there was.
 */
export function threadMeant({ rows, github }: Stores, { repository, happening }: GithubRequest): ThreadRow | null {
  if (happening.kind !== "decision") return null;
  if (happening.via === "button") {
    const row = happening.task_id === null ? null : github.thread(happening.task_id);
    return row?.repository_id === repository.id ? row : null;
  }
  if (happening.thread === null) return null;
  const all = github.threadsOf(repository.id, happening.thread.number);
  const { hash } = happening;
  const named = ({ task_id }: ThreadRow) =>
    task_id === happening.task_id ||
    (hash !== null && pendingOf(rows, task_id).some(({ content_hash }) => content_hash.startsWith(hash)));
  return (
    all.findLast(named) ??
    all.findLast(({ task_id }) => waits(rows, task_id)) ??
    all.findLast(({ task_id }) => isOpen(rows, task_id)) ??
    all.at(-1) ??
    null
  );
}
function waits(rows: ScopeStores["rows"], task_id: string): boolean {
  return pendingOf(rows, task_id).length > 0;
}
function isOpen(rows: ScopeStores["rows"], task_id: string): boolean {
  return !isFinal(rows.tasks.get(task_id)?.status ?? "done");
}
/** Why these words decide nothing, whatever card they may be about; null when they may. */
function whyNotHeard({ rows, github }: Stores, said: GithubDecision, { repository_id }: ThreadRow): string | null {
  if (said.app === true) return "another App wrote it in your name: decide on the page, or write it yourself";
  const { what, via, hash, task_id, thread } = said;
  if (via !== "comment" || thread === null || hash !== null) return null;
  const cancels = what === "cancel";
  const all = github.threadsOf(repository_id, thread.number).map((row) => row.task_id);
  const meant = all.filter((id) => (cancels ? isOpen(rows, id) : waits(rows, id)));
  if (task_id !== null) return meant.includes(task_id) ? null : `no open task of this thread is called ${task_id}`;
  if (meant.length < 2) return null;
  if (!cancels) return "more than one waits here: name the hash of the one you mean";
  const names = meant.slice(-limits.github_named_tasks).join(", ");
  return `more than one task is open here: ${names}. Name the one you mean, as in /countersign cancel ${meant.at(-1)}`;
}
export function pendingOf(rows: ScopeStores["rows"], task_id: string): ApprovalRow[] {
  return rows.approvals.ofTask(task_id).filter(({ status }) => status === "pending");
}
/** Of all tasks of the thread where it was said, decided or not. */
function cardsThere({ rows, github }: Stores, { thread }: GithubDecision, { repository_id }: ThreadRow): ApprovalRow[] {
  if (thread === null) return [];
  return github.threadsOf(repository_id, thread.number).flatMap(({ task_id }) => rows.approvals.ofTask(task_id));
}

/** Which card, by whom and how; or why not, in words for whoever said it. */
function choose(
  scope: { scope_id: string; approvals: Policy["approvals"] },
  stores: Stores,
  heard: GithubDecision,
  thread: ThreadRow,
): Chosen | { readonly refused: string } {
  const said = asMeant(heard, cardsThere(stores, heard, thread));
  const unheard = whyNotHeard(stores, said, thread);
  if (unheard !== null) return { refused: unheard };
  const cards = pendingOf(stores.rows, thread.task_id);
  const picked = pickCard(said, cards, thread.shown?.showed ?? null, offeredOf(thread));
  if ("refused" in picked) return picked;
  const { card } = picked;
  const caller = githubCaller(scope.scope_id, said.by.login);
  const { content_hash } = card;
  if (said.what === "deny") {
    const comment = said.reason?.trim() || `denied on GitHub by ${said.by.login}`;
    return { card, caller, decision: { decision: "deny", content_hash, comment, stop: false } };
  }
  const answering = { subject: caller.subject, id: said.by.id, asked_id: thread.asked_id };
  const { why } = whyPageOf(stores, scope.approvals, card, answering);
  if (why !== null) return { refused: `this needs the page: ${why}` };
  return { card, caller, decision: { decision: "approve", content_hash, comment: null } };
}
export function mayDecideThere(request: GithubRequest): boolean {
  const { happening, people } = request;
  return happening.kind === "decision" && !happening.by.is_bot && mayWrite(permissionOf(people, happening.by.login));
}

/** Before the transaction: null where nothing is to be signed. */
export async function prepareGithub(
  scope: Scope,
  signatures: Signatures,
  message: Message,
): Promise<GithubPrepared | null> {
  const parsed = message.message_kind === "github_request" ? githubRequest.safeParse(message.payload) : null;
  const request = parsed?.success ? parsed.data : null;
  if (request === null || request.happening.kind !== "decision" || !mayDecideThere(request)) return null;
  const thread = threadMeant(scope.stores, request);
  if (thread === null || !["approve", "deny"].includes(request.happening.what)) return null;
  const { approvals } = scope.policies.inForce().policy;
  const chosen = choose({ ...scope.self(), approvals }, scope.stores, request.happening, thread);
  if ("refused" in chosen) return null;
  return { content_hash: chosen.card.content_hash, prepared: await prepare(scope, signatures, chosen) };
}

/** In the transaction. Throws DecideAgain where it must be prepared anew. */
export function decideThere(
  tx: Tx,
  task: TaskRow,
  asked: { said: GithubDecision; thread: ThreadRow; prepared: GithubPrepared | null; can_sign: boolean },
): void {
  const { said, thread, prepared } = asked;
  const chosen = choose({ ...tx.scope, approvals: tx.scope.policy.approvals }, tx.stores, said, thread);
  if ("refused" in chosen) return refused(tx, task, said, chosen.refused);
  if (chosen.decision.decision === "approve" && !asked.can_sign)
    return refused(tx, task, said, "this deployment has no SIGNING_KEYS, so nothing can be approved");
  if (prepared?.content_hash !== chosen.card.content_hash) throw new DecideAgain();
  const taken = takeDecision(tx, chosen.caller, chosen.card, chosen.decision, prepared.prepared);
  if (taken === "again") throw new DecideAgain();
  // The road's own refusals are on record already.
  say(tx, task.id, taken.ok ? null : notTaken(said, taken.refusal.detail));
}

/** A no that cannot be heard there is said there, and on record. */
export function refused(tx: Tx, task: TaskRow, said: GithubDecision, why: string): void {
  tx.audit("approval", task, {
    actor: "user",
    decision: "refused",
    reason: why,
    details: { by: githubSubject(said.by.login), what: said.what, via: said.via },
  });
  say(tx, task.id, notTaken(said, why));
}
function notTaken({ what, by }: GithubDecision, why: string): string {
  return `The ${what} of ${by.login} was not taken: ${why}.`.replace(/\.\.$/, ".");
}

/** Ends the task that is meant. */
export function cancelThere(tx: Tx, task: TaskRow, said: GithubDecision, thread: ThreadRow): void {
  const why = whyNotHeard(tx.stores, said, thread);
  if (why !== null) return refused(tx, task, said, why);
  const reason = said.reason?.trim() || `cancelled on GitHub by ${said.by.login}`;
  cancelTask(tx, githubCaller(tx.scope.scope_id, said.by.login), task, reason);
}

function whyPageOf(
  stores: Stores,
  approvals: Policy["approvals"],
  card: ApprovalRow,
  by: Answering | null,
): { readonly why: string | null; readonly all: PlanText | null } {
  const plan = card.plan_id === null ? null : stores.rows.plans.get(card.plan_id);
  const all = card.kind === "plan" ? planText(card.card, card.content_hash, plan?.markdown ?? null) : null;
  return { why: whyPage({ ...card, needs: needsFor(stores, approvals, card) }, all, by), all };
}
/** Plans that may have been read on GitHub: what was handed out to be shown, told of or not, and what was told. Null: not known. */
export function offeredOf({ offered, shown }: Pick<ThreadRow, "offered" | "shown">): string[] | null {
  if (offered === null) return null;
  const showed = shown?.showed?.content_hash;
  return [...new Set([...offered, ...(showed === undefined ? [] : [showed])])];
}
/** For the standing document: whether buttons are shown, and if not, why; what a yes covers; whether it must name it. */
export function decidedThere(
  approvals: Policy["approvals"],
  stores: Stores,
  card: ApprovalRow,
  thread: ThreadRow,
): Pick<WaitingCard, "buttons" | "why_page" | "text" | "named"> {
  const { why, all } = whyPageOf(stores, approvals, card, null);
  const text = all !== null && "text" in all ? all.text : null;
  return { buttons: why === null, why_page: why, text, named: isSecond(card, offeredOf(thread)) };
}
