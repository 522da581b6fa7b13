/** Faults while an attempt works, is verified and is merged: each call runs once, each line is published once. */
import { expect } from "vitest";
import { named, row, runtime, survives, type Walked, whenHost } from "./road.ts";

/** The processes that were really begun, as `step-1` or `check-1`. */
function begun({ road }: Walked): string[] {
  return road.platform.memory.begun.map(({ call_id }) => call_id);
}
const onceEach = async (walked: Promise<Walked>) => {
  expect(begun(await walked)).toEqual(["step-1", "check-1"]);
  // Nobody is asked about anything but the plan.
  const cards = runtime((await walked).road).disk.all("SELECT json_extract(doc, '$.kind') AS kind FROM approvals");
  expect(cards).toEqual([{ kind: "plan" }]);
};

row("outside effect", "[FLT-5] a call is begun once, after its intent was committed, whoever dies around it", {
  "before commit": () =>
    onceEach(
      survives((road) => [
        road.platform.faults.crash({ object: named(road, "runtime"), at: "before", decision: "intent" }),
        road.platform.faults.crash({ object: named(road, "runtime"), at: "before", decision: "outcome" }),
        whenHost(road, "exec", () =>
          road.platform.faults.crash({ object: named(road, "crew-1"), at: "before", wrote: "runs" }),
        ),
      ]),
    ),
  "after commit, before reply": () =>
    onceEach(
      survives((road) => [
        road.platform.faults.crash({ object: named(road, "runtime"), at: "after", decision: "intent" }),
        road.platform.faults.crash({ object: named(road, "runtime"), at: "after", decision: "outcome" }),
        whenHost(road, "exec", () =>
          road.platform.faults.crash({ object: named(road, "crew-1"), at: "after", wrote: "runs" }),
        ),
      ]),
    ),
  "reply lost": () =>
    onceEach(
      survives((road) => [
        road.platform.faults.call({ to: "sandboxes", method: "exec", lose: "reply", times: 2 }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "authorize", lose: "reply" }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "settle", lose: "reply" }),
      ]),
    ),
  slow: () =>
    onceEach(
      survives((road) => [
        road.platform.faults.call({ to: "sandboxes", method: "exec", delay_ms: 90_000 }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "settle", delay_ms: 90_000 }),
      ]),
    ),
});

row(
  "sandbox death",
  "[FLT-16] a sandbox that dies costs its attempt, its call is told as unknown and never run again",
  {
    "before commit": () =>
      unknownOnce(
        survives((road) => [whenHost(road, "exec", (id) => void road.platform.memory.destroy(id))], { attempts: 2 }),
      ),
    "after commit, before reply": () =>
      unknownOnce(
        survives((road) => [whenHost(road, "wait", (id) => void road.platform.memory.destroy(id))], { attempts: 2 }),
      ),
    "reply lost": () =>
      unknownOnce(
        survives(
          (road) => [
            road.platform.faults.call({ to: "sandboxes", method: "exec", lose: "reply" }),
            whenHost(road, "exec", (id) => void road.platform.memory.destroy(id), 2),
          ],
          { attempts: 2 },
        ),
      ),
    slow: () =>
      unknownOnce(
        survives(
          (road) => [
            road.platform.faults.call({ to: "sandboxes", method: "wait", delay_ms: 90_000 }),
            whenHost(road, "wait", (id) => void road.platform.memory.destroy(id)),
          ],
          { attempts: 2 },
        ),
      ),
  },
);
async function unknownOnce(walking: Promise<Walked>): Promise<void> {
  const { road, view } = await walking;
  const told = runtime(road).disk.all("SELECT body FROM events WHERE type = 'effect_unknown'");
  expect(told.map(({ body }) => JSON.parse(String(body)).attempt_id)).toEqual([view.attempts[0]?.id]);
  expect(view.attempts.map(({ state }) => state)).toEqual(["crashed", "done"]);
}

row("merge holder dies", "[FLT-25] the branch moves once and is pushed once, whoever dies holding the merge", {
  "before commit": () =>
    onceEach(
      survives((road) => [
        road.platform.faults.crash({ object: named(road, "runtime"), at: "before", decision: "merged" }),
        whenHost(road, "publish", () =>
          road.platform.faults.crash({ object: named(road, "verifier"), at: "before", wrote: "runs" }),
        ),
      ]),
    ),
  "after commit, before reply": () =>
    onceEach(
      survives((road) => [
        road.platform.faults.crash({ object: named(road, "runtime"), at: "after", decision: "merged" }),
        whenHost(road, "publish", () =>
          road.platform.faults.crash({ object: named(road, "verifier"), at: "after", wrote: "runs" }),
        ),
      ]),
    ),
  "reply lost": () =>
    onceEach(
      survives((road) => [
        road.platform.faults.call({ to: "sandboxes", method: "publish", lose: "reply", times: 2 }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "mayPublish", lose: "reply" }),
      ]),
    ),
  slow: () =>
    onceEach(
      survives((road) => [
        road.platform.faults.call({ to: "sandboxes", method: "publish", delay_ms: 90_000 }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "mayPublish", delay_ms: 90_000 }),
      ]),
    ),
});

row("verifier dies", "[FLT-26] a verifier that dies goes on where it was: one verdict, and no check run twice", {
  "before commit": () =>
    onceEach(
      survives((road) =>
        (["merge", "restore"] as const).map((method) =>
          whenHost(road, method, () =>
            road.platform.faults.crash({ object: named(road, "verifier"), at: "before", wrote: "runs" }),
          ),
        ),
      ),
    ),
  "after commit, before reply": () =>
    onceEach(
      survives((road) =>
        (["merge", "restore"] as const).map((method) =>
          whenHost(road, method, () =>
            road.platform.faults.crash({ object: named(road, "verifier"), at: "after", wrote: "runs" }),
          ),
        ),
      ),
    ),
  "reply lost": () =>
    onceEach(
      survives((road) => [
        road.platform.faults.call({ to: "sandboxes", method: "merge", lose: "reply" }),
        road.platform.faults.call({ to: "sandboxes", from: /verifier$/, method: "exec", lose: "reply" }),
      ]),
    ),
  slow: () =>
    onceEach(
      survives((road) => [
        road.platform.faults.call({ to: "sandboxes", method: "merge", delay_ms: 90_000 }),
        road.platform.faults.call({ to: "sandboxes", from: /verifier$/, method: "exec", delay_ms: 90_000 }),
      ]),
    ),
});
