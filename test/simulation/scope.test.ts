/** The whole service under faults: scopes side by side, people at work, and laws that hold after every step. */
import { execFile } from "node:child_process";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { as } from "./platform/actors.ts";
import type { Platform } from "./platform/platform.ts";
import { simulate } from "./platform/platform.ts";
import { Violation, watchScopes } from "./scope/ledger.ts";
import { failure } from "./scope/main.ts";
import { repo } from "./scope/programs.ts";
import { QueueLaws } from "./scope/queue-laws.ts";
import { checkRecords } from "./scope/record-laws.ts";
import { runScopes } from "./scope/run.ts";
import { roadPlan, walk, walkIn } from "./scope/single.ts";

const seedsEach = 4;
const stepsEach = 4_000;
const figures = z.object({
  seed: z.string(),
  steps: z.number(),
  violation: z.string().nullable(),
  trace: z.array(z.string()),
});

/** In a process of its own, so that both cores work. */
function scopesFrom(seed: number): Promise<z.infer<typeof figures>[]> {
  const args = [
    "test/simulation/run.ts",
    "scope",
    "--json",
    "--seed",
    seed,
    "--seeds",
    seedsEach,
    "--steps",
    stepsEach,
  ].map(String);
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
      if (lines.length === 0) reject(error ?? new Error(stderr));
      else resolve(lines.map((line) => figures.parse(JSON.parse(line))));
    });
  });
}

