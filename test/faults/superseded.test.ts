/** Faults around an attempt that was taken from its holder: the old one changes nothing, and the two never overlap. */
import { expect } from "vitest";
import type { Rule } from "../simulation/platform/faults.ts";
import type { Road } from "../simulation/scope/single.ts";
import { later, named, row, runtime, shortPlan, survives, type Walked, whenHost } from "./road.ts";

const long = { plan: shortPlan(200), attempts: 2 };

/** The first holder works on, unheard and hearing nothing, until its attempt is another's. */
function unheard({ platform, scope }: Road, beats = 120): Rule[] {
  const [runtimeName, crew] = [`${scope.id}/runtime`, `${scope.id}/crew-1`];
  return [
    platform.faults.call({ to: runtimeName, from: crew, method: "heartbeat", lose: "request", times: beats }),
    platform.faults.call({ to: crew, method: "callOff", lose: "request", times: 8 }),
  ];
}
/** What came too late is on record, and none of it twice. */
async function lateOnce(walking: Promise<Walked>): Promise<void> {
  const { road, view } = await walking;
  const late = runtime(road)
    .disk.all("SELECT body FROM audit_chain")
    .map(({ body }) => JSON.parse(String(body)))
    .filter(({ decision }) => decision === "stale_result")
    .map(({ details, reason }) => JSON.stringify([details, reason]));
  expect(late.length).toBeGreaterThan(0);
  expect(new Set(late).size).toBe(late.length);
  expect(view.attempts.map(({ state }) => state)).toEqual(["crashed", "done"]);
}

row("stale holder", "[FLT-8] a holder whose attempt is another's changes nothing, and is on record once", {
  "before commit": () =>
    lateOnce(
      survives(
        (road) => [
          ...unheard(road),
          road.platform.faults.crash({ object: named(road, "runtime"), at: "before", decision: "stale_result" }),
        ],
        long,
      ),
    ),
  "after commit, before reply": () =>
    lateOnce(
      survives(
        (road) => [
          ...unheard(road),
          road.platform.faults.crash({ object: named(road, "runtime"), at: "after", decision: "stale_result" }),
        ],
        long,
      ),
    ),
  "reply lost": () =>
    lateOnce(
      survives(
        (road) => [
          ...unheard(road),
          road.platform.faults.call({ to: named(road, "runtime"), method: "deliver", lose: "reply", times: 6 }),
        ],
        long,
      ),
    ),
  slow: () =>
    lateOnce(
      survives(
        (road) => [
          ...unheard(road),
          road.platform.faults.call({ to: named(road, "runtime"), method: "settle", delay_ms: 90_000 }),
        ],
        long,
      ),
    ),
});

/** The first holder's answer is under way for long, and nothing else is heard of it. */
function answersLate(
  { platform, scope }: Road,
  more: Partial<Parameters<typeof platform.faults.call>[0]> = {},
): Rule[] {
  const [runtimeName, crew] = [`${scope.id}/runtime`, `${scope.id}/crew-1`];
  return [
    platform.faults.call({ to: runtimeName, from: crew, method: "claim", nth: 2, lose: "request", times: 60 }),
    platform.faults.call({ to: "agent-messages", from: crew, method: "send", delay_ms: 200_000, times: 8, ...more }),
  ];
}
row("late result", "[FLT-18] a result that comes when its attempt is over is kept for the record, once", {
  "before commit": () =>
    lateOnce(
      survives(
        (road) => [
          ...answersLate(road),
          road.platform.faults.crash({ object: named(road, "runtime"), at: "before", decision: "stale_result" }),
        ],
        { attempts: 2 },
      ),
    ),
  "after commit, before reply": () =>
    lateOnce(
      survives(
        (road) => [
          ...answersLate(road),
          road.platform.faults.crash({ object: named(road, "runtime"), at: "after", decision: "stale_result" }),
        ],
        { attempts: 2 },
      ),
    ),
  "reply lost": () => lateOnce(survives((road) => answersLate(road, { lose: "reply" }), { attempts: 2 })),
  slow: () => lateOnce(survives((road) => answersLate(road), { attempts: 2 })),
});

/** For so long that another agent takes the fresh attempt, while the first one's sandbox stands and works. */
function side(road: Road): Rule[] {
  road.platform.sweeps = false;
  later(road, 600_000, () => {
    road.platform.sweeps = true;
  });
  return unheard(road, 180);
}
row(
  "two sandboxes for one attempt",
  "[FLT-17] one sandbox at most works for an item, however its making or its end fails",
  {
    "before commit": async () => {
      await survives((road) => [
        whenHost(road, "create", () =>
          road.platform.faults.crash({ object: named(road, "crew-1"), at: "before", wrote: "runs" }),
        ),
      ]);
      await survives(
        (road) => [
          ...side(road),
          road.platform.faults.call({ to: "sandboxes", from: /crew-2$/, method: "destroy", lose: "request", times: 3 }),
        ],
        long,
      );
    },
    "after commit, before reply": async () => {
      await survives((road) => [
        whenHost(road, "create", () =>
          road.platform.faults.crash({ object: named(road, "crew-1"), at: "after", wrote: "runs" }),
        ),
      ]);
      await survives(
        (road) => [
          ...side(road),
          whenHost(road, "destroy", () =>
            road.platform.faults.crash({ object: named(road, "crew-2"), at: "after", wrote: "runs" }),
          ),
        ],
        long,
      );
    },
    "reply lost": async () => {
      await survives((road) => [
        road.platform.faults.call({ to: "sandboxes", method: "create", lose: "reply", times: 2 }),
      ]);
      await survives(
        (road) => [
          ...side(road),
          road.platform.faults.call({ to: "sandboxes", from: /crew-2$/, method: "destroy", lose: "reply", times: 3 }),
        ],
        long,
      );
    },
    slow: async () => {
      await survives((road) => [road.platform.faults.call({ to: "sandboxes", method: "create", delay_ms: 90_000 })]);
      await survives(
        (road) => [
          ...side(road),
          road.platform.faults.call({ to: "sandboxes", from: /crew-2$/, method: "destroy", delay_ms: 90_000 }),
        ],
        long,
      );
    },
  },
);
