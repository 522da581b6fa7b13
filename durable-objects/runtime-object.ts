/**
 * One scope's runtime: the bus. It owns tasks, plans, attempts, approvals, events, people, and two shared queues.
 * Every entry is: gather -> one transaction that loads, decides and writes -> flush. What is decided stands in
 * `src/domain`, what each transaction does in `runtime/`. Here is what others may ask, and the alarm. [RTO-*]
 */
import { DurableObject } from "cloudflare:workers";
import type { Message } from "../src/domain/message.ts";
import { overdueBy } from "../src/domain/overdue.ts";
import { ok, type Result } from "../src/domain/refusal.ts";
import type { Bindings } from "../src/env.ts";
import type { RuntimeDoor } from "../src/http/doors.ts";
import type { Answer, RemoteRuntime } from "./remote.ts";
import { openParts, type RuntimeParts } from "./runtime/parts.ts";
import { followDefaults } from "./runtime/policies.ts";
import type { Confirmed } from "./shipping.ts";
import { durableSql } from "./sql.ts";

// What a method is called with: the signatures stand in `src/http/doors.ts` (people) and `remote.ts` (agents).
type Asked<Method extends keyof RuntimeDoor> = Parameters<RuntimeDoor[Method]>;
type Told<Method extends keyof RemoteRuntime> = Parameters<RemoteRuntime[Method]>;