describe("the simulation of scopes", () => {
  it("[SIM-30] the same seed is the same run, byte for byte, and another seed is another", async () => {
    const [one, again, other] = [
      await runScopes({ seed: "same", steps: 2_000, toRest: false }),
      await runScopes({ seed: "same", steps: 2_000, toRest: false }),
      await runScopes({ seed: "other", steps: 500, toRest: false }),
    ];
    expect(again).toEqual(one);
    expect(other.hash).not.toBe(one.hash);
  });

  it("[SIM-31] under faults of every kind all laws hold at every step, and without them everything comes to rest", async () => {
    const elsewhere = scopesFrom(1);
    const here = [];
    for (let seed = 1 + seedsEach; seed <= 2 * seedsEach; seed++)
      here.push(await runScopes({ seed, steps: stepsEach }));
    const reports = [...(await elsewhere), ...here];
    const broken = reports.filter(({ violation }) => violation !== null);
    expect(broken.map((report) => failure(report, stepsEach))).toEqual([]);
    expect(reports).toHaveLength(2 * seedsEach);
  });

  it("[SIM-32] a crash of any object before or after a commit changes nothing about how the road ends", async () => {
    const plain = await walk("road", () => {});
    const commits = plain.road.platform.objects().reduce((sum, { disk }) => sum + disk.commits, 0);
    expect(plain.view).toMatchObject({ status: "done", attempts: [{ state: "done" }, { state: "done" }] });
    for (const at of ["before", "after"] as const)
      for (let nth = at === "before" ? 3 : 11; nth <= commits - 40; nth += 61) {
        let fired = () => 0;
        const { view } = await walk("road", ({ platform }) => {
          const rule = platform.faults.crash({ object: /./, at, nth });
          fired = () => rule.fired;
        });
        expect({ at, nth, fired: fired(), status: view.status }).toEqual({ at, nth, fired: 1, status: "done" });
      }
  });

  it.each([
    ["runtime", ["createTask", "decide", "observe", "deliver", "claim", "begin", "authorize", "settle", "confirm"]],
    ["agents", ["deliver", "confirm", "start", "poke"]],
    ["pool", ["acquire", "release"]],
    ["sandboxes", ["create", "checkout", "exec", "wait", "snapshot", "merge", "publish", "destroy"]],
  ])("[SIM-33] any one request or reply on the road may be lost: %s", async (who, methods) => {
    const to = { runtime: /\/runtime$/, agents: /\/(?!runtime$)/ }[who] ?? who;
    // Each reply alone; the first request of each on one road: what was not done is the milder loss.
    const losses = [
      ...methods.map((method) => ({ lose: "reply", of: [method] }) as const),
      { lose: "request", of: methods } as const,
    ];
    for (const { lose, of } of losses) {
      const fired: (() => string)[] = [];
      const { view } = await walk("road", ({ platform }) => {
        for (const method of of) {
          const rule = platform.faults.call({ to, method, lose });
          fired.push(() => (rule.fired === 1 ? method : `not ${method}`));
        }
      });
      const seen = { lose, of: fired.map((name) => name()), status: view.status };
      expect(seen).toEqual({ lose, of, status: "done" });
    }
  });

  const doctored: [law: string, sql: string, object?: string][] = [
    ["is gone", "DELETE FROM queue_rows"],
    ["and is", "UPDATE tasks SET doc = json_set(doc, '$.status', 'active')"],
    [
      "moves and their audit differ",
      "UPDATE queue_rows SET state = 'dead', epoch = epoch + 1, died_at = 1, lease_id = NULL",
    ],
    ["is gone or changed", "DELETE FROM audit_chain WHERE seq = 3"],
    [
      "does not match its own hash",
      "INSERT INTO audit_chain SELECT seq + 1, object, hash, replace(body, 'runtime', 'planner') FROM audit_chain ORDER BY seq DESC LIMIT 1",
    ],
    ["never had it", "DELETE FROM outbox"],
    ["decided 2 times", "UPDATE approvals SET doc = json_set(doc, '$.decisions', json('[{},{}]'))"],
    [
      "out of place",
      "INSERT INTO audit_chain SELECT seq + 1, object, hash, body FROM audit_chain ORDER BY seq DESC LIMIT 1",
    ],
    ["attempts counted", "UPDATE items SET doc = json_set(doc, '$.counted', 99)"],
    ["has 0 attempts that are done", "UPDATE items SET doc = json_set(doc, '$.state', 'done')"],
    ["it is done and its item is", "UPDATE attempts SET doc = json_set(doc, '$.state', 'done')"],
    ["no mark that it was processed", "UPDATE attempts SET doc = json_set(doc, '$.message_id', 'another')"],
    [
      "is done at",
      "UPDATE tasks SET doc = json_set(doc, '$.status', 'done', '$.tip', json_object('commit', 'another', 'bundle_key', ''))",
    ],
    ["is over without its mark", "DELETE FROM runs", "crew-1"],
    ["is over without its mark", "DELETE FROM runs", "verifier"],
  ];
  it.each(doctored)("[SIM-34] the laws see what is wrong: %s", (law, sql, object = "runtime") =>
    expect(
      walk("road", ({ platform, scope }) => {
        const { disk } = platform.object(`${scope.id}/${object}`);
        // Long enough under way for a row of the outbox to be taken before its addressee has it.
        platform.messages.slow_ms = 300;
        const doctor = () =>
          platform.timeline.after(object === "runtime" ? 100 : 2, "a doctored row", () => {
            if (disk.commits === 0) return doctor();
            const before = disk.all("SELECT total_changes() AS n")[0]?.n;
            const due = sql.includes("'active'")
              ? disk.all("SELECT 1 FROM tasks WHERE status = 'done'").length > 0
              : true;
            if (due) disk.db.exec(sql);
            disk.touched = true;
            if (disk.all("SELECT total_changes() AS n")[0]?.n === before) doctor();
          });
        doctor();
      }),
    ).rejects.toThrow(law),
  );

  it("[SIM-37] the laws see a branch that moves again, and what lies in R2 below another scope's name", async () => {
    const { road } = await walk("road", () => {});
    const branches = road.platform.memory.repos.get(repo)?.branches;
    const own = [...(branches?.keys() ?? [])].find((name) => name.startsWith("countersign/")) ?? "";
    road.ledger.ends.pushes();
    branches?.set(own, branches.get("main") ?? "");
    expect(() => road.ledger.ends.pushes()).toThrow(`${own}: it was at`);

    const put = walk("road", ({ platform }) => {
      const other = { name: `${"b".repeat(16)}/verifier`, alive: true };
      platform.timeline.after(100, "a put", () => {
        void as(other, () => platform.env.BLOBS.put(`${"a".repeat(16)}/branches/x`, "x"));
      });
    });
    await expect(put).rejects.toThrow(/another scope's/);
  });

  it("[SIM-38] the laws see what is wrong in D1: rows, links and checkpoints", () =>
    simulate("records", async (platform) => {
      const { ledger } = (await walkIn(platform, () => {}, roadPlan.replace("sleep 3", "sleep 400"))).road;
      await platform.pass(120_000); // a checkpoint before the task's end, and one after it
      expect(await checkRecords(platform, ledger.queues)).toBeGreaterThan(1);
      const run = (sql: string) => platform.database.prepare(sql).run();
      for (const [law, sql, queues = ledger.queues] of [
        ["is of scope", "UPDATE audit SET scope_id = 'bbbbbbbbbbbbbbbb' WHERE seq = 2"],
        ["is not the one it has", "UPDATE audit SET hash = prev_hash WHERE seq = 2"],
        ["telemetry of", "UPDATE telemetry SET scope_id = 'bbbbbbbbbbbbbbbb' WHERE seq = 1"],
        ["is not signed by a known key", "UPDATE checkpoints SET jws = jws || 'AAAA' WHERE seq = 1"],
        ["is not there", "DELETE FROM checkpoints WHERE seq = 1"],
        ["never had", "DELETE FROM audit", new QueueLaws()],
      ] as const) {
        await run("BEGIN");
        await run(sql);
        await expect(checkRecords(platform, queues), law).rejects.toThrow(law);
        await run("ROLLBACK");
      }
    }));

  it("[SIM-39] a power cut ends every object at once and loses what the queues held; the task comes to its end all the same", async () => {
    let lost = 0;
    for (const after_ms of [400, 1_700, 4_300]) {
      let cut = 0;
      const { view, road } = await walk("road", ({ platform }) => {
        platform.messages.slow_ms = 300;
        platform.timeline.after(after_ms, "the power fails", () => {
          platform.powerCut();
          cut = platform.objects().filter(({ alive, crashes }) => !alive && crashes === 1).length;
        });
      });
      expect({ after_ms, status: view.status, all: cut >= 2 }).toEqual({ after_ms, status: "done", all: true });
      lost += road.platform.messages.counts.lost;
    }
    expect(lost).toBeGreaterThan(0);
  });

  it("[SIM-35] a broken law names its seed, the command that replays it and what happened last", () => {
    const words = failure({ seed: "7", violation: "two holders", trace: ["1 begun", "2 broken"] }, 500);
    expect(words.split("\n")).toEqual([
      "1 begun",
      "2 broken",
      "SEED=7 two holders",
      "node test/simulation/run.ts scope --seed 7 --steps 500",
    ]);
  });

  it("[SIM-36] an open task that nothing will move is a broken law", () =>
    simulate("dead end", async (platform: Platform) => {
      const ledger = watchScopes(platform);
      const { installPrograms } = await import("./scope/programs.ts");
      const { askTask, makeScope } = await import("./scope/users.ts");
      installPrograms(platform);
      const scope = await makeScope(platform, "a");
      await platform.done(askTask(scope, { plan: roadPlan, key: "one" }));
      const { disk } = platform.object(`${scope.id}/runtime`);
      await platform.until(() => disk.all("SELECT 1 FROM approvals WHERE status = 'pending'").length > 0, 60_000);
      await platform.pass(60_000);
      ledger.lookForDeadEnds();
      disk.db.exec("UPDATE approvals SET status = 'superseded'");
      expect(() => ledger.lookForDeadEnds()).toThrow(Violation);
    }));
});
