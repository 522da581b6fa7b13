/**
 * One scope's runtime: the bus. It owns tasks, plans, attempts, approvals, events, people, and two shared queues.
 * Every entry is: gather -> one transaction that loads, decides and writes -> flush. What is decided stands in
 * `src/domain`, what each transaction does in `runtime/`, what people may ask in `runtime-people.ts`. Here is what
 * agents may ask, messages, and the alarm. [RTO-*]
 */
import type { Message } from "../src/domain/message.ts";
import { overdueBy } from "../src/domain/overdue.ts";
import { ok, type Result } from "../src/domain/refusal.ts";
import type { Bindings } from "../src/env.ts";
import type { RuntimeDoor } from "../src/http/doors.ts";
import type { Answer, RemoteGithub, RemoteRuntime } from "./remote.ts";
import { followDefaults } from "./runtime/policies.ts";
import { PeoplesRuntime } from "./runtime-people.ts";
import type { Confirmed } from "./shipping.ts";

// What a method is called with: the signatures stand in `src/http/doors.ts` (people) and `remote.ts` (agents).
type Asked<Method extends keyof RuntimeDoor> = Parameters<RuntimeDoor[Method]>;
type Told<Method extends keyof RemoteRuntime> = Parameters<RemoteRuntime[Method]>;
type Joined<Method extends keyof RemoteGithub> = Parameters<RemoteGithub[Method]>;

