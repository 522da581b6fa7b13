/** The whole road through real objects, queues and a real sandbox host: asked, countersigned, executed, verified, published. */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { sandboxId } from "../../src/domain/result.ts";
import type { TaskView } from "../../src/domain/view.ts";
import { worldOf } from "../../src/env.ts";
import { planOf } from "./driven.ts";
import {
  approve,
  audit,
  decisions,
  deny,
  expectSound,
  inAgent,
  inRuntime,
  makeScope,
  missing,
  must,
  onlyCard,
  pending,
  type Scope,
  task,
  until,
} from "./scope.ts";

const { sandboxes } = worldOf(env);
const granted = "allow: { tools: [shell_execute], paths: ['made/**'] }";

async function askedFor(scope: Scope, plan: string): Promise<string> {
  const input = {
    title: "On the road",
    description: "",
    labels: [],
    repo: { url: env.TEST_REPO, ref: "main" },
    plan,
    register_repo: true,
  };
  return must(await scope.runtime.createTask(scope.admin, input, null)).body.id;
}
function waitsFor(scope: Scope, id: string, kind: string) {
  return until(async () => {
    const cards = await pending(scope, id);
    return cards.find((card) => card.kind === kind);
  });
}
function ended(scope: Scope, id: string): Promise<TaskView> {
  return until(async () => {
    const seen = await task(scope, id);
    return seen.ended_at === null ? null : seen;
  });
}
/** Every object dies at once, as in a power cut; what they were writing they have written or not. */
async function powerCut(): Promise<void> {
  await abortAllDurableObjects();
}
/** The files of the published branch, by path. */
async function published(scope: Scope, view: TaskView, paths: readonly string[]): Promise<string[]> {
  const { commit } = await sandboxes.resolve(
    { scope_id: scope.id, url: env.TEST_REPO },
    view.branch ?? missing("branch"),
  );
  expect(commit).toBe(view.commit);
  const id = sandboxId(scope.id, view.id, 99);
  await sandboxes.create(id, {
    scope_id: scope.id,
    owner: view.id,
    worktree: `.runtime/worktrees/${scope.id}/${view.id}`,
    memory_mb: 512,
    processes: 64,
    file_mb: 64,
  });
  await sandboxes.checkout(id, { scope_id: scope.id, url: env.TEST_REPO }, commit);
  const read = await Promise.all(paths.map((path) => sandboxes.read(id, path)));
  await sandboxes.destroy(id);
  return read.map((bytes) => new TextDecoder().decode(bytes));
}
/** How often each call was allowed, from the record; and that each was settled as often. */
async function callsRun(scope: Scope): Promise<Record<string, number>> {
  const effects = (await audit(scope)).filter(
    (link) => link.event_type === "effect" && typeof link.details.call_id === "string",
  );
  const count = (decision: string) =>
    Object.fromEntries(
      Object.entries(
        Object.groupBy(
          effects.filter((link) => link.decision === decision),
          (link) => `${link.details.attempt_id}/${link.details.call_id}`,
        ),
      ).map(([call, each]) => [call, each?.length ?? 0]),
    );
  expect(count("outcome")).toEqual(count("intent"));
  return count("intent");
}
function noneLeft(scope: Scope) {
  return until(async () => (await sandboxes.sandboxes()).every((made) => made.scope_id !== scope.id));
}

