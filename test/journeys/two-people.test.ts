/** Several people's tokens in one scope, through the API of the whole service: duties are separate, whoever holds which token. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Client, connect, Problem } from "../../src/cli/client.ts";
import { type ApprovalView, approvalView } from "../../src/domain/approval-view.ts";
import { policyChanged, policyView } from "../../src/domain/policy-shapes.ts";
import { readJws } from "../../src/domain/token.ts";
import { type CallerRole, page, taskView } from "../../src/domain/view.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road } from "./road.ts";

let road: Road;
/** A task whose card will expire, asked for first: what is tested before fills the time. */
let late: string;
beforeAll(async () => {
  road = await openRoad();
  await road.client.post("/api/repos", { url: road.repo.url, default_ref: "main" }, z.unknown());
  await demand({ expires_after_s: { plan: 60 } });
  late = await road.ask(planOf([{ id: "late", steps: ["echo late > src/late.txt"] }]));
  await road.card(late, "plan");
});
afterAll(() => road.close());

async function person(name: string, role: CallerRole): Promise<Client> {
  const { token } = await road.client.post("/api/tokens", { name, role }, z.looseObject({ token: z.string() }));
  return connect(road.service.url, token);
}
async function demand(approvals: Record<string, unknown>): Promise<void> {
  const now = await road.client.get("/api/policy", policyView);
  const policy = { ...now.policy, approvals };
  await road.client.put("/api/policy", { policy }, policyChanged, { "if-match": `"${now.policy_hash}"` });
}
const approve = (by: Client, card: ApprovalView) =>
  by.post(`/api/approvals/${card.id}/approve`, { content_hash: card.content_hash }, approvalView);
async function refused(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return "not refused";
  } catch (error) {
    return error instanceof Problem ? error.code : String(error);
  }
}

describe("several people", () => {
  it("[DEC-62] two different people approve what neither of them asked for, and the token over the wire names both", async () => {
    await demand({ two_approvers: ["plan"], own_task: "forbid" });
    const [sue, vic] = [await person("sue", "approver"), await person("vic", "viewer")];
    const [ada, adaAgain, bob] = [
      await person("ada", "approver"),
      await person("ada", "approver"),
      await person("bob", "approver"),
    ];
    const body = { title: "Two people", repo: { url: road.repo.url, ref: "main" } };
    const plan = planOf([{ id: "two", steps: ["echo two > src/two.txt"] }]);
    const { id } = await sue.post("/api/tasks", { ...body, plan }, taskView);
    const card = await road.card(id, "plan");
    expect(card.needs).toMatchObject({ approvers: 2, not_by: expect.stringMatching(/^sue#/) });

    expect(await refused(approve(vic, card))).toBe("forbidden");
    expect(await refused(approve(sue, card))).toBe("forbidden");
    expect((await approve(ada, card)).status).toBe("pending");
    expect(await refused(approve(adaAgain, card))).toBe("not_in_this_state");
    expect((await road.task(id)).attempts).toEqual([]);
    await road.service.kill();
    await road.service.restart();
    expect((await approve(bob, card)).status).toBe("approved");
    expect(await refused(approve(sue, card))).toBe("already_resolved");
    expect((await road.ended(id)).status).toBe("done");

    const tokens = await vic.get(
      `/api/approvals/${card.id}/tokens`,
      z.looseObject({ items: z.array(z.looseObject({ jws: z.string() })) }),
    );
    const said = readJws(tokens.items[0]?.jws ?? "")?.statement;
    expect(said?.approvers?.map(({ by, proof }) => [by.split("#")[0], proof])).toEqual([
      ["ada", "token"],
      ["bob", "token"],
    ]);
  });

  it("[DEC-62] a yes that needs a session is refused to every token, an admin's too; a no is taken", async () => {
    await demand({ proof: { kinds: { plan: "session" }, tools: {} } });
    const id = await road.ask(planOf([{ id: "signed", steps: ["echo signed > src/signed.txt"] }]));
    const card = await road.card(id, "plan");
    expect(await refused(approve(road.client, card))).toBe("forbidden");
    await road.deny(card, "not like this");
    expect((await road.ended(id)).status).toBe("denied");
    await demand({});
  });

  it("[DEC-62] a card that nobody decides expires by itself: the task ends as timed out, without a word of denial", async () => {
    const [card] = (await road.client.get("/api/approvals?limit=200", page(approvalView))).items.filter(
      (each) => each.task_id === late,
    );
    const task = await road.ended(late);
    expect(task).toMatchObject({ status: "failed", error_code: "timeout", reason: expect.stringContaining("expired") });
    const over = await road.client.get(`/api/approvals/${card?.id}`, approvalView);
    expect(over).toMatchObject({ status: "expired", winner: { what: "expire", by: "runtime" } });
    expect(Date.parse(over.resolved_at ?? "") - Date.parse(over.expires_at ?? "")).toBeLessThan(20_000);
  });
});
