/** Faults while messages travel and are taken: nothing is lost, nothing is taken twice. */
import { named, row, shortPlan, survives } from "./road.ts";

row("enqueue", "[FLT-1] a message enters an inbox once, and its sender keeps it until it has", {
  "before commit": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "before", wrote: "queue_rows" }),
      road.platform.faults.crash({ object: named(road, "verifier"), at: "before", wrote: "queue_rows" }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "after", wrote: "queue_rows" }),
      road.platform.faults.crash({ object: named(road, "verifier"), at: "after", wrote: "queue_rows" }),
    ]),
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "planner"), method: "deliver", lose: "reply", times: 3 }),
    ]),
  slow: () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "planner"), method: "deliver", delay_ms: 90_000, times: 2 }),
    ]),
});

row("lease", "[FLT-2] what is leased has one holder, who is given the same lease when it asks again", {
  "before commit": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "before", wrote: "runs" }),
      road.platform.faults.call({ to: named(road, "runtime"), method: "claim", crash: "before" }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "after", wrote: "runs" }),
      road.platform.faults.call({ to: named(road, "runtime"), method: "claim", crash: "after" }),
    ]),
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "claim", lose: "reply", times: 3 }),
    ]),
  slow: () =>
    survives((road) => [road.platform.faults.call({ to: named(road, "runtime"), method: "claim", delay_ms: 90_000 })]),
});

const minuteLong = { plan: shortPlan(60) };
row("heartbeat", "[FLT-3] a heartbeat that is lost or late ends no attempt, and one attempt too many at the worst", {
  "before commit": () =>
    survives(
      (road) => [
        road.platform.faults.call({ to: named(road, "runtime"), method: "heartbeat", nth: 2, crash: "before" }),
      ],
      minuteLong,
    ),
  "after commit, before reply": () =>
    survives(
      (road) => [
        road.platform.faults.call({ to: named(road, "runtime"), method: "heartbeat", nth: 2, crash: "after" }),
      ],
      minuteLong,
    ),
  "reply lost": () =>
    survives(
      (road) => [
        road.platform.faults.call({ to: named(road, "runtime"), method: "heartbeat", lose: "reply", times: 3 }),
      ],
      minuteLong,
    ),
  slow: () =>
    survives(
      (road) => [road.platform.faults.call({ to: named(road, "runtime"), method: "heartbeat", delay_ms: 90_000 })],
      { ...minuteLong, attempts: 2 },
    ),
});

row("inside effect", "[FLT-4] a change inside an object is whole or absent, and asked for again it is the same one", {
  "before commit": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "runtime"), at: "before", wrote: "tasks" }),
      road.platform.faults.crash({ object: named(road, "runtime"), at: "before", wrote: "plans" }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "runtime"), at: "after", wrote: "tasks" }),
      road.platform.faults.crash({ object: named(road, "runtime"), at: "after", wrote: "plans" }),
    ]),
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "createTask", lose: "reply", times: 3 }),
    ]),
  slow: () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "createTask", delay_ms: 90_000 }),
    ]),
});

row("mark and ack", "[FLT-6] the mark, the ack and what follows from a message are one commit", {
  "before commit": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "before", wrote: "queue_processed" }),
      road.platform.faults.crash({ object: named(road, "runtime"), at: "before", decision: "acked" }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "after", wrote: "queue_processed" }),
      road.platform.faults.crash({ object: named(road, "runtime"), at: "after", decision: "acked" }),
    ]),
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "deliver", lose: "reply", times: 3 }),
    ]),
  slow: () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "deliver", delay_ms: 90_000, times: 2 }),
    ]),
});

row("outbox flush", "[FLT-9] what a commit promised leaves the object, however often sending it fails", {
  "before commit": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "before", wrote: "outbox", nth: 2 }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "after", wrote: "outbox", nth: 2 }),
    ]),
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: "agent-messages", method: "send", lose: "reply", times: 2 }),
      road.platform.faults.call({ to: "agent-messages", method: "send", lose: "request", times: 2 }),
    ]),
  slow: () =>
    survives((road) => [
      road.platform.faults.call({ to: "agent-messages", method: "send", delay_ms: 400_000, times: 3 }),
    ]),
});

row("Queue delivery", "[FLT-10] a delivery that is lost, repeated, reordered or late changes nothing but the time", {
  "before commit": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "observe", crash: "before" }),
      road.platform.faults.call({ to: named(road, "verifier"), method: "deliver", crash: "before" }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "observe", crash: "after" }),
      road.platform.faults.call({ to: named(road, "verifier"), method: "deliver", crash: "after" }),
    ]),
  "reply lost": () =>
    survives((road) => {
      road.platform.faults.rates = { ...road.platform.faults.rates, queue_lost: 0.3, queue_repeated: 0.5 };
      return [
        road.platform.faults.call({ to: /\/planner$/, method: "confirm", lose: "request", times: 2 }),
        road.platform.faults.call({ to: /\/crew-1$/, method: "confirm", lose: "reply" }),
      ];
    }),
  slow: () =>
    survives((road) => {
      road.platform.messages.slow_ms = 90_000;
      return [];
    }),
});

row("alarm", "[FLT-11] an alarm that dies or comes late is followed by another until nothing is due", {
  "before commit": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "before", wrote: "alarm" }),
      road.platform.faults.crash({ object: named(road, "runtime"), at: "before", wrote: "alarm", nth: 3 }),
    ]),
  "after commit, before reply": () =>
    survives((road) => [
      road.platform.faults.crash({ object: named(road, "planner"), at: "after", wrote: "alarm" }),
      road.platform.faults.crash({ object: named(road, "runtime"), at: "after", wrote: "alarm", nth: 3 }),
    ]),
  "reply lost": null,
  slow: () =>
    survives((road) => {
      road.platform.faults.rates = { ...road.platform.faults.rates, alarm_late: 1 };
      return [];
    }),
});

row(
  "object life",
  "[FLT-12] an agent is made once, one not heard of is started again, one never reached keeps no work waiting",
  {
    "before commit": () =>
      survives((road) => [
        road.platform.faults.crash({ object: named(road, "crew-1"), at: "before", wrote: "self" }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "report", crash: "before" }),
      ]),
    "after commit, before reply": () =>
      survives((road) => [
        road.platform.faults.crash({ object: named(road, "crew-1"), at: "after", wrote: "self" }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "report", crash: "after" }),
      ]),
    "reply lost": () =>
      survives((road) => [
        road.platform.faults.call({ to: named(road, "crew-1"), method: "start", lose: "reply", times: 3 }),
        road.platform.faults.call({ to: named(road, "runtime"), method: "report", lose: "reply", times: 2 }),
      ]),
    slow: async () => {
      await survives((road) => [
        road.platform.faults.call({ to: named(road, "crew-1"), method: "start", delay_ms: 90_000, times: 2 }),
      ]);
      // One that is never reached again holds nobody's work up for longer than minutes.
      await survives(
        (road) => [
          road.platform.faults.call({ to: named(road, "crew-1"), method: "start", lose: "request", times: 1_000 }),
        ],
        { within_ms: 300_000 },
      );
    },
  },
);