export class RuntimeObject extends DurableObject<Bindings> implements RuntimeDoor, RemoteRuntime {
  readonly #parts: RuntimeParts;
  #working = false;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    this.#parts = openParts(ctx, durableSql(ctx), bindings);
    this.#comeBack();
  }
  /** What a restart means: unconfirmed messages are sent again, and leases of the former life return to the queue. */
  #comeBack(): void {
    if (this.#parts.scope.directory.self() === null) return;
    const now = Date.now();
    this.#parts.scope.commit((tx) => {
      tx.stores.outbox.resendAll(now);
      tx.facts(tx.stores.queue.requeueOwn("runtime_queue", now, () => true));
      followDefaults(tx, this.#parts.scope.policies);
    });
    this.ctx.blockConcurrencyWhile(() => this.#parts.pulse.arm(now));
  }

  /** Makes the scope, once, and starts its first agents. */
  async initScope(...[input]: Asked<"initScope">): Promise<Result<{ scope_id: string; name: string }>> {
    const made = this.#parts.scope.init(input);
    if (!made.ok) return made;
    await this.#parts.crew.start(Date.now());
    await this.#parts.pulse.after();
    return ok({ scope_id: input.scope_id, name: input.name });
  }

  // --- what people ask, through the HTTP door

  authenticate(...asked: Asked<"authenticate">) {
    return this.#parts.people.authenticate(...asked);
  }
  createTask(...asked: Asked<"createTask">) {
    return this.#parts.tasks.createTask(...asked);
  }
  tasks(...asked: Asked<"tasks">) {
    return this.#parts.tasks.tasks(...asked);
  }
  task(...asked: Asked<"task">) {
    return this.#parts.tasks.task(...asked);
  }
  taskEvents(...asked: Asked<"taskEvents">) {
    return this.#parts.tasks.taskEvents(...asked);
  }
  patchKeys(...asked: Asked<"patchKeys">) {
    return this.#parts.tasks.patchKeys(...asked);
  }
  cancelTask(...asked: Asked<"cancelTask">) {
    return this.#parts.tasks.cancelTask(...asked);
  }
  addMessage(...asked: Asked<"addMessage">) {
    return this.#parts.tasks.addMessage(...asked);
  }
  approvals(...asked: Asked<"approvals">) {
    return this.#parts.decisions.approvals(...asked);
  }
  approval(...asked: Asked<"approval">) {
    return this.#parts.decisions.approval(...asked);
  }
  decide(...asked: Asked<"decide">) {
    return this.#parts.decisions.decide(...asked);
  }
  approvalTokens(...asked: Asked<"approvalTokens">) {
    return this.#parts.tokens.approvalTokens(...asked);
  }
  standingApprovals(...asked: Asked<"standingApprovals">) {
    return this.#parts.standing.standingApprovals(...asked);
  }
  standingApproval(...asked: Asked<"standingApproval">) {
    return this.#parts.standing.standingApproval(...asked);
  }
  addStandingApproval(...asked: Asked<"addStandingApproval">) {
    return this.#parts.standing.addStandingApproval(...asked);
  }
  revokeStandingApproval(...asked: Asked<"revokeStandingApproval">) {
    return this.#parts.standing.revokeStandingApproval(...asked);
  }
  repos() {
    return this.#parts.people.repos();
  }
  hasRepo(...asked: Asked<"hasRepo">) {
    return this.#parts.people.hasRepo(...asked);
  }
  addRepo(...asked: Asked<"addRepo">) {
    return this.#parts.people.addRepo(...asked);
  }
  removeRepo(...asked: Asked<"removeRepo">) {
    return this.#parts.people.removeRepo(...asked);
  }
  tokens() {
    return this.#parts.people.tokens();
  }
  addToken(...asked: Asked<"addToken">) {
    return this.#parts.people.addToken(...asked);
  }
  revokeToken(...asked: Asked<"revokeToken">) {
    return this.#parts.people.revokeToken(...asked);
  }
  addTicket(...asked: Asked<"addTicket">) {
    return this.#parts.people.addTicket(...asked);
  }
  redeemTicket(...asked: Asked<"redeemTicket">) {
    return this.#parts.people.redeemTicket(...asked);
  }
  openSession(...asked: Asked<"openSession">) {
    return this.#parts.people.openSession(...asked);
  }
  closeSession(...asked: Asked<"closeSession">) {
    return this.#parts.people.closeSession(...asked);
  }
  agents() {
    return this.#parts.shown.agents();
  }
  agent(...asked: Asked<"agent">) {
    return this.#parts.shown.agent(...asked);
  }
  agentTransitions(...asked: Asked<"agentTransitions">) {
    return this.#parts.shown.agentTransitions(...asked);
  }
  queues(...asked: Asked<"queues">) {
    return this.#parts.queues.queues(...asked);
  }
  queueDetail(...asked: Asked<"queueDetail">) {
    return this.#parts.queues.queueDetail(...asked);
  }
  deadLetters(...asked: Asked<"deadLetters">) {
    return this.#parts.queues.deadLetters(...asked);
  }
  moveQueue(...asked: Asked<"moveQueue">) {
    return this.#parts.queues.moveQueue(...asked);
  }
  requeueLetter(...asked: Asked<"requeueLetter">) {
    return this.#parts.queues.requeueLetter(...asked);
  }
  requeueLetters(...asked: Asked<"requeueLetters">) {
    return this.#parts.queues.requeueLetters(...asked);
  }
  chainEnds(...asked: Asked<"chainEnds">) {
    return this.#parts.records.chainEnds(...asked);
  }
  figures(...asked: Asked<"figures">) {
    return this.#parts.records.figures(...asked);
  }
  attemptAgent(...asked: Asked<"attemptAgent">) {
    return this.#parts.shown.attemptAgent(...asked);
  }
  policy() {
    return this.#parts.policy.policy();
  }
  policyVersions(...asked: Asked<"policyVersions">) {
    return this.#parts.policy.policyVersions(...asked);
  }
  policyVersion(...asked: Asked<"policyVersion">) {
    return this.#parts.policy.policyVersion(...asked);
  }
  changePolicy(...asked: Asked<"changePolicy">) {
    return this.#parts.policy.changePolicy(...asked);
  }
  recordedCalls(...asked: Asked<"recordedCalls">) {
    return this.#parts.policy.recordedCalls(...asked);
  }
  events(...asked: Asked<"events">) {
    return this.#parts.feed.events(...asked);
  }
  override async fetch(request: Request): Promise<Response> {
    return this.#parts.sockets.open(request);
  }
  override webSocketMessage(socket: WebSocket, text: string | ArrayBuffer): void {
    this.#parts.sockets.message(socket, text);
  }
  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  // --- what its agents ask while they work

  claim(...told: Told<"claim">) {
    return this.#parts.agents.claim(...told);
  }
  begin(...told: Told<"begin">) {
    return this.#parts.agents.begin(...told);
  }
  authorize(...told: Told<"authorize">) {
    return this.#parts.agents.authorize(...told);
  }
  settle(...told: Told<"settle">) {
    return this.#parts.agents.settle(...told);
  }
  lookedUp(...told: Told<"lookedUp">) {
    return this.#parts.agents.lookedUp(...told);
  }
  mayPublish(...told: Told<"mayPublish">) {
    return this.#parts.agents.mayPublish(...told);
  }
  heartbeat(...told: Told<"heartbeat">) {
    return this.#parts.agents.heartbeat(...told);
  }
  noteOutput(...told: Told<"noteOutput">) {
    return this.#parts.agents.noteOutput(...told);
  }
  report(...told: Told<"report">) {
    return this.#parts.agents.report(...told);
  }
  ownersOver(...told: Told<"ownersOver">) {
    return this.#parts.agents.ownersOver(...told);
  }

  // --- messages

  /** Every message of the scope passes here on its way: the event, and the card if one is due. */
  async observe(message: Message): Promise<void> {
    this.#parts.scope.belongs(message.scope_id);
    await this.#parts.mailroom.observe(message);
  }
  async deliver(message: Message): Promise<Answer> {
    this.#parts.scope.belongs(message.scope_id);
    return this.#parts.mailroom.deliver(message);
  }
  async letterDied(...[scope, holder, died]: Told<"letterDied">): Promise<void> {
    this.#parts.scope.belongs(scope);
    await this.#parts.mailroom.letterDied(holder, died);
  }
  /** An addressee can never take a message of the runtime's. */
  async refuseOwn(message_id: string, reason: string): Promise<void> {
    await this.#parts.mailroom.refuseOwn(message_id, reason);
  }
  async confirm(ids: readonly string[]): Promise<void> {
    this.#parts.mail().confirm(ids);
  }
  async putOff(ids: readonly string[]): Promise<void> {
    this.#parts.mail().putOff(ids);
  }
  async confirmRecords(seq: Confirmed): Promise<void> {
    this.#parts.mail().confirmRecords(seq);
    if (this.#parts.mail().recordsWait(Date.now())) await this.#parts.pulse.after();
  }

  // --- time

  /** Each part by itself: one that meets a bug keeps none of the others from its work. */
  override async alarm(): Promise<void> {
    const { mailroom, decisions, crew, records, pulse } = this.#parts;
    this.#working = true;
    const parts: (() => unknown)[] = [
      () => mailroom.expire(Date.now()),
      () => decisions.expire(Date.now()),
      () => crew.supervise(),
      () => crew.start(Date.now()),
      () => mailroom.work(),
      () => records.seal(Date.now()),
    ];
    try {
      for (const part of parts)
        try {
          await part();
        } catch (error) {
          console.error("runtime: the alarm met a bug; it goes on", error);
        }
    } finally {
      this.#working = false;
      await pulse.after();
    }
  }
  /** Asked each minute: an object whose alarm was lost goes on, and wakes its agents. */
  async sweep(scope: string): Promise<void> {
    this.#parts.scope.belongs(scope);
    const now = Date.now();
    const late_ms = overdueBy(this.#parts.pulse.dueSince(now), now, this.#working);
    if (late_ms !== null)
      this.#parts.scope.commit((tx) =>
        tx.audit("transition", { trace_id: "scope" }, { decision: "recovered_overdue", details: { late_ms } }),
      );
    await this.alarm();
    await this.#parts.crew.pokeAll();
  }
}
