import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { safeGitEnv } from "../../src/dev/git.ts";
import { samplePlan } from "../../src/dev/sample.ts";
import { approvalView } from "../../src/domain/approval-view.ts";
import { type EventView, eventView } from "../../src/domain/record-view.ts";
import { taskView } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { openSocket } from "./listen.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, processesSaying, type Road, until } from "./road.ts";

let road: Road;
let main: string;
beforeAll(async () => {
  road = await openRoad();
  main = road.repo.git("rev-parse", "main");
});
afterAll(() => road.close());

const planFor = (id: string, ...steps: string[]) => planOf([{ id, steps }]);
const branchOf = (task: string) => `countersign/${task}`;

/** Runs the sample's own tests on a branch, outside of everything. Throws when they fail. */
function testsPassOn(branch: string): string {
  const clone = mkdtempSync(join(tmpdir(), "countersign-journey-clone-"));
  try {
    execFileSync("git", ["clone", "--quiet", "--branch", branch, road.repo.folder, clone], { env: safeGitEnv() });
    return execFileSync(process.execPath, ["--test"], { cwd: clone, encoding: "utf8" });
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

describe.concurrent("a task on its road", () => {
  it("[JRN-1] a supplied plan is countersigned, executed, verified and published; the default branch stays as it was", async () => {
    expect(() => testsPassOn("main")).toThrow();
    const id = await road.ask(samplePlan);
    const card = await road.card(id, "plan");
    expect((await road.task(id)).attempts).toEqual([]);
    expect(card.card).toMatchObject({ publishes: branchOf(id), base_commit: main.trim() });

    await road.approve(card);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done", phase: "complete", branch: branchOf(id), reason: null });
    expect(task.attempts.flatMap((attempt) => attempt.verifications.map(({ verdict }) => verdict))).toEqual(["pass"]);

    expect(road.repo.git("rev-parse", branchOf(id)).trim()).toBe(task.commit);
    expect(testsPassOn(branchOf(id))).toMatch(/fail 0/);
    expect(road.repo.git("diff", "--name-only", "main", branchOf(id)).trim()).toBe("src/pager.js");
    expect(road.repo.git("rev-parse", "main")).toBe(main);
    expect(road.repo.git("status", "--porcelain")).toBe("");
    expect(await road.client.text(`/api/tasks/${id}/patch`)).toContain("+  return Math.ceil(count / size);");
  });

  it("[JRN-2] an item that depends on another begins when that one is merged, and works on its result", async () => {
    const id = await road.ask(
      planOf([
        { id: "second", depends_on: ["first"], steps: ["tr a-z A-Z < src/first.txt > src/second.txt"] },
        { id: "first", steps: ["echo words > src/first.txt"] },
      ]),
    );
    await road.countersign(id);
    const task = await road.ended(id);
    expect(task.status).toBe("done");
    expect(road.repo.file(branchOf(id), "src/second.txt")).toBe("WORDS\n");
    const told = (await road.events(id)).filter(({ type }) => /^(task_execution_start|merge_result)$/.test(type));
    expect(told.map(({ type, detail }) => [type, detail])).toEqual([
      ["task_execution_start", "Change first"],
      ["merge_result", "Change first"],
      ["task_execution_start", "Change second"],
      ["merge_result", "Change second"],
    ]);
  });

  it("[JRN-3] items that depend on nothing run side by side; the later one is verified again on what the earlier one left", async () => {
    const beside = (id: string) => ({ id, paths: [`src/${id}.txt`], steps: [`echo ${id} > src/${id}.txt; sleep 5`] });
    const id = await road.ask(planOf([beside("left"), beside("right")]));
    await road.countersign(id);
    const task = await road.ended(id);
    expect(task.status).toBe("done");

    const [one, other] = task.attempts;
    expect(task.attempts).toHaveLength(2);
    expect((one?.started_at ?? "") < (other?.ended_at ?? "") && (other?.started_at ?? "") < (one?.ended_at ?? "")).toBe(
      true,
    );
    expect(one?.agent).not.toBe(other?.agent);

    const [earlier, later] = task.attempts.toSorted((a, b) => a.verifications.length - b.verifications.length);
    expect(earlier?.verifications.map(({ parent }) => parent)).toEqual([task.base_commit]);
    expect(later?.verifications.map(({ verdict, parent }) => [verdict, parent])).toEqual([
      ["pass", task.base_commit],
      ["pass", earlier?.verifications[0]?.commit],
    ]);
    for (const name of ["left", "right"]) expect(road.repo.file(branchOf(id), `src/${name}.txt`)).toBe(`${name}\n`);
  });

  it("[JRN-4] denied, nothing runs, and the task ends with the reason", async () => {
    const id = await road.ask(planFor("never", "echo no > src/never.txt"));
    const card = await road.card(id, "plan");
    await road.deny(card, "not before the release");
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "denied", reason: "not before the release", attempts: [], commit: null });
    await expect(road.approve(card)).rejects.toMatchObject({ status: 409, code: "already_resolved" });
    expect((await road.events(id)).map(({ type }) => type)).not.toContain("task_execution_start");
    expect(road.repo.git("branch", "--list", branchOf(id))).toBe("");
  });

  it("[JRN-5] of many decisions at once the first holds, and the others are told which it was", async () => {
    const id = await road.ask(planFor("once", "echo once >> src/once.txt"));
    const card = await road.card(id, "plan");
    const said = await Promise.allSettled([
      ...[1, 2, 3].map(() => road.approve(card)),
      road.deny(card, "too late, or too early"),
    ]);
    const refused = said.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    expect(refused).toHaveLength(3);
    const { decisions, status } = await road.client.get(`/api/approvals/${card.id}`, approvalView);
    expect(decisions).toHaveLength(1);
    for (const problem of refused)
      expect(problem).toMatchObject({ status: 409, code: "already_resolved", body: { decision: decisions[0] } });
    const task = await road.ended(id);
    expect(task.status).toBe(status === "approved" ? "done" : "denied");
    expect(task.attempts).toHaveLength(status === "approved" ? 1 : 0);
  });

  it("[JRN-6] what is approved is what was shown: another content_hash is refused and decides nothing", async () => {
    const id = await road.ask(planFor("shown", "echo shown > src/shown.txt"));
    const card = await road.card(id, "plan");
    const another = road.approve({ ...card, content_hash: "0".repeat(64) });
    await expect(another).rejects.toMatchObject({ status: 409, code: "content_changed" });
    expect(await road.card(id, "plan")).toEqual(card);
    await road.approve(card);
    expect((await road.ended(id)).status).toBe("done");
  });

  it("[JRN-7] changes asked for without a planner come back to a person, who may still take the plan as it was", async () => {
    const id = await road.ask(planFor("same", "echo same > src/same.txt"));
    const card = await road.card(id, "plan");
    const changes = { reason: "name it other", comments: ["line 3"] };
    await road.client.post(`/api/approvals/${card.id}/request-changes`, changes, z.unknown());
    const back = await road.card(id, "escalation");
    expect(back.card.facts.join(" ")).toMatch(/model.*name it other/s);
    expect((await road.task(id)).attempts).toEqual([]);
    await road.approve(back);
    await road.countersign(id);
    expect((await road.ended(id)).status).toBe("done");
  });

  it("[JRN-8] [MND-17] without a model a wish ends with what to set, an item that needs one is refused by name, and any other plan runs", async () => {
    const wish = { title: "Make it faster", repo: { url: road.repo.url } };
    const { id } = await road.client.post("/api/tasks", wish, taskView);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "failed", attempts: [], pending_approvals: [] });
    for (const what of ["a plan", "MODEL_PROXY", "MODEL_PLANNER", "npm start -- --model-url URL"])
      expect(task.reason).toContain(what);
    const planned = planFor("words", "echo on > src/words.txt");
    await expect(road.ask(planned.replace("runner: steps", "runner: loop"))).rejects.toThrow(/set MODEL_EXECUTOR/);
    const done = await road.ask(planned);
    await road.countersign(done);
    expect(await road.ended(done)).toMatchObject({ status: "done", spent: { calls: 0 } });
  });

  it("[JRN-9] cancelled while it runs, its processes are gone at once and nothing is published", async () => {
    const mark = `${86_400 + process.pid}.25`;
    const id = await road.ask(planFor("long", `sleep ${mark}; echo late > src/late.txt`));
    await road.countersign(id);
    await until("the step to run", async () => (processesSaying(mark).length > 0 ? true : null));
    await road.client.post(`/api/tasks/${id}/cancel`, { reason: "changed my mind" }, taskView);
    const gone = async () => (processesSaying(mark).length === 0 ? true : null);
    await until("the step to be gone", gone, limits.force_stop_ms);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "cancelled", reason: "changed my mind", commit: null });
    expect(task.attempts.map(({ state }) => state)).toEqual(["cancelled"]);
    const again = road.client.post(`/api/tasks/${id}/cancel`, {}, taskView);
    await expect(again).rejects.toMatchObject({ status: 409, code: "not_in_this_state" });
  });

  it("[JRN-10] the same key and body make one task, the same key with another body none", async () => {
    const body = {
      title: "Once",
      repo: { url: road.repo.url, ref: "main" },
      plan: planFor("key", "echo key > src/key.txt"),
    };
    const post = (sent: object) =>
      fetch(`${road.service.url}/api/tasks`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${road.service.token}`,
          "content-type": "application/json",
          "idempotency-key": "journey-10",
        },
        body: JSON.stringify(sent),
      });
    const first = await post(body);
    const { id } = taskView.parse(await first.json());
    const again = await post(body);
    expect([first.status, again.status]).toEqual([202, 202]);
    expect([first, again].map((answer) => answer.headers.get("idempotent-replay"))).toEqual([null, "true"]);
    expect(taskView.parse(await again.json()).id).toBe(id);
    const other = await post({ ...body, title: "Twice" });
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: "idempotency_mismatch" });
    await road.deny(await road.card(id, "plan"), "only the key was of interest");
  });

  it("[JRN-11] one trace goes through every hop, and each hop is on record", async () => {
    const id = await road.ask(planFor("trace", "echo trace > src/trace.txt"));
    await road.countersign(id);
    const { trace_id } = await road.ended(id);
    for (const event of await road.events(id)) expect(event.trace_id).toBe(trace_id);

    const hops = [
      ["user_message", "proxy"],
      ["plan_request", "planner"],
      ["plan_result", "proxy"],
      ["execution_request", "runtime"],
      ["execution_result", "runtime"],
      ["verification_request", "verifier"],
      ["verification_result", "runtime"],
      ["execution_status", "proxy"],
    ];
    const scope = road.service.scope;
    const arrived = await until(
      "every hop in the audit",
      async () => {
        const rows = await road.audit(trace_id);
        const seen = (type: string) =>
          rows
            .filter((row) => row.event_type === type)
            .map((row) => [row.details.message_kind, row.object.split("/").at(-1)]);
        const missing = (type: string) =>
          hops.filter(([kind, to]) => !seen(type).some((hop) => hop[0] === kind && hop[1] === to));
        return missing("enqueue").length + missing("dequeue").length === 0 ? rows : null;
      },
      30_000,
    );
    expect(new Set(arrived.map((row) => row.trace_id))).toEqual(new Set([trace_id]));
    expect(new Set(arrived.map((row) => row.scope_id))).toEqual(new Set([scope]));
    const types = new Set(arrived.map((row) => row.event_type));
    for (const type of ["approval", "verify", "check", "transition", "effect", "merge"]) expect(types).toContain(type);
  });
});

describe.concurrent("what is seen while it happens", () => {
  const completeOf = (id: string) => (event: EventView) => event.type === "task_complete" && event.task_id === id;

  it("[JRN-12] a stream and a socket tell the same events, in order, without a gap, from wherever one joins", async () => {
    const id = await road.ask(planFor("live", "echo first light > src/live.txt; cat src/live.txt; sleep 4"));
    const start = ((await road.events(id))[0]?.seq ?? 0) - 1;
    const last = completeOf(id);
    const socket = await openSocket(road.client, "/api/events", "", { type: "subscribe", events: [], after: start });
    await road.countersign(id);

    const streamed: EventView[] = [];
    const leave = new AbortController();
    for await (const event of road.client.events(start, leave.signal)) {
      streamed.push(event);
      if (event.type === "agent_output" && event.task_id === id && String(event.text).includes("first light"))
        expect((await road.task(id)).status).toBe("active");
      if (last(event)) break;
    }
    expect(streamed.map(({ seq }) => seq)).toEqual(streamed.map((_, index) => start + 1 + index));
    expect(streamed.map(({ text }) => text).join("")).toContain("first light");

    const heard = await socket.texts(eventView, last);
    expect(heard).toEqual(streamed);
    const middle = streamed[Math.floor(streamed.length / 2)]?.seq ?? 0;
    const rejoined = await openSocket(road.client, "/api/events", "", { type: "subscribe", events: [], after: middle });
    expect(await rejoined.texts(eventView, last)).toEqual(streamed.filter(({ seq }) => seq > middle));
  });

  it("[JRN-13] a terminal shows an attempt's output as it comes, and again later from any byte", async () => {
    const id = await road.ask(
      planFor("said", "for n in 1 2 3 4; do echo line $n; sleep 1; done; echo said > src/said.txt"),
    );
    await road.countersign(id);
    const running = await road.becomes(id, "running", (task) => task.attempts.some(({ state }) => state === "running"));
    const path = `/api/attempts/${running.attempts[0]?.id}/terminal`;
    const live = await openSocket(road.client, path, "");
    const whole = await live.bytes();
    expect(whole.toString()).toMatch(/line 1\n.*line 4\n/s);

    const from = Math.floor(whole.length / 3);
    const later = await openSocket(road.client, path, `&from=${from}`);
    expect((await later.bytes()).equals(whole.subarray(from))).toBe(true);
    await road.ended(id);
  });
});
