/**
 * Real objects that are evicted and aborted between commands and in the middle of them. Commands run in batches inside
 * the object; COUNTERSIGN_EVICTIONS says how many lives end, and a failing run prints its seed. [OBJ-*]
 */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { judge } from "../simulation/history.ts";
import { random } from "../simulation/random.ts";
import { agentName, Chapter } from "./commands/chapter.ts";
import { Shaken, shakenRoad } from "./commands/shaken.ts";
import { entriesOf } from "./commands/told-by-chain.ts";
import { heldScope } from "./driven.ts";
import { audit, events, expectSound, hold, inRuntime, makeScope, type Scope } from "./scope.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly TEST_EVICTIONS: string;
      readonly TEST_SEED: string;
    }
  }
}

const asked = Number(env.TEST_EVICTIONS);
/** Most lives end among commands, the rest while calls are in flight. */
const lives = Math.ceil(asked * 0.7);
const seed = env.TEST_SEED === "" ? String(Date.now()) : env.TEST_SEED;
/** One object's story is judged whole, so it is told in chapters. */
const livesPerObject = 50;
const roadsPerScope = 6;

beforeEach(() => {
  // Calls that were cut off are said in the log by the hundred, and are what is meant here.
  vi.spyOn(console, "warn").mockReturnValue();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("an inbox whose object is evicted and aborted", () => {
  it(
    `[OBJ-1] [OBJ-2] [OBJ-3] [OBJ-4] stands as the plain queue says, whatever the moment (SEED=${seed}, ${lives} lives)`,
    async () => {
      const total = { evictions: 0, aborts: 0, alarms: 0, commands: 0 };
      for (let done = 0; done < lives; ) {
        const name = `${seed}/${done}`;
        const scope = await makeScope();
        await hold(scope, agentName);
        const chapter = new Chapter(scope, random(name));
        try {
          for (let life = 0; life < livesPerObject && done < lives; life++, done++) {
            await chapter.batch(false);
            if (chapter.random.chance(0.5)) await chapter.alarm();
            const how = chapter.random.int(10);
            if (how < 4) await chapter.evict();
            else if (how < 6) await chapter.abort();
            else await chapter.abortAmid();
          }
          await chapter.judged();
        } catch (error) {
          throw new Error(`COUNTERSIGN_SEED=${seed}: chapter ${name}: ${String(error)}`, { cause: error });
        }
        vi.useRealTimers();
        for (const key of ["evictions", "aborts", "alarms", "commands"] as const) total[key] += chapter.counts[key];
      }
      console.log(`evictions ${JSON.stringify({ seed, ...total })}`);
      expect(total.evictions + total.aborts).toBe(lives);
    },
    60_000 + lives * 1_000,
  );
});

describe("a scope whose objects are aborted while they are called", () => {
  it(
    `[OBJ-5] [OBJ-6] does everything once that it is asked by two at once and again (SEED=${seed}, ${asked - lives} aborts)`,
    async () => {
      const dice = random(`${seed}/calls`);
      const shaken = new Shaken(dice);
      let tasks = 0;
      let done = 0;
      while (shaken.aborts < asked - lives) {
        const scope = await heldScope();
        for (let road = 0; road < roadsPerScope; road++, tasks++)
          await shakenRoad(scope, shaken, dice, `task-${tasks}`).catch((error: unknown) => {
            throw new Error(`COUNTERSIGN_SEED=${seed}: task-${tasks}: ${String(error)}`, { cause: error });
          });
        done += await expectOnce(scope);
      }
      const { aborts, calls, answers } = shaken;
      console.log(`aborts ${JSON.stringify({ seed, aborts, calls, answers, tasks, done })}`);
      expect(done).toBeGreaterThan(0);
    },
    60_000 + asked * 1_000,
  );
});

/** Everything a scope has stored, once it was shaken: says how many of its tasks are done. */
async function expectOnce(scope: Scope): Promise<number> {
  await expectSound(scope);
  const links = await audit(scope);
  const { tasks, calls, rows } = await inRuntime(scope, (stores) => ({
    tasks: stores.rows.tasks.all(),
    calls: stores.rows.calls.all(),
    rows: stores.sql.all<{ queue: string; message_id: string; state: string }>(
      "SELECT queue, message_id, state FROM queue_rows",
    ),
  }));
  const done = tasks.filter(({ status }) => status === "done").length;
  const said = (type: string, decision: string) =>
    links.filter((link) => link.event_type === type && link.decision === decision).length;
  expect(said("merge", "merged")).toBeGreaterThanOrEqual(done);
  expect(said("effect", "intent")).toBe(calls.length);
  expect(said("effect", "outcome")).toBe(calls.length);
  const ends = (await events(scope)).filter(({ type }) => /^task_(complete|cancelled|failed|denied)$/.test(type));
  expect(ends.map(({ task_id }) => task_id).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
  const object = `${scope.id}/runtime`;
  const final = rows.map((row) => ({ ...row, queue: `${object}/${row.queue}` }));
  expect(judge({ entries: entriesOf({ object, links }), final })).toEqual([]);
  return done;
}