describe("the whole road", () => {
  it("[RTO-9] two dependent items: planned, countersigned, executed, verified, merged in order and published once", async () => {
    const scope = await makeScope();
    const plan = planOf(
      [
        `id: b, runner: steps, depends_on: [a], verify: [{ run: [grep, -q, second, made/b] }], ${granted}`,
        `id: a, runner: steps, verify: [{ run: [test, -f, made/a] }], ${granted}`,
      ],
      { a: ["mkdir made", "echo first >> made/a"], b: ["cat made/a > made/b && echo second >> made/b"] },
    );
    const id = await askedFor(scope, plan);
    const { commit: main } = await sandboxes.resolve({ scope_id: scope.id, url: env.TEST_REPO }, "main");
    const card = await waitsFor(scope, id, "plan");
    expect(card.card).toMatchObject({ base_commit: main, publishes: `countersign/${id}` });
    must(await approve(scope, card));
    const view = await ended(scope, id);
    expect(view).toMatchObject({
      status: "done",
      phase: "complete",
      items: [{ outcome: "done" }, { outcome: "done" }],
    });
    expect(
      view.attempts.map((attempt) => [
        attempt.number,
        attempt.state,
        attempt.verifications.map((each) => each.verdict),
      ]),
    ).toEqual([
      [1, "done", ["pass"]],
      [1, "done", ["pass"]],
    ]);
    expect(await published(scope, view, ["made/a", "made/b"])).toEqual(["first\n", "first\nsecond\n"]);
    expect((await sandboxes.resolve({ scope_id: scope.id, url: env.TEST_REPO }, "main")).commit).toBe(main);
    expect(Object.values(await callsRun(scope))).toEqual([1, 1, 1]);
    const crew = view.attempts[0]?.agent ?? missing("crew");
    await expectSound(scope, ["proxy", "planner", "verifier", crew]);
    await noneLeft(scope);
    await until(() => inRuntime(scope, ({ audit: log }) => log.backlog() === 0));
    const stored = await env.DB.prepare("SELECT count(*) AS n FROM audit WHERE scope_id = ?")
      .bind(scope.id)
      .first<{ n: number }>();
    expect(stored?.n).toBeGreaterThan((await audit(scope)).length);
  });

  it("[RTO-10] with the power cut at every change of its state it still comes to its end, and each call runs once", async () => {
    const scope = await makeScope();
    const plan = planOf([`id: a, runner: steps, verify: [{ run: [test, -f, made/a] }], ${granted}`], {
      a: ["mkdir made; echo one >> made/a", "sleep 0.2; echo two >> made/a"],
    });
    const id = await askedFor(scope, plan);
    let cuts = 0;
    let before = "";
    let countersigned = false;
    const view = await until(async () => {
      const seen = await task(scope, id).catch(() => null);
      if (seen === null || seen.ended_at !== null) return seen;
      const attempt = seen.attempts.at(-1);
      const now = [
        seen.status,
        seen.phase,
        attempt?.state,
        seen.commit,
        await heardOf(scope, attempt?.agent ?? null),
      ].join(" ");
      if (now !== before) {
        before = now;
        cuts++;
        await powerCut();
      } else if (!countersigned && seen.pending_approvals.length > 0)
        countersigned = (await approve(scope, await onlyCard(scope, id))).ok;
      return null;
    });
    expect(cuts).toBeGreaterThan(5);
    expect(view).toMatchObject({ status: "done", attempts: [{ number: 1, state: "done" }] });
    expect(await published(scope, view, ["made/a"])).toEqual(["one\ntwo\n"]);
    expect(Object.values(await callsRun(scope))).toEqual([1, 1]);
    await expectSound(scope);
    await noneLeft(scope);
  });

  it("[RTO-11] a call outside the grant waits through a power cut, runs once when it is allowed, and ends with its reason when not", async () => {
    const scope = await makeScope();
    const plan = planOf(["id: a, runner: steps, verify: none, allow: { paths: ['made/**'] }"], {
      a: ["mkdir made; echo one >> made/a", "echo two >> made/a"],
    });
    const id = await askedFor(scope, plan);
    must(await approve(scope, await waitsFor(scope, id, "plan")));
    const first = await waitsFor(scope, id, "tool_call");
    expect(await task(scope, id)).toMatchObject({ status: "waiting", waiting_on: "tool_call" });
    await noneLeft(scope);
    await powerCut();
    must(await approve(scope, first));
    const second = await waitsFor(scope, id, "tool_call");
    expect(second.card.tool?.workspace_tree).not.toBe(first.card.tool?.workspace_tree);
    await powerCut();
    must(await approve(scope, second));
    const view = await ended(scope, id);
    expect(view).toMatchObject({ status: "done", attempts: [{ number: 1, state: "done" }] });
    expect(await published(scope, view, ["made/a"])).toEqual(["one\ntwo\n"]);
    expect(Object.values(await callsRun(scope))).toEqual([1, 1]);

    const other = await askedFor(scope, plan);
    must(await approve(scope, await waitsFor(scope, other, "plan")));
    must(await deny(scope, await waitsFor(scope, other, "tool_call"), "not that"));
    must(await deny(scope, await waitsFor(scope, other, "escalation"), "enough"));
    expect(await ended(scope, other)).toMatchObject({ status: "failed", error_code: "approval_denied", branch: null });
    await expectSound(scope);
  });

  it("[RTO-12] a check that fails is tried to the limit and then put before a person; cancelled, its sandboxes are gone", async () => {
    const scope = await makeScope();
    const plan = planOf(
      [`id: a, runner: steps, max_attempts: 2, verify: [{ run: [test, -f, made/other] }], ${granted}`],
      { a: ["mkdir made; echo one >> made/a"] },
    );
    const id = await askedFor(scope, plan);
    must(await approve(scope, await waitsFor(scope, id, "plan")));
    const stuck = await waitsFor(scope, id, "escalation");
    expect(
      (await task(scope, id)).attempts.map((attempt) => [attempt.state, attempt.verifications[0]?.verdict]),
    ).toEqual([
      ["failed", "fail"],
      ["failed", "fail"],
    ]);
    must(await approve(scope, stuck));
    await until(async () => (await task(scope, id)).attempts.at(-1)?.state === "running");
    must(await scope.runtime.cancelTask(scope.admin, id, "enough"));
    expect(await task(scope, id)).toMatchObject({ status: "cancelled", branch: null });
    await noneLeft(scope);
    expect(await decisions(scope, "merge")).toEqual([]);
    await expectSound(scope);
  });
});

/** The step an agent's run stands at, so that the power is cut between all of them. */
async function heardOf(scope: Scope, name: string | null): Promise<string> {
  const seen = await Promise.all(
    ["verifier", ...(name === null ? [] : [name])].map((each) =>
      inAgent(scope, each, ({ sql }) =>
        sql
          .all<{ at: string }>(
            "SELECT json_extract(doc, '$.state.at') || json_extract(doc, '$.state.index') AS at FROM runs",
          )
          .map((row) => row.at)
          .join(),
      ),
    ),
  );
  return seen.join(" ");
}
