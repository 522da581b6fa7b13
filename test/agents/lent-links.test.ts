/** Sessions of links that somebody else made: whose yes they are, and what shows it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { saidHash } from "../../src/domain/said.ts";
import { callerOf, HeldScope, missing, must, scopeId } from "../fakes/held-scope.ts";

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

describe("a sign-in link that somebody else made", () => {
  const session = (n: number, subject: string) => ({
    ...callerOf(subject, "approver", "session"),
    credential_id: `s${n}`,
  });
  function opened(n: number, maker: string, token_id: string) {
    const asked = { ...callerOf("x", "admin"), credential_id: maker };
    must(held.scope.people.addTicket(asked, { ticket_hash: `t${n}`, path: "/", token_id }, held.now));
    const input = { ticket_hash: `t${n}`, session_id: `s${n}`, session_hash: `h${n}` };
    return must(held.scope.people.openSession(scopeId, input, held.now)).subject;
  }
  beforeEach(() => {
    for (const [name, id] of [
      ["ada", "tok001"],
      ["heidi", "tok002"],
      ["grace", "tok003"],
      ["bob", "tok004"],
    ] as const)
      must(held.scope.people.addToken({ id, name, role: "admin", secret_hash: `hash of ${id}` }, held.now));
  });

  it("[DEC-73] two links that one admin made are one approval, shown with its maker, on record and in the token", async () => {
    held.demand({ two_approvers: ["plan"], own_task: "forbid", proof: { kinds: { plan: "session" }, tools: {} } });
    const task_id = await held.planned();
    const card = held.card(task_id);
    const heidi = session(1, opened(1, "tok001", "tok002"));
    const grace = session(2, opened(2, "tok001", "tok003"));
    expect(must(await held.approve(heidi, card))).toMatchObject({
      ...{ status: "pending", decisions: [{ by: "heidi#tok002", link_by: "ada#tok001" }] },
    });
    expect(refusal(await held.approve(grace, card))).toMatchObject({
      ...{ code: "not_in_this_state", extra: { because: "link" }, detail: expect.stringContaining("another admin") },
    });
    expect([tokenOf(task_id), held.claim()]).toEqual([null, null]);
    const other = session(3, opened(3, "tok004", "tok003"));
    expect(must(await held.approve(other, card)).status).toBe("approved");
    expect(audited("approve").map(({ details }) => details.link_made_by)).toEqual(["ada#tok001", "bob#tok004"]);
    const { decisions } = await held.view(card.id);
    for (const { said, ...made } of decisions) expect(saidHash(scopeId, card.id, made)).toBe(said);
  });
  it("[DEC-73] nobody approves their own task through a link they made for somebody else", async () => {
    held.demand({ own_task: "forbid" });
    const task_id = await held.planned(undefined, callerOf("ada#tok001", "admin"));
    const heidi = session(1, opened(1, "tok001", "tok002"));
    expect(refusal(await held.approve(heidi, held.card(task_id)))).toMatchObject({
      ...{ code: "forbidden", extra: { because: "link" } },
    });
    const bobs = session(2, opened(2, "tok004", "tok002"));
    expect(must(await held.approve(bobs, held.card(task_id))).status).toBe("approved");
  });
});
