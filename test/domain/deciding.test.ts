/** Who may say yes, whose yes still lacks, and until when. */
import { describe, expect, it } from "vitest";
import { decide } from "../../src/domain/approval.ts";
import type { ApprovalView, Decision } from "../../src/domain/approval-view.ts";
import {
  approvalsOf,
  expiryOf,
  hasExpired,
  linkBy,
  type Made,
  type Needs,
  needsOf,
  personOf,
  whyNotYes,
} from "../../src/domain/deciding.ts";
import { approvalRules } from "../../src/domain/policy-approvals.ts";
import { saidHash } from "../../src/domain/said.ts";
import { approvalKinds, tokenInput } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { approvalOf, madeBy } from "../fakes/views.ts";

const hash = "a".repeat(64);
const yes = (by: string, more: Partial<Made> = {}): Made => madeBy(by, "approve", { content_hash: hash, ...more });
const card = (...decisions: Made[]): ApprovalView => ({ ...approvalOf("a-1"), decisions });
const needs = (more: Partial<Needs> = {}): Needs => ({ ...approvalOf("a-1").needs, ...more });
const by = (subject: string, via: "token" | "session" = "token") => ({ subject, via });
const approve: Decision = { decision: "approve", content_hash: hash, comment: null };
const deny: Decision = { decision: "deny", content_hash: null, comment: "no", stop: false };

describe("what the policy demands", () => {
  const about = { created_by: "sue", plan_version: 1 };
  it("[APP-40] by default one approver with a token, of whatever kind, and who asked may be the one", () => {
    for (const kind of approvalKinds)
      expect(needsOf(approvalRules.parse({}), { kind, tool_name: null }, about)).toMatchObject({
        ...{ approvers: 1, proof: "token", not_by: null },
      });
  });
  it("[APP-40] two approvers and a proof by kind and by tool, the stronger of which counts", () => {
    const rules = approvalRules.parse({
      ...{ two_approvers: ["plan"], own_task: "forbid" },
      proof: { kinds: { gate: "session", tool_call: "token" }, tools: { git_push: "session", file_write: "token" } },
    });
    const of = (kind: ApprovalView["kind"], tool_name: string | null) => needsOf(rules, { kind, tool_name }, about);
    expect(of("plan", null)).toMatchObject({ approvers: 2, proof: "token", not_by: "sue" });
    expect(of("tool_call", "git_push")).toMatchObject({ approvers: 1, proof: "session" });
    expect(of("tool_call", "file_write").proof).toBe("token");
    expect(of("gate", "file_write").proof).toBe("session");
    // A tool may be called like something every object has.
    expect(of("tool_call", "constructor").proof).toBe("token");
  });
  it("[APP-46] changes of a plan may be asked for three times, and then it is approved or denied", () => {
    const left = (plan_version: number) =>
      needsOf(approvalRules.parse({}), { kind: "plan", tool_name: null }, { ...about, plan_version }).revisions_left;
    expect([1, 2, 3, 4, 9].map(left)).toEqual([3, 2, 1, 0, 0]);
    const wish: Decision = { decision: "request_changes", content_hash: null, comment: "smaller" };
    const answer = (revisions_left: number) =>
      decide(card(), wish, { caller: by("ada"), needs: needs({ revisions_left }) });
    expect(answer(1)).toEqual({ ok: true, value: "superseded" });
    expect(answer(0)).toMatchObject({ refusal: { code: "not_in_this_state" } });
  });
});

