import { describe, expect, it } from "vitest";
import {
  type ApprovalKind,
  cardTitle,
  type Decider,
  decide,
  decisionsOf,
  emptyCard,
  type LifeEvent,
  life,
  lifeEvents,
  lifeStates,
  mayDecide,
  type Pending,
  stepLife,
} from "../../src/domain/approval.ts";
import { cardView, type Decision } from "../../src/domain/approval-view.ts";
import { contentHash } from "../../src/domain/token.ts";
import { approvalKinds, approvalStatuses, type Caller, callerRoles } from "../../src/domain/view.ts";
import { madeBy, openCard } from "../fakes/views.ts";

/** Written again by hand, so that a slip in the table is seen. */
const edges = [
  "requested decide decided",
  "decided issue issued",
  "issued verify verified",
  "verified attach attached",
  "attached check checked",
  "checked check checked",
  "checked execute executed",
  ...["requested", "decided", "issued", "verified", "attached", "checked"].map((state) => `${state} void void`),
];

describe("a card", () => {
  it("[MNB-7] that was stored before it showed what a model is told stays as it is, and so does its hash", () => {
    const item = {
      ...{ id: "a", item_hash: "h", title: "A", runner: "loop", depends_on: [], protect: [], verify: [], steps: [] },
      ...{ grants: { tools: [], paths: [], commands: [], hosts: [], secrets: [] }, max_attempts: 3 },
    };
    const about = { kind: "plan", title: "T", why: "W", repo: "r", taint: "owner", policy_hash: "p" } as const;
    const stored = { ...emptyCard({ ...about, requested_by: "ada" }), items: [item] };
    expect(contentHash(cardView.parse(stored))).toBe(contentHash(stored));
    const told = { ...stored, items: [{ ...item, section: "Do it." }] };
    expect(contentHash(cardView.parse(told))).not.toBe(contentHash(stored));
  });
});

describe("the life of an approval", () => {
  it("[APP-1] of the 56 pairs 13 are moves and the others are refused with a reason", () => {
    const moved: string[] = [];
    for (const state of lifeStates)
      for (const event of lifeEvents) {
        const next = stepLife(state, event);
        if (next.ok) moved.push(`${state} ${event} ${next.value}`);
        else expect(next.refusal).toMatchObject({ code: "not_in_this_state", detail: expect.stringContaining(event) });
      }
    expect(moved.toSorted()).toEqual(edges.toSorted());
    expect(lifeStates.length * lifeEvents.length).toBe(56);
  });
  it("[APP-2] there is one way to execution, no step of it can be left out, and it ends there", () => {
    const way: LifeEvent[] = ["decide", "issue", "verify", "attach", "check", "execute"];
    const live = (events: readonly LifeEvent[]) =>
      events.reduce<ReturnType<typeof stepLife>>((at, event) => (at.ok ? stepLife(at.value, event) : at), {
        ok: true,
        value: "requested",
      });
    expect(live(way)).toEqual({ ok: true, value: "executed" });
    expect(live(way.toSpliced(5, 0, "check", "check"))).toEqual({ ok: true, value: "executed" });
    for (const at of way.keys()) expect(live(way.toSpliced(at, 1)).ok && at < 5, `without ${way[at]}`).toBe(false);
    expect([life.executed, life.void]).toEqual([{}, {}]);
  });
});

const first = madeBy("ada", "approve", { at: "2026-01-01T00:00:00.000Z", content_hash: "seen" });
const winner = { by: "ada", what: "approve", at: first.at, reason: null };
const who: Decider = { caller: { subject: "bob", via: "token" }, needs: openCard.needs };
const pending = (fields: Partial<Pending> = {}): Pending => ({
  id: "approval-1",
  kind: "plan",
  status: "pending",
  content_hash: "seen",
  decisions: [],
  winner: null,
  ...fields,
});
const decisions: Decision[] = [
  { decision: "approve", content_hash: "seen", comment: null },
  { decision: "deny", content_hash: "seen", comment: "no", stop: false },
  { decision: "request_changes", content_hash: "seen", comment: "rather so" },
];

