/** Services that are away, slow or full, and clocks that are wrong: work waits and goes on, and nothing is lost. */
import type { Disk } from "../simulation/platform/disk.ts";
import type { Rule } from "../simulation/platform/faults.ts";
import type { Road } from "../simulation/scope/single.ts";
import { later, named, row, shortPlan, survives, whenHost, whenStored } from "./road.ts";

const minutes = (count: number) => count * 60_000;

/** The disk takes no further page for a while. Met: something was refused for it. */
function full(road: Road, disk: Disk, ms: number): Rule {
  disk.db.exec("PRAGMA max_page_count = 1");
  const rule: Rule = { fired: 0 };
  const { trace } = road.platform.timeline;
  const look = () => {
    if (trace.last(10_000).some((line) => line.includes("disk is full"))) rule.fired++;
  };
  later(road, ms / 2, look);
  later(road, ms, () => {
    look();
    disk.db.exec("PRAGMA max_page_count = 4294967294");
  });
  return rule;
}
const asked = "SELECT 1 FROM tasks";
const card = "SELECT 1 FROM approvals WHERE status = 'pending'";
/** From the moment that `sql` finds something in the object. */
function fullFrom(road: Road, agent: string, sql: string, ms: number): Rule[] {
  const met: Rule = { fired: 0 };
  const begun = whenStored(road, named(road, agent), sql, (disk) => {
    const rule = full(road, disk, ms);
    later(road, ms + 1, () => {
      met.fired = rule.fired;
    });
  });
  return [begun, met];
}

row("full disk", "[FLT-13] on a full disk nothing is half done, and with room everything goes on by itself", {
  "before commit": () =>
    survives((road) => [full(road, road.platform.object(named(road, "runtime")).disk, minutes(3))]),
  "after commit, before reply": () => survives((road) => fullFrom(road, "runtime", asked, minutes(3))),
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "createTask", lose: "reply", times: 2 }),
      ...fullFrom(road, "runtime", asked, minutes(3)),
    ]),
  slow: () => survives((road) => fullFrom(road, "runtime", card, minutes(40)), { within_ms: minutes(60) }),
});

function awayFor(road: Road, service: "d1" | "r2", ms: number): void {
  road.platform[service].down = true;
  later(road, ms, () => {
    road.platform[service].down = false;
  });
}
row("D1 down", "[FLT-14] no task waits for D1, and when it is back it holds every row once", {
  "before commit": () =>
    survives(
      (road) => {
        awayFor(road, "d1", minutes(20));
        return [road.platform.faults.call({ to: "d1", method: "batch", lose: "request" })];
      },
      { within_ms: minutes(3) },
    ),
  "after commit, before reply": () =>
    survives(
      (road) => [
        road.platform.faults.call({ to: "d1", method: "batch", lose: "reply", times: 5 }),
        road.platform.faults.crash({ object: named(road, "runtime"), at: "before", wrote: "audit_shipped" }),
        road.platform.faults.crash({ object: named(road, "planner"), at: "after", wrote: "audit_shipped" }),
      ],
      { within_ms: minutes(3) },
    ),
  "reply lost": () =>
    survives(
      (road) => [
        road.platform.faults.call({ to: /./, method: "confirmRecords", lose: "reply", times: 3 }),
        road.platform.faults.call({ to: "records", method: "send", lose: "reply", times: 3 }),
      ],
      { within_ms: minutes(3) },
    ),
  slow: () =>
    survives((road) => [road.platform.faults.call({ to: "d1", method: "batch", delay_ms: 90_000, times: 8 })], {
      within_ms: minutes(3),
    }),
});

row("R2 down", "[FLT-15] while R2 is away work waits, and what was stored twice is stored once", {
  "before commit": () =>
    survives((road) => [
      whenHost(road, "snapshot", () => awayFor(road, "r2", minutes(1))),
      road.platform.faults.call({ to: "r2", method: "put", lose: "request" }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      whenHost(road, "snapshot", () =>
        road.platform.faults.crash({ object: named(road, "crew-1"), at: "before", wrote: "runs" }),
      ),
      road.platform.faults.call({ to: "r2", from: /verifier$/, method: "put", lose: "reply" }),
    ]),
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: "r2", method: "put", lose: "reply", times: 2 }),
      road.platform.faults.call({ to: "r2", method: "get", lose: "reply", times: 2 }),
    ]),
  slow: () =>
    survives((road) => [
      road.platform.faults.call({ to: "r2", method: "put", delay_ms: 90_000, times: 2 }),
      road.platform.faults.call({ to: "r2", method: "get", delay_ms: 90_000, times: 2 }),
    ]),
});

/** Leases, waits and time limits seem over: an attempt may be lost for it, and no more. */
const jumped = { attempts: 2, within_ms: minutes(60) };
const ahead = (road: Road, ms = minutes(40)) => {
  road.platform.timeline.now += ms;
};
const behind = (road: Road, ms = minutes(10)) => {
  road.platform.timeline.skew_ms -= ms;
};
row("clock jump", "[FLT-24] a clock that jumps costs one attempt at most, and nothing happens twice", {
  "before commit": () => survives((road) => [whenHost(road, "exec", () => ahead(road))], jumped),
  "after commit, before reply": () =>
    survives((road) => [whenStored(road, named(road, "runtime"), "SELECT 1 FROM calls", () => ahead(road))], {
      ...jumped,
      plan: shortPlan(20),
    }),
  "reply lost": () =>
    survives(
      (road) => [
        road.platform.faults.call({ to: "sandboxes", method: "exec", lose: "reply" }),
        whenHost(road, "exec", () => ahead(road)),
      ],
      jumped,
    ),
  slow: () =>
    survives(
      (road) => [
        whenStored(road, named(road, "runtime"), card, () => behind(road)),
        whenHost(road, "exec", () => behind(road)),
      ],
      jumped,
    ),
});
