/** Faults the simulation found in the runs of an agent, each kept as a test of its own. */
import { describe, expect, it } from "vitest";
import type { Road } from "./scope/single.ts";
import { walk } from "./scope/single.ts";

const plan = (step: string) =>
  `---\ntitle: A plan\ngoal: A goal\nitems:\n  - { id: a, runner: steps, verify: none, allow: { tools: [shell_execute], paths: ['made/**'] } }\n---\n## a\n\`\`\`sh\n${step}\n\`\`\`\n`;

describe("the runs of an agent", () => {
  it("[AGO-6] a run is stepped by one alarm at a time, also when an alarm ended early because a heartbeat got no answer", async () => {
    const asked: number[] = [];
    let fired = () => 0;
    const { view } = await walk(
      "heartbeats",
      ({ platform }: Road) => {
        const rule = platform.faults.call({ to: /\/runtime$/, method: "heartbeat", lose: "reply", times: 3 });
        fired = () => rule.fired;
        const { before } = platform.watch;
        platform.watch.before = (method, args) => {
          before(method, args);
          if (method === "wait") asked.push(platform.timeline.now);
        };
      },
      plan("echo a >> made/a; sleep 60"),
    );
    expect({ status: view.status, fired: fired() }).toEqual({ status: "done", fired: 3 });
    // One look lasts five seconds: two steppers would ask about twice as often.
    expect(asked.length).toBeLessThanOrEqual(18);
  });

  it("[AGO-7] what called a run off stands, although the step under way then fails", async () => {
    const cancelled: unknown[] = [];
    let fired = () => 0;
    const { view } = await walk(
      "called off",
      ({ platform, scope }: Road) => {
        // The answer to the call is lost, late enough for the task to be cancelled meanwhile.
        const lost = platform.faults.call({ to: /\/runtime$/, method: "authorize", crash: "after", delay_ms: 30_000 });
        fired = () => lost.fired;
        const watch = () =>
          platform.timeline.after(1_000, "the test looks", () => {
            const { disk } = platform.object(`${scope.id}/crew-1`);
            const runs =
              disk.commits === 0 ? [] : disk.all("SELECT doc FROM runs").map(({ doc }) => JSON.parse(String(doc)));
            if (runs[0]?.state.at === "work" && cancelled.length === 0) {
              cancelled.push(false);
              const [task] = platform.object(`${scope.id}/runtime`).disk.all("SELECT id FROM tasks");
              void scope.runtime.cancelTask(scope.admin, String(task?.id), "enough").catch(() => {});
            }
            for (const run of runs) if (run.errors > 0) cancelled.push(run.cancelled);
            watch();
          });
        watch();
      },
      plan("echo a >> made/a"),
    );
    expect({ status: view.status, fired: fired() }).toEqual({ status: "cancelled", fired: 1 });
    expect(cancelled.slice(1)).toContain(true);
    expect(cancelled.slice(1)).not.toContain(false);
  });
});
