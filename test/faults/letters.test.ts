/** Faults around messages that nobody can take, and around code that is older than its data. */
import { expect } from "vitest";
import type { Disk } from "../simulation/platform/disk.ts";
import type { Rule } from "../simulation/platform/faults.ts";
import type { Road } from "../simulation/scope/single.ts";
import { later, named, row, runtime, survives, type Walked, whenStored } from "./road.ts";

/** The verifier's request cannot be begun, is tried and given up; when a person is asked, the reason is mended. */
function unreadable(road: Road): Rule[] {
  const verifier = named(road, "verifier");
  const broken = whenStored(road, verifier, "SELECT 1 FROM self", ({ db }) => {
    db.exec(`CREATE TEMP TABLE whole (seq INTEGER, body TEXT);
      CREATE TEMP TRIGGER broken AFTER INSERT ON queue_rows BEGIN
        INSERT INTO whole VALUES (NEW.seq, NEW.body);
        UPDATE queue_rows SET body = json_set(body, '$.payload', json('{"nonsense":true}')) WHERE seq = NEW.seq;
      END`);
  });
  const card = "SELECT 1 FROM approvals WHERE json_extract(doc, '$.kind') = 'dead_letter'";
  const mended = whenStored(road, named(road, "runtime"), card, () => {
    const { db } = road.platform.object(verifier).disk;
    db.exec(`DROP TRIGGER broken;
      UPDATE queue_rows SET body = (SELECT body FROM whole WHERE whole.seq = queue_rows.seq) WHERE seq IN (SELECT seq FROM whole)`);
  });
  return [broken, mended];
}
async function toldOnce(walking: Promise<Walked>): Promise<void> {
  const { disk } = runtime((await walking).road);
  const count = (sql: string) => disk.all(sql).length;
  expect(count("SELECT 1 FROM events WHERE type = 'dead_letter'")).toBe(1);
  expect(count("SELECT 1 FROM approvals WHERE json_extract(doc, '$.kind') = 'dead_letter'")).toBe(1);
}

row(
  "nack and dead letter",
  "[FLT-7] a message nobody can take is given up once, told once, and goes on when it is sent again",
  {
    "before commit": () =>
      toldOnce(
        survives((road) => [
          ...unreadable(road),
          road.platform.faults.crash({ object: named(road, "verifier"), at: "before", decision: "nacked" }),
          road.platform.faults.crash({ object: named(road, "verifier"), at: "before", wrote: "letters" }),
          road.platform.faults.crash({ object: named(road, "runtime"), at: "before", decision: "dead_letter" }),
        ]),
      ),
    "after commit, before reply": () =>
      toldOnce(
        survives((road) => [
          ...unreadable(road),
          road.platform.faults.crash({ object: named(road, "verifier"), at: "after", decision: "nacked" }),
          road.platform.faults.crash({ object: named(road, "verifier"), at: "after", wrote: "letters" }),
          road.platform.faults.crash({ object: named(road, "runtime"), at: "after", decision: "dead_letter" }),
        ]),
      ),
    "reply lost": () =>
      toldOnce(
        survives((road) => [
          ...unreadable(road),
          road.platform.faults.call({ to: named(road, "runtime"), method: "letterDied", lose: "reply", times: 3 }),
          road.platform.faults.call({ to: named(road, "verifier"), method: "revive", lose: "reply", times: 2 }),
          // The person takes longer than the verifier, who tells it again and again.
          road.platform.faults.call({
            to: named(road, "runtime"),
            from: "ada",
            method: "decide",
            nth: 2,
            delay_ms: 20_000,
          }),
        ]),
      ),
    slow: () =>
      toldOnce(
        survives((road) => [
          ...unreadable(road),
          road.platform.faults.call({ to: named(road, "runtime"), method: "letterDied", delay_ms: 90_000 }),
          road.platform.faults.call({ to: named(road, "verifier"), method: "revive", delay_ms: 90_000 }),
        ]),
      ),
  },
);

/** All that is stored, in the order of tables and rows. */
function stored({ db }: Disk): string {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return JSON.stringify(tables.map(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all()));
}
/** For a while only code that is older than the data runs. It must not write, and the newer finds what it left. */
function oldCode(road: Road, agent: string, sql: string, ms: number): Rule[] {
  const untouched: Rule = { fired: 0 };
  const object = named(road, agent);
  const begun = whenStored(road, object, sql, (disk) => {
    disk.db.exec("UPDATE schema_versions SET version = version + 1");
    const left = stored(disk);
    road.platform.object(object).crash("for a deployment of older code");
    later(road, ms, () => {
      if (stored(disk) === left) untouched.fired++;
      disk.db.exec("UPDATE schema_versions SET version = version - 1");
    });
  });
  return [begun, untouched];
}
const hour = 3_600_000;
row("old binary on new data", "[FLT-27] older code writes nothing on newer data, and the newer goes on where it was", {
  "before commit": null,
  "after commit, before reply": null,
  "reply lost": () =>
    survives((road) => [
      road.platform.faults.call({ to: named(road, "runtime"), method: "createTask", lose: "reply" }),
      ...oldCode(road, "runtime", "SELECT 1 FROM tasks", 300_000),
    ]),
  slow: () =>
    survives(
      (road) => [
        ...oldCode(road, "runtime", "SELECT 1 FROM approvals", 30 * 60_000),
        ...oldCode(road, "verifier", "SELECT 1 FROM queue_rows", 20 * 60_000),
      ],
      { within_ms: hour },
    ),
});
