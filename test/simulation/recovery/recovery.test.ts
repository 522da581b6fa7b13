/** What a scope does when its alarms are lost, its services are away, or its objects die: it goes on. */
import { describe, expect, it } from "vitest";
import { simulate } from "../platform/platform.ts";
import { walk } from "../scope/single.ts";
import { makeScope } from "../scope/users.ts";

describe("a task goes on by itself", () => {
  it("[RCV-5] although most alarms are lost for an hour: the minute's sweep finds what is overdue", async () => {
    const { view } = await walk("alarms lost", ({ platform }) => {
      platform.faults.rates = { ...platform.faults.rates, alarm_lost: 0.8 };
      platform.timeline.after(3_600_000, "alarms ring again", () => platform.faults.stop());
    });
    expect(view.status).toBe("done");
    expect(Date.parse(view.ended_at ?? "") - Date.parse(view.created_at)).toBeLessThan(3_600_000);
  });
  it("[RCV-6] although the objects are evicted or die after their commits: nothing rests on what is only in memory", async () => {
    for (const rate of ["evict", "crash_after_write"] as const) {
      const { view } = await walk(`often: ${rate}`, ({ platform }) => {
        platform.faults.rates = { ...platform.faults.rates, [rate]: 0.05 };
        platform.timeline.after(900_000, "calm", () => platform.faults.stop());
      });
      expect(["done", "waiting"], rate).toContain(view.status);
    }
  });
  it("[RCV-2] although another scope fails whenever it is swept, and a third hangs", () =>
    simulate("a bad neighbour", async (platform) => {
      for (const letter of ["b", "c", "d"]) await makeScope(platform, letter);
      const failing = platform.faults.call({ to: /^b+\/runtime$/, method: "sweep", lose: "request", times: 99 });
      const hanging = platform.faults.call({ to: /^c+\/runtime$/, method: "sweep", delay_ms: 86_400_000, times: 99 });
      const good = `${"d".repeat(16)}/runtime`;
      const swept = platform.faults.call({ to: good, method: "sweep", delay_ms: 0, times: 99 });
      // What comes after the scopes is done all the same: a sandbox nobody will come back for is destroyed.
      const [scope_id, owner] = ["d".repeat(16), "x"];
      const spec = { scope_id, owner, worktree: "w", memory_mb: 1, processes: 1, file_mb: 1 };
      await platform.memory.create("left", spec);
      await platform.pass(300_000);
      expect(await platform.memory.sandboxes()).toEqual([]);
      expect([failing.fired, hanging.fired, swept.fired].every((times) => times >= 3)).toBe(true);
    }));
  it("[RCV-20] although R2 is away for a quarter of an hour from the first attempt on: no dead letter, no sandbox left", async () => {
    let asked = 0;
    const { view, road } = await walk("R2 away", ({ platform }) => {
      const { r2, timeline, watch } = platform;
      const { before } = watch;
      watch.before = (method, args) => {
        before(method, args);
        if (method !== "merge" || asked++ > 0) return;
        r2.down = true;
        timeline.after(900_000, "R2 is back", () => {
          r2.down = false;
        });
      };
    });
    expect(asked).toBeGreaterThan(1);
    expect(view.status).toBe("done");
    const { disk } = road.platform.object(`${road.scope.id}/runtime`);
    const letters = "SELECT 1 FROM approvals WHERE json_extract(doc, '$.kind') = 'dead_letter'";
    expect(disk.all(letters)).toEqual([]);
    // Each lost attempt was told as what it was.
    const lost = "SELECT 1 FROM verifications WHERE json_extract(doc, '$.verdict') = 'infra_error'";
    expect(disk.all(lost).length).toBeGreaterThan(0);
  });
  it("[RCV-8] although D1 is away from beginning to end: nothing on the road waits for it", async () => {
    const { view } = await walk("D1 away", ({ platform }) => {
      platform.d1.down = true;
      platform.timeline.after(1_800_000, "D1 is back", () => {
        platform.d1.down = false;
      });
    });
    expect(view.status).toBe("done");
    expect(Date.parse(view.ended_at ?? "") - Date.parse(view.created_at)).toBeLessThan(600_000);
  });
});
