/**
 * A runtime's door for people: each method of `src/http/doors.ts` leads to the part that knows its noun. Nothing is
 * decided and nothing is kept here; the object's own life stands in `runtime-object.ts`. [RTO-*]
 */
import { DurableObject } from "cloudflare:workers";
import type { Bindings } from "../src/env.ts";
import type { RuntimeDoor } from "../src/http/doors.ts";
import { openParts, type RuntimeParts } from "./runtime/parts.ts";
import { durableSql } from "./sql.ts";

// What a method is called with: the signatures stand in `src/http/doors.ts`.
type Asked<Method extends keyof RuntimeDoor> = Parameters<RuntimeDoor[Method]>;

export abstract class PeoplesRuntime
  extends DurableObject<Bindings>
  implements Omit<RuntimeDoor, "initScope" | "fetch">
{
  protected readonly parts: RuntimeParts;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    this.parts = openParts(ctx, durableSql(ctx), bindings);
  }

  authenticate(...asked: Asked<"authenticate">) {
    return this.parts.people.authenticate(...asked);
  }
  createTask(...asked: Asked<"createTask">) {
    return this.parts.tasks.createTask(...asked);
  }
  tasks(...asked: Asked<"tasks">) {
    return this.parts.tasks.tasks(...asked);
  }
  task(...asked: Asked<"task">) {
    return this.parts.tasks.task(...asked);
  }
  thoughts(...asked: Asked<"thoughts">) {
    return this.parts.tasks.thoughts(...asked);
  }
  taskEvents(...asked: Asked<"taskEvents">) {
    return this.parts.tasks.taskEvents(...asked);
  }
  patchKeys(...asked: Asked<"patchKeys">) {
    return this.parts.tasks.patchKeys(...asked);
  }
  cancelTask(...asked: Asked<"cancelTask">) {
    return this.parts.tasks.cancelTask(...asked);
  }
  addMessage(...asked: Asked<"addMessage">) {
    return this.parts.tasks.addMessage(...asked);
  }
  approvals(...asked: Asked<"approvals">) {
    return this.parts.decisions.approvals(...asked);
  }
  approval(...asked: Asked<"approval">) {
    return this.parts.decisions.approval(...asked);
  }
  decide(...asked: Asked<"decide">) {
    return this.parts.decisions.decide(...asked);
  }
  approvalTokens(...asked: Asked<"approvalTokens">) {
    return this.parts.tokens.approvalTokens(...asked);
  }
  standingApprovals(...asked: Asked<"standingApprovals">) {
    return this.parts.standing.standingApprovals(...asked);
  }
  standingApproval(...asked: Asked<"standingApproval">) {
    return this.parts.standing.standingApproval(...asked);
  }
  addStandingApproval(...asked: Asked<"addStandingApproval">) {
    return this.parts.standing.addStandingApproval(...asked);
  }
  revokeStandingApproval(...asked: Asked<"revokeStandingApproval">) {
    return this.parts.standing.revokeStandingApproval(...asked);
  }
  memories(...asked: Asked<"memories">) {
    return this.parts.memory.memories(...asked);
  }
  forgetMemory(...asked: Asked<"forgetMemory">) {
    return this.parts.memory.forgetMemory(...asked);
  }
  repos() {
    return this.parts.people.repos();
  }
  hasRepo(...asked: Asked<"hasRepo">) {
    return this.parts.people.hasRepo(...asked);
  }
  addRepo(...asked: Asked<"addRepo">) {
    return this.parts.people.addRepo(...asked);
  }
  removeRepo(...asked: Asked<"removeRepo">) {
    return this.parts.people.removeRepo(...asked);
  }
  tokens() {
    return this.parts.people.tokens();
  }
  addToken(...asked: Asked<"addToken">) {
    return this.parts.people.addToken(...asked);
  }
  revokeToken(...asked: Asked<"revokeToken">) {
    return this.parts.people.revokeToken(...asked);
  }
  addTicket(...asked: Asked<"addTicket">) {
    return this.parts.people.addTicket(...asked);
  }
  redeemTicket(...asked: Asked<"redeemTicket">) {
    return this.parts.people.redeemTicket(...asked);
  }
  openSession(...asked: Asked<"openSession">) {
    return this.parts.people.openSession(...asked);
  }
  closeSession(...asked: Asked<"closeSession">) {
    return this.parts.people.closeSession(...asked);
  }
  agents() {
    return this.parts.shown.agents();
  }
  agent(...asked: Asked<"agent">) {
    return this.parts.shown.agent(...asked);
  }
  agentTransitions(...asked: Asked<"agentTransitions">) {
    return this.parts.shown.agentTransitions(...asked);
  }
  queues(...asked: Asked<"queues">) {
    return this.parts.queues.queues(...asked);
  }
  queueDetail(...asked: Asked<"queueDetail">) {
    return this.parts.queues.queueDetail(...asked);
  }
  deadLetters(...asked: Asked<"deadLetters">) {
    return this.parts.queues.deadLetters(...asked);
  }
  moveQueue(...asked: Asked<"moveQueue">) {
    return this.parts.queues.moveQueue(...asked);
  }
  requeueLetter(...asked: Asked<"requeueLetter">) {
    return this.parts.queues.requeueLetter(...asked);
  }
  requeueLetters(...asked: Asked<"requeueLetters">) {
    return this.parts.queues.requeueLetters(...asked);
  }
  chainEnds(...asked: Asked<"chainEnds">) {
    return this.parts.records.chainEnds(...asked);
  }
  figures(...asked: Asked<"figures">) {
    return this.parts.records.figures(...asked);
  }
  attemptAgent(...asked: Asked<"attemptAgent">) {
    return this.parts.shown.attemptAgent(...asked);
  }
  policy() {
    return this.parts.policy.policy();
  }
  policyVersions(...asked: Asked<"policyVersions">) {
    return this.parts.policy.policyVersions(...asked);
  }
  policyVersion(...asked: Asked<"policyVersion">) {
    return this.parts.policy.policyVersion(...asked);
  }
  changePolicy(...asked: Asked<"changePolicy">) {
    return this.parts.policy.changePolicy(...asked);
  }
  recordedCalls(...asked: Asked<"recordedCalls">) {
    return this.parts.policy.recordedCalls(...asked);
  }
  webhooks(...asked: Asked<"webhooks">) {
    return this.parts.webhooks.webhooks(...asked);
  }
  webhook(...asked: Asked<"webhook">) {
    return this.parts.webhooks.webhook(...asked);
  }
  addWebhook(...asked: Asked<"addWebhook">) {
    return this.parts.webhooks.addWebhook(...asked);
  }
  removeWebhook(...asked: Asked<"removeWebhook">) {
    return this.parts.webhooks.removeWebhook(...asked);
  }
  moveWebhook(...asked: Asked<"moveWebhook">) {
    return this.parts.webhooks.moveWebhook(...asked);
  }
  rotateWebhook(...asked: Asked<"rotateWebhook">) {
    return this.parts.webhooks.rotateWebhook(...asked);
  }
  testWebhook(...asked: Asked<"testWebhook">) {
    return this.parts.webhooks.testWebhook(...asked);
  }
  webhookDeliveries(...asked: Asked<"webhookDeliveries">) {
    return this.parts.webhooks.webhookDeliveries(...asked);
  }
  redeliver(...asked: Asked<"redeliver">) {
    return this.parts.webhooks.redeliver(...asked);
  }
  hooks(...asked: Asked<"hooks">) {
    return this.parts.hooks.hooks(...asked);
  }
  addHook(...asked: Asked<"addHook">) {
    return this.parts.hooks.addHook(...asked);
  }
  removeHook(...asked: Asked<"removeHook">) {
    return this.parts.hooks.removeHook(...asked);
  }
  rotateHook(...asked: Asked<"rotateHook">) {
    return this.parts.hooks.rotateHook(...asked);
  }
  hookSecrets(...asked: Asked<"hookSecrets">) {
    return this.parts.hooks.hookSecrets(...asked);
  }
  runHook(...asked: Asked<"runHook">) {
    return this.parts.hooks.runHook(...asked);
  }
  events(...asked: Asked<"events">) {
    return this.parts.feed.events(...asked);
  }
}
