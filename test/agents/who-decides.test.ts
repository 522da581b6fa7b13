/** Several people and one card: two approvers, one's own task, the proof a yes needs, and what the tokens say of all of them. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PeopleDoor } from "../../durable-objects/runtime/doors-people.ts";
import { saidHash } from "../../src/domain/said.ts";
import { readJws } from "../../src/domain/token.ts";
import { callerOf, HeldScope, missing, must, repo, scopeId } from "../fakes/held-scope.ts";

const ada = callerOf("ada#tok001");
const bob = callerOf("bob#tok002");
let held: HeldScope;
beforeEach(() => {
  held = new HeldScope();
});
afterEach(() => held.close());

function refusal(answer: Awaited<ReturnType<HeldScope["decide"]>>) {
  return answer.ok ? missing("refusal") : answer.refusal;
}
function audited(decision: string) {
  return held.scope.stores.audit
    .after(0, 1_000)
    .filter((link) => link.event_type === "approval" && link.decision === decision);
}
function tokenOf(task_id: string) {
  const [item] = held.rows.items.ofTask(task_id);
  return item?.grant ?? null;
}

describe("two approvers", () => {
  it("[DEC-40] the first yes is on record and shown, and signs, attaches and starts nothing; the second starts the work", async () => {
    held.demand({ two_approvers: ["plan"] });
    const task_id = await held.planned();
    const card = held.card(task_id);
    const first = must(await held.approve(ada, card, "looks right"));
    expect(first).toMatchObject({ status: "pending", winner: null, needs: { approvers: 2 } });
    expect(first.decisions).toMatchObject([
      {
        by: "ada#tok001",
        decision: "approve",
        comment: "looks right",
        proof: "token",
        content_hash: card.content_hash,
      },
    ]);
    expect([tokenOf(task_id), held.claim(), audited("issued")]).toEqual([null, null, []]);
    expect(held.scope.stores.tokens.ofApproval(card.id)).toEqual([]);
    expect(audited("approve")).toMatchObject([{ details: { approvals: 1, needed: 2 } }]);
    held.reopen();
    const second = must(await held.approve(bob, card));
    expect(second).toMatchObject({ status: "approved", winner: { by: "bob#tok002", what: "approve" } });
    expect(held.claim()).not.toBeNull();
  });

  it("[DEC-41] the token names everybody who approved, each by the hash of their whole decision", async () => {
    held.demand({ two_approvers: ["plan"] });
    const task_id = await held.planned();
    const card = held.card(task_id);
    must(await held.approve(ada, card, "looks right"));
    held.now += 3_600_000;
    must(await held.approve(callerOf("bob#tok002", "admin", "session"), card));
    const { decisions } = await held.view(card.id);
    const signed = readJws(tokenOf(task_id)?.jws ?? "")?.statement;
    expect(signed).toMatchObject({ approver: "bob#tok002", approval_id: card.id, content_hash: card.content_hash });
    expect(signed?.approvers).toEqual(decisions.map(({ by, at, proof, said }) => ({ by, at, proof, said })));
    expect(signed?.approvers?.map(({ by, proof }) => [by, proof])).toEqual([
      ["ada#tok001", "token"],
      ["bob#tok002", "session"],
    ]);
    for (const { said, ...made } of decisions) expect(saidHash(scopeId, card.id, made)).toBe(said);
  });

  it("[DEC-42] one person with two tokens is one person; another's no decides after the first yes", async () => {
    held.demand({ two_approvers: ["plan"] });
    const task_id = await held.planned();
    const card = held.card(task_id);
    must(await held.approve(ada, card));
    for (const again of [ada, callerOf("ada#tok009")])
      expect(refusal(await held.approve(again, card))).toMatchObject({
        ...{ code: "not_in_this_state", extra: { because: "approved_already" } },
      });
    expect((await held.view(card.id)).decisions).toHaveLength(1);
    expect(must(await held.deny(bob, card, "too wide"))).toMatchObject({
      ...{ status: "denied", winner: { by: "bob#tok002", what: "deny", reason: "too wide" } },
    });
    expect([held.rows.tasks.get(task_id)?.status, held.claim()]).toEqual(["denied", null]);
  });

  it("[DEC-43] three who approve at the same time make two approvals and one refusal, and one token", async () => {
    held.demand({ two_approvers: ["plan"] });
    const task_id = await held.planned();
    const card = held.card(task_id);
    const answers = await Promise.all([ada, bob, callerOf("cy#tok003")].map((who) => held.approve(who, card)));
    const said = answers.map((answer) => (answer.ok ? answer.value.status : answer.refusal.code));
    expect(said.toSorted()).toEqual(["already_resolved", "approved", "pending"]);
    expect(held.scope.stores.tokens.ofApproval(card.id)).toHaveLength(1);
    expect(readJws(tokenOf(task_id)?.jws ?? "")?.statement.approvers).toHaveLength(2);
  });

  it("[DEC-44] a policy that changes while tokens are signed is the one that counts, and what was signed stands for nothing", async () => {
    const task_id = await held.planned();
    const card = held.card(task_id);
    const { sign } = held.keys;
    let signed = 0;
    held.keys.sign = async (text) => {
      signed++;
      if (signed === 1) held.demand({ two_approvers: ["plan"] });
      return sign.call(held.keys, text);
    };
    expect(must(await held.approve(ada, card)).status).toBe("pending");
    expect([signed, held.scope.stores.tokens.ofApproval(card.id), tokenOf(task_id)]).toEqual([1, [], null]);
    // And the other way: milder while a first yes is prepared, for which nothing was to be signed.
    const other = await held.planned();
    const { ofTask } = held.signatures;
    held.signatures.ofTask = (id) => {
      held.demand({ two_approvers: [] });
      return ofTask.call(held.signatures, id);
    };
    expect(must(await held.approve(bob, held.card(other))).status).toBe("approved");
    expect(readJws(tokenOf(other)?.jws ?? "")?.statement.approvers).toMatchObject([{ by: "bob#tok002" }]);
  });

  it("[DEC-45] a card that is replaced after its first yes issues nothing, and the new one needs both again", async () => {
    held.demand({ two_approvers: ["plan"] });
    const task_id = await held.planned();
    const card = held.card(task_id);
    must(await held.approve(ada, card));
    const { markdown } = held.rows.plans.ofTask(task_id)[0] ?? missing("plan");
    await held.replan(task_id, markdown.replace("A goal", "Another goal"));
    const newer = held.card(task_id);
    expect(refusal(await held.approve(bob, card))).toMatchObject({
      code: "already_resolved",
      extra: { status: "superseded", winner: { by: "runtime", what: "supersede", reason: "a newer plan came" } },
    });
    expect(refusal(await held.approve(bob, { ...newer, content_hash: card.content_hash })).code).toBe(
      "content_changed",
    );
    expect(must(await held.approve(bob, newer)).status).toBe("pending");
    expect([held.scope.stores.tokens.ofApproval(card.id), held.claim()]).toEqual([[], null]);
  });
});

describe("one's own task, and the proof", () => {
  it("[DEC-46] who asked for the task is refused with what to do, with every token of theirs, and may deny", async () => {
    held.demand({ own_task: "forbid" });
    const task_id = await held.planned(undefined, callerOf("sue#tok004", "admin"));
    const card = held.card(task_id);
    for (const sue of [callerOf("sue#tok004", "admin"), callerOf("sue#tok005", "approver", "session")])
      expect(refusal(await held.approve(sue, card))).toMatchObject({
        ...{ code: "forbidden", detail: expect.stringContaining("another approver"), extra: { because: "own_task" } },
      });
    expect((await held.view(card.id)).needs.not_by).toBe("sue#tok004");
    expect(audited("refused")).toHaveLength(2);
    expect(must(await held.deny(callerOf("sue#tok004", "admin"), card)).status).toBe("denied");
  });

  it("[DEC-47] the proof is stored and signed with the decision; too weak a yes of before no longer counts", async () => {
    const task_id = await held.planned();
    const card = held.card(task_id);
    held.demand({ two_approvers: ["plan"] });
    must(await held.approve(ada, card));
    held.demand({ two_approvers: ["plan"], proof: { kinds: { plan: "session" }, tools: {} } });
    expect(refusal(await held.approve(bob, card))).toMatchObject({ code: "forbidden", extra: { because: "proof" } });
    const signedIn = (name: string) => callerOf(name, "approver", "session");
    expect(must(await held.approve(signedIn("bob#tok002"), card)).status).toBe("pending");
    expect(must(await held.approve(signedIn("ada#tok001"), card)).status).toBe("approved");
    expect(readJws(tokenOf(task_id)?.jws ?? "")?.statement.approvers).toMatchObject([
      { by: "bob#tok002", proof: "session" },
      { by: "ada#tok001", proof: "session" },
    ]);
  });
});

describe("who has lost their token", () => {
  const token = (name: string, id: string) =>
    must(held.scope.people.addToken({ id, name, role: "approver", secret_hash: `hash of ${id}` }, held.now));
  const lost = (id: string) => held.scope.sql.transaction(() => must(held.scope.people.revoke(id, held.now)));
  beforeEach(() => {
    held.demand({ two_approvers: ["plan"] });
    for (const [name, id] of [
      ["ada", "tok001"],
      ["bob", "tok002"],
      ["ada", "tok009"],
    ] as const)
      token(name, id);
  });

  it("[DEC-70] a first yes counts no more once its token is revoked, is shown so, and is named when the card is decided", async () => {
    const task_id = await held.planned();
    const card = held.card(task_id);
    must(await held.approve(ada, card));
    expect((await held.view(card.id)).needs.revoked).toBeUndefined();
    lost("tok001");
    expect((await held.view(card.id)).needs.revoked).toEqual(["ada#tok001"]);
    expect(must(await held.approve(bob, card)).status).toBe("pending");
    expect([tokenOf(task_id), held.claim()]).toEqual([null, null]);
    expect(must(await held.approve(callerOf("cy#tok003"), card)).status).toBe("approved");
    expect(readJws(tokenOf(task_id)?.jws ?? "")?.statement.approvers?.map(({ by }) => by)).toEqual([
      "bob#tok002",
      "cy#tok003",
    ]);
    expect(audited("approve").map(({ details }) => details.not_counted)).toEqual([
      undefined,
      ["ada#tok001"],
      ["ada#tok001"],
    ]);
    expect((await held.view(card.id)).decisions).toHaveLength(3);
  });
  it("[DEC-71] they approve anew with another token of theirs, and are still one person", async () => {
    const card = held.card(await held.planned());
    must(await held.approve(ada, card));
    const again = callerOf("ada#tok009");
    expect(refusal(await held.approve(again, card)).extra).toMatchObject({ because: "approved_already" });
    lost("tok001");
    expect(must(await held.approve(again, card)).status).toBe("pending");
    expect(must(await held.approve(bob, card)).status).toBe("approved");
  });
  it("[DEC-72] a yes or a token taken back while the tokens are signed makes no approval", async () => {
    const task_id = await held.planned();
    const card = held.card(task_id);
    must(await held.approve(ada, card));
    const { sign } = held.keys;
    let revoke = "tok001";
    held.keys.sign = async (text) => {
      if (revoke !== "") lost(revoke);
      revoke = "";
      return sign.call(held.keys, text);
    };
    expect(must(await held.approve({ ...bob, credential_id: "tok002" }, card)).status).toBe("pending");
    revoke = "tok009";
    const late = await held.approve({ ...callerOf("ada#tok009"), credential_id: "tok009" }, card);
    expect(refusal(late).code).toBe("unauthenticated");
    expect([tokenOf(task_id), held.scope.stores.tokens.ofApproval(card.id)]).toEqual([null, []]);
    expect(audited("refused")).toHaveLength(1);
  });
});

describe("what is on record of a sign-in link", () => {
  it("[WHO-23] who made it for whom, who was refused one, and who opened it", async () => {
    const { people } = held.scope;
    const hands = { after: async () => {}, closeSockets: async () => {} };
    const door = new PeopleDoor(held.scope, hands);
    must(people.addToken({ id: "tok001", name: "ada", role: "approver", secret_hash: "h" }, held.now));
    const eve = { ...callerOf("admin#-token", "admin"), credential_id: "first-token" };
    must(await door.addTicket(eve, { ticket_hash: "t1", path: "/", token_id: "tok001" }));
    expect((await door.addTicket(eve, { ticket_hash: "t2", path: "/", token_id: "none" })).ok).toBe(false);
    must(await door.addTicket(eve, { ticket_hash: "t3", path: "/api/events" }));
    const opened = must(await door.openSession(scopeId, { ticket_hash: "t1", session_id: "s1", session_hash: "sh" }));
    expect(opened).toMatchObject({ subject: "ada#tok001", role: "approver", via: "session" });
    const auth = held.scope.stores.audit.after(0, 1_000).filter((link) => link.event_type === "auth");
    expect(auth.slice(1).map(({ decision, details }) => [decision, details])).toMatchObject([
      ["sign_in_link_made", { by: "admin#-token", for: "ada#tok001", token_id: "tok001" }],
      ["refused", { by: "admin#-token", token_id: "none" }],
      ["session_opened", { by: "ada#tok001", link_made_by: "admin#-token" }],
    ]);
    expect(auth).toHaveLength(4);
  });
});

describe("one key, two people", () => {
  it("[IDEM-7] the same Idempotency-Key and body of two people makes two tasks, and each is answered with their own", async () => {
    const input = {
      title: "A task",
      description: "",
      labels: [],
      repo: { url: repo, ref: "HEAD" },
      register_repo: true,
    };
    const key = { route: "POST /api/tasks", key: "k1", body_hash: "h1" };
    const ask = async (name: string) => must(await held.tasks.createTask(callerOf(name, "submitter"), input, key));
    const [sam, grace, again] = [await ask("sam#tok001"), await ask("grace#tok002"), await ask("sam#tok001")];
    expect([sam.replay, grace.replay, again.replay]).toEqual([false, false, true]);
    expect([sam.body.created_by, grace.body.created_by]).toEqual(["sam#tok001", "grace#tok002"]);
    expect(again.body.id).toBe(sam.body.id);
  });
});

describe("changes of a plan", () => {
  it("[DEC-64] are asked for three times; then the card says so and takes a yes or a no", async () => {
    const task_id = await held.planned();
    const [first] = held.rows.plans.ofTask(task_id);
    const wish = { decision: "request_changes", content_hash: null, comment: "smaller" } as const;
    const left: number[] = [];
    for (const goal of ["one", "two", "three"]) {
      const card = held.card(task_id);
      left.push((await held.view(card.id)).needs.revisions_left);
      expect(must(await held.decide(ada, card.id, wish))).toMatchObject({
        ...{ status: "superseded", winner: { what: "request_changes", by: "ada#tok001", reason: "smaller" } },
      });
      await held.replan(task_id, (first?.markdown ?? "").replace("A goal", `Goal ${goal}`));
    }
    const card = held.card(task_id);
    expect([...left, (await held.view(card.id)).needs.revisions_left]).toEqual([3, 2, 1, 0]);
    expect(refusal(await held.decide(ada, card.id, wish)).code).toBe("not_in_this_state");
    expect(must(await held.approve(ada, card)).status).toBe("approved");
  });
});

describe("who comes second", () => {
  it("[DEC-48] is told what came first, be it a cancelled task, and every later decision hears the same", async () => {
    const task_id = await held.planned();
    const card = held.card(task_id);
    must(await held.tasks.cancelTask(callerOf("eve#tok006", "admin"), task_id, "not any more"));
    for (const answer of [await held.approve(ada, card), await held.deny(bob, card)])
      expect(refusal(answer)).toMatchObject({
        code: "already_resolved",
        detail: expect.stringContaining("eve#tok006"),
        extra: { status: "superseded", winner: { by: "eve#tok006", what: "cancel", at: card.requested_at } },
      });
    expect((await held.view(card.id)).winner?.reason).toBe("the task is cancelled");
  });
});