describe("people", () => {
  it("[APP-41] tokens of one name are one person, however the name is spelt; other names are others", () => {
    for (const same of ["ada", "ada#x1y2z3", "ada#000000", "ADA#x1y2z3", " ada ", "ａｄａ#x1y2z3", "a\u200bda"])
      expect(personOf(same)).toBe("ada");
    for (const other of ["bob", "ada2", "ada#short", "ada lovelace", "standing:ada"])
      expect(personOf(other)).not.toBe("ada");
    expect(personOf("ada#a1b2c3#x1y2z3")).toBe("ada#a1b2c3");
  });
  it("[WHO-24] control and invisible characters in a name make no other person", () => {
    for (const same of [
      "a\u0007da",
      "ada\u0000",
      "a\u0085da",
      "a\u2066da\u2069",
      "a\ufff9da",
      "\u202eada",
      "ad\u180ea",
    ])
      expect(personOf(`${same}#x1y2z3`)).toBe("ada");
    expect(personOf("ada\tlove \u0001 lace")).toBe("ada love lace");
  });
  it("[WHO-22] a name hides nothing and mixes no scripts that look alike; names in any one script are names", () => {
    const said = (name: string) => tokenInput.safeParse({ name, role: "viewer" }).error?.issues[0]?.message ?? null;
    for (const name of ["a\u0007da", "a\u202eda", "a\u200bda", "a\u00a0da", "a\u3164da", "a\nda"])
      expect(said(name)).toMatch(/no control, invisible.*⟦U\+/);
    for (const name of ["\u0430da", "gr\u03b1ce", "\uff41d\u0430", "\u0561da", "\u2c80da", "\u13a0da"])
      expect(said(name)).toMatch(/does not mix/);
    for (const name of ["\u0261race", "ada\uff03x", "ada\ufe5f1", "ada\u266fx", "\u01c0da", "ad\u1d00", "ada#abc123"])
      expect(said(name)).toMatch(/drawn like/);
    for (const name of [
      "ada",
      "Işık",
      "Ada Lovelace",
      "ci-1",
      "O'Brien",
      "Žofie",
      "\u0410\u043d\u043d\u0430 2",
      "\u0386\u03bd\u03bd\u03b1",
      "李 Li",
      "たなか太郎",
      "bob#x",
    ])
      expect(said(name)).toBeNull();
  });
  it("[APP-41] one person's yes counts once, with whatever token it is given again", () => {
    const two = needs({ approvers: 2 });
    const once = card(yes("ada#x1y2z3"));
    expect(approvalsOf(two, card(yes("ada#x1y2z3"), yes("ada#000000")))).toHaveLength(1);
    for (const again of ["ada#x1y2z3", "ada#000000", "Ada#000000"])
      expect(whyNotYes(two, once, by(again))).toMatchObject({
        code: "not_in_this_state",
        extra: { because: "approved_already" },
      });
    expect(whyNotYes(two, once, by("bob#000000"))).toBeNull();
  });
  it("[APP-42] who asked for a task may not approve it where the policy forbids it, with no token of theirs, and may deny it", () => {
    const own = needs({ not_by: "sue#x1y2z3" });
    for (const subject of ["sue#x1y2z3", "sue#000000"]) {
      const answer = decide(card(), approve, { caller: by(subject, "session"), needs: own });
      expect(answer).toMatchObject({ refusal: { code: "forbidden", extra: { because: "own_task" } } });
      expect(decide(card(), deny, { caller: by(subject), needs: own })).toEqual({ ok: true, value: "denied" });
    }
    expect(decide(card(), approve, { caller: by("ada"), needs: own })).toEqual({ ok: true, value: "approved" });
  });
  it("[APP-43] where a session is demanded a token's yes is refused and told what to do; its no is taken", () => {
    const signed = needs({ proof: "session" });
    expect(decide(card(), approve, { caller: by("ada"), needs: signed })).toMatchObject({
      refusal: { code: "forbidden", detail: expect.stringContaining("sign-in link"), extra: { because: "proof" } },
    });
    expect(decide(card(), approve, { caller: by("ada", "session"), needs: signed })).toEqual({
      ok: true,
      value: "approved",
    });
    expect(decide(card(), deny, { caller: by("ada"), needs: signed })).toEqual({ ok: true, value: "denied" });
  });
  it("[APP-44] the first yes of two leaves the card pending, another person's approves it, and one no decides", () => {
    const two = needs({ approvers: 2 });
    const first = decide(card(), approve, { caller: by("ada"), needs: two });
    expect(first).toEqual({ ok: true, value: "pending" });
    const half = card(yes("ada"));
    expect(decide(half, approve, { caller: by("bob"), needs: two })).toEqual({ ok: true, value: "approved" });
    for (const subject of ["ada", "bob"])
      expect(decide(half, deny, { caller: by(subject), needs: two })).toEqual({ ok: true, value: "denied" });
    // The policy was made milder meanwhile: whoever it was may go on alone.
    expect(decide(half, approve, { caller: by("ada"), needs: needs() })).toEqual({ ok: true, value: "approved" });
  });
  it("[APP-44] a yes counts only for these bytes, by somebody who may now, proved as is demanded now", () => {
    const two = needs({ approvers: 2 });
    expect(
      approvalsOf(two, card(yes("ada", { content_hash: "b".repeat(64) }), yes("bob", { content_hash: null }))),
    ).toEqual([]);
    expect(approvalsOf(two, card(madeBy("ada", "deny", { content_hash: hash })))).toEqual([]);
    const signed = { ...two, proof: "session" as const };
    expect(approvalsOf(signed, card(yes("ada"), yes("bob", { proof: "session" }))).map((made) => made.by)).toEqual([
      "bob",
    ]);
    expect(approvalsOf({ ...two, not_by: "ada#x1y2z3" }, card(yes("ada")))).toEqual([]);
    expect(decide(card(yes("ada")), approve, { caller: by("bob", "session"), needs: signed })).toEqual({
      ...{ ok: true, value: "pending" },
    });
  });
});