export class RuntimeObject extends PeoplesRuntime implements RuntimeDoor, RemoteRuntime, RemoteGithub {
  #working = false;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    this.#comeBack();
  }
  /** What a restart means: unconfirmed messages are sent again, and leases of the former life return to the queue. */
  #comeBack(): void {
    if (this.parts.scope.directory.self() === null) return;
    const now = Date.now();
    this.parts.scope.commit((tx) => {
      tx.stores.outbox.resendAll(now);
      tx.facts(tx.stores.queue.requeueOwn("runtime_queue", now, () => true));
      followDefaults(tx, this.parts.scope.policies);
    });
    this.ctx.blockConcurrencyWhile(() => this.parts.pulse.arm(now));
  }

  /** Makes the scope, once, and starts its first agents. */
  async initScope(...[input]: Asked<"initScope">): Promise<Result<{ scope_id: string; name: string }>> {
    const made = this.parts.scope.init(input);
    if (!made.ok) return made;
    await this.parts.crew.start(Date.now());
    await this.parts.pulse.after();
    return ok({ scope_id: input.scope_id, name: input.name });
  }

  override async fetch(request: Request): Promise<Response> {
    return this.parts.sockets.open(request);
  }
  override webSocketMessage(socket: WebSocket, text: string | ArrayBuffer): void {
    this.parts.sockets.message(socket, text);
  }
  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  // --- what its agents ask while they work

  claim(...told: Told<"claim">) {
    return this.parts.agents.claim(...told);
  }
  begin(...told: Told<"begin">) {
    return this.parts.agents.begin(...told);
  }
  authorize(...told: Told<"authorize">) {
    return this.parts.agents.authorize(...told);
  }
  settle(...told: Told<"settle">) {
    return this.parts.agents.settle(...told);
  }
  lookedUp(...told: Told<"lookedUp">) {
    return this.parts.agents.lookedUp(...told);
  }
  mayPublish(...told: Told<"mayPublish">) {
    return this.parts.agents.mayPublish(...told);
  }
  heartbeat(...told: Told<"heartbeat">) {
    return this.parts.agents.heartbeat(...told);
  }
  noteOutput(...told: Told<"noteOutput">) {
    return this.parts.agents.noteOutput(...told);
  }
  report(...told: Told<"report">) {
    return this.parts.agents.report(...told);
  }
  ownersOver(...told: Told<"ownersOver">) {
    return this.parts.agents.ownersOver(...told);
  }

  mayThink(...told: Told<"mayThink">) {
    return this.parts.minds.mayThink(...told);
  }
  thought(...told: Told<"thought">) {
    return this.parts.minds.thought(...told);
  }
  mayUse(...told: Told<"mayUse">) {
    return this.parts.minds.mayUse(...told);
  }
  recall(...told: Told<"recall">) {
    return this.parts.minds.recall(...told);
  }
  history(...told: Told<"history">) {
    return this.parts.minds.history(...told);
  }
  say(...told: Told<"say">) {
    return this.parts.minds.say(...told);
  }
  githubStanding(...told: Told<"githubStanding">) {
    return this.parts.github.githubStanding(...told);
  }

  // --- what GitHub's door and its installations bring

  githubDelivery(...joined: Joined<"githubDelivery">) {
    return this.parts.github.githubDelivery(...joined);
  }
  githubIgnored(...joined: Joined<"githubIgnored">) {
    return this.parts.github.githubIgnored(...joined);
  }
  githubLinked(...joined: Joined<"githubLinked">) {
    return this.parts.github.githubLinked(...joined);
  }
  githubUnlinked(...joined: Joined<"githubUnlinked">) {
    return this.parts.github.githubUnlinked(...joined);
  }
  githubLink(...joined: Joined<"githubLink">) {
    return this.parts.github.githubLink(...joined);
  }
  githubLinks(...joined: Joined<"githubLinks">) {
    return this.parts.github.githubLinks(...joined);
  }
  githubTriggers(...joined: Joined<"githubTriggers">) {
    return this.parts.github.githubTriggers(...joined);
  }
  githubRepository(...joined: Joined<"githubRepository">) {
    return this.parts.github.githubRepository(...joined);
  }
  githubCounts(...joined: Joined<"githubCounts">) {
    return this.parts.github.githubCounts(...joined);
  }

  // --- messages

  /** Every message of the scope passes here on its way: the event, and the card if one is due. */
  async observe(message: Message): Promise<void> {
    this.parts.scope.belongs(message.scope_id);
    await this.parts.mailroom.observe(message);
  }
  async deliver(message: Message): Promise<Answer> {
    this.parts.scope.belongs(message.scope_id);
    return this.parts.mailroom.deliver(message);
  }
  async letterDied(...[scope, holder, died]: Told<"letterDied">): Promise<void> {
    this.parts.scope.belongs(scope);
    await this.parts.mailroom.letterDied(holder, died);
  }
  /** An addressee can never take a message of the runtime's. */
  async refuseOwn(message_id: string, reason: string): Promise<void> {
    await this.parts.mailroom.refuseOwn(message_id, reason);
  }
  async confirm(ids: readonly string[]): Promise<void> {
    this.parts.mail().confirm(ids);
  }
  async putOff(ids: readonly string[]): Promise<void> {
    this.parts.mail().putOff(ids);
  }
  async confirmRecords(seq: Confirmed): Promise<void> {
    this.parts.mail().confirmRecords(seq);
    if (this.parts.mail().recordsWait(Date.now())) await this.parts.pulse.after();
  }

  // --- time

  /** Each part by itself: one that meets a bug keeps none of the others from its work. */
  override async alarm(): Promise<void> {
    const { mailroom, decisions, github, crew, records, pulse } = this.parts;
    this.#working = true;
    const parts: (() => unknown)[] = [
      () => mailroom.expire(Date.now()),
      () => decisions.expire(Date.now()),
      () => github.settle(Date.now()),
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
    this.parts.scope.belongs(scope);
    const now = Date.now();
    const late_ms = overdueBy(this.parts.pulse.dueSince(now), now, this.#working);
    if (late_ms !== null)
      this.parts.scope.commit((tx) =>
        tx.audit("transition", { trace_id: "scope" }, { decision: "recovered_overdue", details: { late_ms } }),
      );
    await this.alarm();
    await this.parts.crew.pokeAll();
  }
}