describe("a decision", () => {
  it("[APP-3] each kind of card takes its own decisions, each leading to its status", () => {
    const statuses = { approve: "approved", deny: "denied", request_changes: "superseded" };
    for (const kind of approvalKinds)
      for (const decision of decisions) {
        const sums = kind === "budget" && decision.decision === "approve" ? { amount: { tokens: 1 } } : {};
        const answer = decide(pending({ kind }), { ...decision, ...sums }, who);
        const taken = decision.decision !== "request_changes" || kind === "plan";
        expect(decisionsOf[kind].includes(decision.decision)).toBe(taken);
        if (taken) expect(answer).toEqual({ ok: true, value: statuses[decision.decision] });
        else
          expect(answer).toMatchObject({
            ok: false,
            refusal: { code: "bad_request", detail: expect.stringContaining(kind) },
          });
      }
  });
  it("[APP-4] the first decision wins; whoever comes later is told who decided, what and when", () => {
    for (const status of approvalStatuses.filter((name) => name !== "pending"))
      for (const decision of decisions)
        expect(decide(pending({ status, decisions: [first] }), decision, who)).toEqual({
          ok: false,
          refusal: {
            code: "already_resolved",
            detail: `ada decided this at ${first.at}: approve. The first decision stands.`,
            extra: { status, decision: first, winner },
          },
        });
  });
  it("[APP-4] a card that ended without a decision says how it ended, by whom, when and why", () => {
    const ends = [
      ["expired", { by: "runtime", what: "expire", at: first.at, reason: "nobody decided" }],
      ["superseded", { by: "eve", what: "cancel", at: first.at, reason: "the task is cancelled" }],
      ["superseded", { by: "runtime", what: "supersede", at: first.at, reason: "a newer plan came" }],
    ] as const;
    for (const [status, how] of ends)
      expect(decide(pending({ status, winner: how, decisions: [first] }), decisions[0] as Decision, who)).toMatchObject(
        {
          // the list is not empty
          refusal: {
            code: "already_resolved",
            detail: expect.stringMatching(new RegExp(`${how.at} by ${how.by}: ${how.reason}`)),
            extra: { status, winner: how },
          },
        },
      );
  });
  it("[APP-4] late and wrong at once, it is late: nothing about the card is told that its first decision does not tell", () => {
    const late = pending({ status: "denied", decisions: [first], kind: "gate" });
    expect(decide(late, { decision: "request_changes", content_hash: "other", comment: "x" }, who)).toMatchObject({
      refusal: { code: "already_resolved" },
    });
  });
  it("[APP-5] a decision about other bytes than the card's is refused and names the bytes to read", () => {
    for (const decision of decisions)
      for (const content_hash of ["seen ", "SEEN", "", "0".repeat(64)])
        expect(decide(pending(), { ...decision, content_hash }, who)).toMatchObject({
          refusal: { code: "content_changed", extra: { content_hash: "seen" } },
        });
  });
  it("[APP-5] saying no needs no proof of what was seen", () => {
    expect(decide(pending(), { decision: "deny", content_hash: null, comment: "no", stop: true }, who)).toEqual({
      ok: true,
      value: "denied",
    });
    expect(decide(pending(), { decision: "request_changes", content_hash: null, comment: "so" }, who)).toEqual({
      ok: true,
      value: "superseded",
    });
  });
  it("[APP-6] only approvers and admins decide", () => {
    const caller = (role: Caller["role"]): Caller => ({
      scope_id: "s",
      subject: "ada",
      role,
      via: "token",
      credential_id: "t",
    });
    expect(callerRoles.filter((role) => mayDecide(caller(role)))).toEqual(["approver", "admin"]);
  });
});

describe("a card", () => {
  it("[APP-7] every kind has a title of its own that says what it is about, or else the task's", () => {
    const titles = approvalKinds.map((kind: ApprovalKind) => cardTitle(kind, { title: "the task" }, "the item"));
    expect(new Set(titles).size).toBe(approvalKinds.length);
    for (const title of titles) expect(title).toContain("the item");
    expect(cardTitle("plan", { title: "the task" }, "")).toContain("the task");
  });
  it("[APP-7] what a kind has nothing to say about is empty, and the card is whole", () => {
    const card = emptyCard({
      kind: "gate",
      title: "t",
      why: "w",
      repo: "r",
      taint: "web",
      policy_hash: "p",
      requested_by: "crew-1",
    });
    expect(cardView.parse(card)).toEqual(card);
    expect(card).toMatchObject({ items: [], facts: [], tool: null, budget: null, plan_hash: null, publishes: null });
  });
});
