/** A task that runs unattended under a standing approval, one that it does not reach, and one that is stopped midway. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { approvalView } from "../../src/domain/approval-view.ts";
import { standingView } from "../../src/domain/standing-shape.ts";
import { taskView } from "../../src/domain/view.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, processesSaying, type Road, until } from "./road.ts";

let road: Road;
let me: string;
beforeAll(async () => {
  road = await openRoad();
  me = (await road.client.get("/api/me", z.looseObject({ subject: z.string() }))).subject;
});
afterAll(() => road.close());

function standing(label: string, uses: number, commands: string[]) {
  const input = {
    ...{ name: label, reason: "A journey", uses, until: new Date(Date.now() + 3_600_000).toISOString() },
    bounds: {
      ...{ who: [me], labels: [label], repos: [road.repo.url], tools: ["shell_execute"], paths: ["src/**"] },
      ...{ commands, verify: ["true"] },
    },
  };
  return road.client.post("/api/standing-approvals", input, standingView);
}
async function ask(label: string, id: string, ...steps: string[]): Promise<string> {
  const repo = { url: road.repo.url, ref: "main" };
  const body = { title: `A ${label}`, repo, labels: [label], plan: planOf([{ id, steps }]) };
  return (await road.client.post("/api/tasks", body, taskView)).id;
}

describe.concurrent("a standing approval on the road", () => {
  it("[STA-35] a task with its label runs to done without a person; the next, over its count, waits for one", async () => {
    const { id } = await standing("chore", 1, ["echo **"]);
    const first = await ask("chore", "first", "echo words > src/first.txt");
    const task = await road.ended(first);
    expect(task).toMatchObject({ status: "done", branch: `countersign/${first}`, pending_approvals: [] });
    expect(road.repo.file(`countersign/${first}`, "src/first.txt")).toBe("words\n");
    const told = (await road.events(first)).filter(({ type }) => type === "approval_resolved");
    expect(told.map(({ actor }) => actor)).toEqual([`standing:${id}`]);

    const second = await ask("chore", "second", "echo more > src/second.txt");
    const card = await road.card(second, "plan");
    expect(await road.task(second)).toMatchObject({ status: "waiting", attempts: [] });
    expect(await road.client.get(`/api/standing-approvals/${id}`, standingView)).toMatchObject({
      ...{ status: "used_up", uses_left: 0, used: [{ task_id: first }] },
    });
    await until("the card to say why", async () => {
      const { standing_notes } = await road.client.get(`/api/approvals/${card.id}`, approvalView);
      return standing_notes?.some(({ id: near, why }) => near === id && why === "it is used up") ? true : null;
    });
    await road.approve(card);
    expect((await road.ended(second)).status).toBe("done");
    const uses = (await road.audit(task.trace_id)).filter(({ decision }) => decision === "standing_used");
    expect(uses.map(({ details }) => [details.standing_id, details.uses_left, details.made_by])).toEqual([[id, 0, me]]);
  });

  it("[STA-36] revoked while its work runs, the work is killed, and the plan waits for a person", async () => {
    const { id } = await standing("slow", 5, ["sleep *", "echo **"]);
    const slow = await ask("slow", "slow", "sleep 77.125", "echo late > src/late.txt");
    await until("the step to run", async () => (processesSaying("sleep 77.125").length > 0 ? true : null));
    const body = { reason: "not today" };
    expect(await road.client.remove(`/api/standing-approvals/${id}`, body, standingView)).toMatchObject({
      ...{ status: "revoked", ended: { by: me, reason: "not today" } },
    });
    const card = await road.card(slow, "plan");
    expect(card.card.facts[0]).toContain("not today");
    expect((await road.task(slow)).attempts).toMatchObject([{ state: "cancelled" }]);
    await until("the step to be killed", async () => (processesSaying("sleep 77.125").length === 0 ? true : null));
    await road.deny(card, "not at all");
    expect(await road.ended(slow)).toMatchObject({ status: "denied", reason: "not at all", commit: null });

    const after = await ask("slow", "after", "echo no > src/no.txt");
    expect((await road.card(after, "plan")).status).toBe("pending");
  });
});