describe("a sign-in link that somebody else made", () => {
  const linked = (subject: string, link_by: string) => ({ ...by(subject, "session"), link_by });
  it("[APP-49] is no other person's yes: not beside its maker's, nor beside another link of the same maker", () => {
    const two = needs({ approvers: 2 });
    const session = (subject: string, link_by?: string) =>
      yes(subject, { proof: "session", ...(link_by === undefined ? {} : { link_by }) });
    for (const [first, second, counted] of [
      [session("heidi#1aaaaa", "ada#tok001"), linked("grace#2bbbbb", "ada#tok001"), 1],
      [session("heidi#1aaaaa", "ada#tok001"), linked("grace#2bbbbb", "Ada#tok002"), 1],
      [session("heidi#1aaaaa", "ada#tok001"), by("ada#tok001"), 1],
      [session("ada#tok001"), linked("grace#2bbbbb", "ada#tok001"), 1],
      [session("heidi#1aaaaa", "grace#2bbbbb"), linked("grace#2bbbbb", "ada#tok001"), 1],
      [session("heidi#1aaaaa", "ada#tok001"), linked("grace#2bbbbb", "bob#tok003"), 2],
      [session("heidi#1aaaaa", "ada#tok001"), by("grace#2bbbbb", "session"), 2],
    ] as const) {
      const again = counted === 1 ? "not_in_this_state" : undefined;
      expect(whyNotYes(two, card(first), second)?.code).toBe(again);
      const said = session(second.subject, "link_by" in second ? second.link_by : undefined);
      expect(approvalsOf(two, card(first, said))).toHaveLength(counted);
      expect(decide(card(first), deny, { caller: second, needs: two })).toEqual({ ok: true, value: "denied" });
      expect(whyNotYes(needs(), card(first), second)).toBeNull();
    }
  });
  it("[APP-49] is no yes to what its maker's own task asks, where the policy forbids that", () => {
    const own = needs({ not_by: "ada#tok001" });
    for (const maker of ["ada#tok001", "Ada#tok009"]) {
      expect(whyNotYes(own, card(), linked("heidi#1aaaaa", maker))).toMatchObject({
        ...{ code: "forbidden", extra: { because: "link" } },
      });
      expect(approvalsOf(own, card(yes("heidi#1aaaaa", { link_by: maker })))).toEqual([]);
    }
    expect(whyNotYes(own, card(), linked("heidi#1aaaaa", "bob#tok003"))).toBeNull();
  });
  it("[APP-49] one's own link is nobody else's, and the decision's hash covers another's", () => {
    expect(linkBy("ada#tok001", "ada#tok009")).toEqual({});
    expect(linkBy("ada#tok001", null)).toEqual({});
    expect(linkBy("ada#tok001", "bob#tok003")).toEqual({ link_by: "bob#tok003" });
    const { said, ...made } = yes("ada");
    expect(saidHash("s", "a-1", { ...made, link_by: "bob" })).not.toBe(saidHash("s", "a-1", made));
  });
});

describe("what is given with a yes", () => {
  it("[APP-47] a budget card needs an amount above zero, and no other kind takes one", () => {
    const answer = (kind: ApprovalView["kind"], amount?: { tokens?: number; usd?: number }) =>
      decide({ ...card(), kind }, { ...approve, ...(amount ? { amount } : {}) }, { caller: by("ada"), needs: needs() });
    for (const none of [undefined, {}, { tokens: 0 }, { tokens: 0, usd: 0 }])
      expect(answer("budget", none)).toMatchObject({ refusal: { code: "bad_request" } });
    expect(answer("budget", { usd: 0.5 })).toEqual({ ok: true, value: "approved" });
    for (const kind of approvalKinds.filter((each) => each !== "budget")) {
      expect(answer(kind, { usd: 1 })).toMatchObject({ refusal: { code: "bad_request" } });
      expect(answer(kind)).toEqual({ ok: true, value: "approved" });
    }
  });
  it("[APP-48] the hash of a decision changes with every part of it, and with its scope and card", () => {
    const { said, ...made } = yes("ada", { comment: "go", at: "2026-01-01T00:00:00.000Z" });
    const others: Partial<Made>[] = [
      ...[{ by: "bob" }, { comment: null }, { comment: "go " }, { at: "2026-01-01T00:00:00.001Z" }],
      ...[{ proof: "session" as const }, { content_hash: null }, { decision: "deny" as const }],
    ];
    const hashes = [
      ...[saidHash("s", "a-1", made), saidHash("t", "a-1", made), saidHash("s", "a-2", made)],
      ...others.map((other) => saidHash("s", "a-1", { ...made, ...other })),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("expiry", () => {
  const now = Date.parse("2026-01-01T00:00:00.000Z");
  it("[APP-45] a card expires so many seconds after it was asked, where the policy says so for its kind, else never", () => {
    const rules = approvalRules.parse({ expires_after_s: { tool_call: 60 } });
    expect(expiryOf(rules, "tool_call", now)).toBe("2026-01-01T00:01:00.000Z");
    expect(expiryOf(rules, "plan", now)).toBeNull();
    const at = (status: ApprovalView["status"], expires_at: string | null, later_ms: number) =>
      hasExpired({ status, expires_at }, now + later_ms);
    expect(at("pending", "2026-01-01T00:01:00.000Z", 59_999)).toBe(false);
    expect(at("pending", "2026-01-01T00:01:00.000Z", 60_000)).toBe(true);
    expect(at("approved", "2026-01-01T00:01:00.000Z", 99_999)).toBe(false);
    expect(at("pending", null, 10 ** 12)).toBe(false);
    for (const bad of [{ tool_call: 59 }, { tool_call: 1.5 }, { other: 60 }, { plan: 366 * 24 * 3600 }])
      expect(approvalRules.safeParse({ expires_after_s: bad }).success).toBe(false);
    expect(limits.max_plan_versions).toBe(4);
  });
});
