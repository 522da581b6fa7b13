/** How a message is begun in an object that has nothing else to do, and what becomes of it when the object dies. */
import { describe, expect, it } from "vitest";
import { type Platform, simulate } from "./platform/platform.ts";
import { installPrograms } from "./scope/programs.ts";
import { askTask, makeScope, type Scope } from "./scope/users.ts";

const plan = `---\ntitle: A plan\ngoal: A goal\nitems:\n  - { id: a, runner: steps, verify: none, allow: { tools: [shell_execute], paths: ['made/**'] } }\n---\n## a\n\`\`\`sh\necho a >> made/a\n\`\`\`\n`;

interface Asked {
  readonly platform: Platform;
  readonly scope: Scope;
  /** When the planner began a step that asks the host, in virtual time. */
  readonly steps: number[];
  readonly processed: () => number;
  readonly planner: ReturnType<Platform["object"]>;
}
/** A planner at rest, whom only calls and its own alarm wake; `arrange` sets what goes wrong, then tasks are asked for. */
function ask(seed: string, tasks: number, arrange: (asked: Asked) => void, then: (asked: Asked) => Promise<void>) {
  return simulate(seed, async (platform) => {
    installPrograms(platform);
    platform.sweeps = false;
    const scope = await makeScope(platform, "a");
    await platform.pass(60_000);
    const planner = platform.object(`${scope.id}/planner`);
    const steps: number[] = [];
    const { before } = platform.watch;
    platform.watch.before = (method, args) => {
      before(method, args);
      if (method === "resolve") steps.push(platform.timeline.now);
    };
    const processed = () => planner.disk.all("SELECT 1 FROM queue_processed WHERE queue = 'inbox'").length;
    const asked: Asked = { platform, scope, steps, processed, planner };
    expect(planner.disk.alarm).toBeNull();
    arrange(asked);
    await platform.done(Promise.all(Array.from({ length: tasks }, (_, at) => askTask(scope, { plan, key: `k${at}` }))));
    await then(asked);
  });
}

describe("a message to an agent at rest", () => {
  it("[AGO-8] is begun in the call that delivers it: no alarm has to ring", () =>
    ask(
      "no alarms",
      1,
      ({ platform }) => {
        platform.faults.rates = { ...platform.faults.rates, alarm_lost: 1 };
      },
      async ({ platform, processed, steps }) => {
        await platform.until(() => processed() === 1, 500);
        expect(steps).toHaveLength(1);
      },
    ));

  it("[AGO-8] is done although the object dies right after the commit that took it in, before or after its alarm was set", async () => {
    for (const wrote of ["queue_rows", "alarm"]) {
      let fired = () => 0;
      await ask(
        `dies after ${wrote}`,
        1,
        ({ platform, planner }) => {
          const rule = platform.faults.crash({ object: planner.name, at: "after", wrote });
          // So that there is still work to do when the alarm is set.
          platform.faults.call({ to: "sandboxes", method: "resolve", delay_ms: 5_000 });
          fired = () => rule.fired;
        },
        async ({ platform, processed }) => {
          await platform.until(() => processed() === 1, 30_000);
        },
      );
      expect(fired(), wrote).toBe(1);
    }
  });

  it("[AGO-8] goes on by the alarm that stands by, a second after, when the object dies once it has answered", () =>
    ask(
      "dies at work",
      1,
      ({ platform }) => {
        platform.faults.call({ to: "sandboxes", method: "resolve", delay_ms: 3_600_000 });
      },
      async ({ platform, planner, processed, steps }) => {
        await platform.until(() => planner.disk.all("SELECT 1 FROM runs").length === 1, 10_000);
        await platform.pass(500);
        expect(planner.disk.alarm).not.toBeNull();
        planner.crash("at work");
        const died = platform.timeline.now;
        await platform.until(() => processed() === 1, 3_000);
        expect(steps[0]).toBeLessThan(died + 1_000);
      },
    ));

  it("[AGO-9] is stepped once, though several come at once and the alarm rings while the shift is on", () =>
    ask(
      "at once",
      3,
      ({ platform }) => {
        platform.faults.call({ to: "sandboxes", method: "resolve", delay_ms: 30_000, times: 3 });
      },
      async ({ platform, planner, processed, steps }) => {
        await platform.until(() => processed() === 3, 60_000);
        expect(steps).toHaveLength(3);
        const heard = planner.disk.all("SELECT body FROM audit_chain").map(({ body }) => JSON.parse(String(body)));
        expect(heard.filter(({ decision }) => decision === "leased")).toHaveLength(3);
        const rang = platform.timeline.trace.last(100_000).filter((line) => line.includes(`alarm of ${planner.name}`));
        expect(rang.length).toBeGreaterThan(0);
      },
    ));

  it("[AGO-9] is begun in the shift that is on, although it came while that waited for a queue", () =>
    ask(
      "while it tells",
      1,
      ({ platform, planner }) => {
        platform.faults.rates = { ...platform.faults.rates, alarm_lost: 1 };
        const slow = { to: "records", from: planner.name, method: "send", delay_ms: 5_000 };
        const rule = platform.faults.call(slow);
        platform.timeline.after(4_000, "the test looks", () => expect(rule.fired).toBe(1));
      },
      async ({ platform, scope, processed, steps }) => {
        await platform.pass(1_000);
        await platform.done(askTask(scope, { plan, key: "another" }));
        await platform.until(() => processed() === 2, 6_000);
        expect(steps).toHaveLength(2);
      },
    ));

  it("[AGO-11] waits for a free place without an alarm that rings and rings", () =>
    ask(
      "all places taken",
      6,
      ({ platform }) => {
        platform.host.down = true;
      },
      async ({ platform, planner, processed }) => {
        await platform.until(() => planner.disk.all("SELECT 1 FROM runs").length === 4, 30_000);
        const rings = () =>
          platform.timeline.trace.last(100_000).filter((line) => line.includes(`alarm of ${planner.name}`)).length;
        const before = rings();
        await platform.pass(20_000);
        expect(rings() - before).toBeLessThan(60);
        platform.host.down = false;
        await platform.until(() => processed() === 6, 120_000);
      },
    ));
});
