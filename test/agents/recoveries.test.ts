/** What a stuck loop did to help itself, as people see it: an event each, with its reason, on record and on the task. */
import { describe, expect, it } from "vitest";
import type { ExecutionResult } from "../../src/domain/result.ts";
import { must } from "../fakes/held-scope.ts";
import { openRuntime, planOf } from "../fakes/scope-runtime.ts";

const recoveries: NonNullable<ExecutionResult["recoveries"]> = [
  { reason: "looping", action: "reduce_context", detail: "the same call 3 times: older results are left out" },
  { reason: "looping", action: "simplify_prompt", detail: "the same call 3 times: shorter instructions" },
  { reason: "stalled", action: "ask_person", detail: "nothing was said for 10 minutes" },
];
/** Without a grant of the tool its step waits for a person. */
const plan = planOf(["echo one"], "paths: ['src/**']");

function told(run: ReturnType<typeof openRuntime>) {
  const about = ({ action, stuck }: Readonly<Record<string, unknown>>) => [stuck, action];
  const events = run.events().filter(({ type }) => type === "recovery");
  const audited = run.audit("transition").filter(({ decision }) => decision === "recovery");
  expect(audited.map(({ details }) => about(details))).toEqual(events.map(about));
  expect(audited.map(({ reason }) => reason)).toEqual(events.map(({ detail }) => detail));
  return events;
}

describe("recoveries of a loop", () => {
  it("[LAD-36] each is one event with its reason; an attempt that goes on tells only what is new", async () => {
    const run = openRuntime();
    const id = await run.going(plan);
    const first = await run.begun();
    expect(await first.authorize(1)).toEqual({ answer: "wait" });
    const waits = { end: "suspended", success: false, patch: null, suspension: first.suspension(1) } as const;
    const result = run.result(id, first, { ...waits, recoveries: recoveries.slice(0, 1) });
    await run.deliver(result);
    await run.deliver(result);
    expect(told(run).map(({ action }) => action)).toEqual(["reduce_context"]);
    must(await run.approve(await run.onlyCard(id)));
    const held = await run.begun("crew-2");
    await run.deliver(run.result(id, held, { failed: true, recoveries }));
    const events = told(run);
    expect(events.map(({ detail }) => detail)).toEqual(recoveries.map(({ detail }) => detail));
    for (const event of events) expect(event).toMatchObject({ task_id: id, attempt_id: first.ref.attempt_id });
    expect(run.attempts(id)[0]?.recoveries).toEqual(recoveries);
  });
  it("[LAD-36] what a gate stops is told no less", async () => {
    const run = openRuntime();
    const id = await run.going(planOf(["echo one"]));
    const held = await run.begun();
    run.gates({
      ...{ id: "words", trigger: "every_agent_response", action: "block", lane: "policy" },
      ...{ check: "text_contains", params: { any: ["forbidden"] } },
    } as Parameters<typeof run.gates>[0]);
    await run.deliver(run.result(id, held, { content: "forbidden", recoveries }));
    expect(told(run).map(({ action }) => action)).toEqual(recoveries.map(({ action }) => action));
  });
});
