/** The doors of approvals: what waits, and a person's decision. */
import { describe, expect, it } from "vitest";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import { approvalOf } from "../fakes/views.ts";
import { world } from "./world.ts";

describe("approvals", () => {
  function waiting() {
    const all = world();
    all.runtime.approvalRows.set("ap-1", approvalOf("ap-1"));
    const decide = (how: string, body: unknown) =>
      all.ask("POST", `/api/approvals/ap-1/${how}`, { as: "approver", body });
    return { ...all, decide, hash: "a".repeat(64) };
  }
  it("[HTTP-17] what waits is listed and shown; an approver's decision carries the hash they saw", async () => {
    const { ask, decide, hash, runtime } = waiting();
    const listed = await ask("GET", "/api/approvals?status=pending", { as: "viewer" });
    expect(listed.body.items.map((row: { id: string }) => row.id)).toEqual(["ap-1"]);
    expect((await ask("GET", "/api/approvals/ap-1", { as: "viewer" })).body.content_hash).toBe(hash);
    const decided = await decide("approve", { content_hash: hash, comment: "good" });
    expect([decided.status, decided.body.status]).toEqual([200, "approved"]);
    expect(runtime.lastDecision).toEqual({ decision: "approve", content_hash: hash, comment: "good" });
    expect((await ask("GET", "/api/approvals?status=pending", { as: "viewer" })).body.items).toEqual([]);
  });
  it("[HTTP-17] deny and request changes carry their reasons", async () => {
    const first = waiting();
    await first.decide("deny", { reason: "too wide", stop: true });
    const denied = { decision: "deny", content_hash: null, comment: "too wide", stop: true };
    expect(first.runtime.lastDecision).toEqual(denied);
    const second = waiting();
    await second.decide("request-changes", { reason: "smaller", comments: ["one file", "keep tests"] });
    const comment = "smaller\n- one file\n- keep tests";
    expect(second.runtime.lastDecision).toEqual({ decision: "request_changes", content_hash: null, comment });
    expect((await waiting().decide("deny", {})).status).toBe(400);
    expect((await waiting().decide("deny", { reason: "  " })).status).toBe(400);
    expect((await waiting().decide("approve", {})).status).toBe(400);
  });
  it("[HTTP-18] a second decision is 409 with the first; another hash is 409; an unknown card is 404", async () => {
    const { ask, decide, hash } = waiting();
    expect((await decide("approve", { content_hash: "b".repeat(64) })).body.code).toBe("content_changed");
    await decide("deny", { reason: "no" });
    const late = await decide("approve", { content_hash: hash });
    expect([late.status, late.body.code, late.body.decision.comment]).toEqual([409, "already_resolved", "no"]);
    const none = await ask("POST", "/api/approvals/none/approve", { as: "approver", body: { content_hash: hash } });
    expect([none.status, none.body.code]).toEqual([404, "approval_not_found"]);
  });
  it("[HTTP-18] an amount for a card that is about no budget is refused rather than dropped", async () => {
    const { decide, hash, runtime } = waiting();
    const answer = await decide("approve", { content_hash: hash, amount: { usd: 5 } });
    expect([answer.status, answer.body.code]).toEqual([400, "bad_request"]);
    expect(runtime.lastDecision).toMatchObject({ amount: { usd: 5 } });
    expect(runtime.approvalRows.get("ap-1")?.status).toBe("pending");
  });
  it("[HTTP-120] an approval shows who approved, who is still needed, when it ends and what ended it", async () => {
    const { ask, decide, hash, runtime } = waiting();
    const needs = { approvers: 2, proof: "token" as const, not_by: "sue", revisions_left: 0 };
    runtime.approvalRows.set("ap-1", { ...approvalOf("ap-1"), needs, expires_at: "2099-01-01T00:00:00.000Z" });
    const first = await decide("approve", { content_hash: hash });
    expect([first.status, first.body.status, first.body.needs, first.body.winner]).toEqual([
      200,
      "pending",
      needs,
      null,
    ]);
    const shown = await ask("GET", "/api/approvals/ap-1", { as: "viewer" });
    expect(shown.body).toMatchObject({ expires_at: "2099-01-01T00:00:00.000Z", decisions: [{ by: "a approver" }] });
    const again = await decide("approve", { content_hash: hash });
    expect([again.status, again.body.code, again.body.because]).toEqual([409, "not_in_this_state", "approved_already"]);
    await decide("deny", { reason: "no" });
    const late = await decide("approve", { content_hash: hash });
    expect([late.status, late.body.winner]).toMatchObject([409, { by: "a approver", what: "deny", reason: "no" }]);
  });
  it("[HTTP-121] whom the policy does not let approve is 403 with the reason, whatever their role", async () => {
    const { ask, decide, hash, runtime } = waiting();
    const of = (needs: Partial<ApprovalView["needs"]>) =>
      runtime.approvalRows.set("ap-1", { ...approvalOf("ap-1"), needs: { ...approvalOf("ap-1").needs, ...needs } });
    of({ not_by: "a approver" });
    const own = await decide("approve", { content_hash: hash });
    expect([own.status, own.body.code, own.body.because]).toEqual([403, "forbidden", "own_task"]);
    of({ proof: "session" });
    const weak = await ask("POST", "/api/approvals/ap-1/approve", { as: "admin", body: { content_hash: hash } });
    expect([weak.status, weak.body.because]).toEqual([403, "proof"]);
    expect((await decide("deny", { reason: "no" })).status).toBe(200);
  });
});
