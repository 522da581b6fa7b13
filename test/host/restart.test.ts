/** What the host remembers after it was killed. */

import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure, finish, scripts, shell, text } from "../contract/programs.ts";
import { eventually, World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world?.close());

describe("a restart of the host", () => {
  it("[SBX-31] finished calls keep their end and output; what ran is unknown, dead, and never run again", async () => {
    const id = await world.fresh();
    await world.run(id, scripts.edit);
    await world.sandboxes.exec(id, "done", { argv: shell(scripts.speak), timeout_ms: 5_000 });
    await finish(world.sandboxes, id, "done");
    const word = `sleep-${process.pid}-restart`;
    const lingering = { argv: shell(`echo x >> count.txt; exec -a ${word} sleep 300`), timeout_ms: 60_000 };
    await world.sandboxes.exec(id, "ran", lingering);
    const alive = () => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).includes(`${word} 300`);
    expect(await eventually(alive)).toBe(true);
    const before = await world.sandboxes.snapshot(id);
    await world.restart();
    const s = world.sandboxes;
    expect(await eventually(() => !alive())).toBe(true);
    expect(await s.outcome(id, "done")).toMatchObject({ state: "exited", exit_code: 0 });
    expect(text((await s.wait(id, "done", 0, 0)).chunk)).toBe("out\nerr\nend\n");
    expect(await s.outcome(id, "ran")).toEqual({ state: "unknown" });
    await s.exec(id, "ran", lingering);
    expect(await s.outcome(id, "ran")).toEqual({ state: "unknown" });
    expect((await s.snapshot(id)).tree).toBe(before.tree);
    expect(text(await s.read(id, "count.txt"))).toBe("x\n");
    expect((await s.sandboxes()).map((each) => each.id)).toContain(id);
    expect(await failure(s.exec(id, "done", { argv: ["true"], timeout_ms: 5_000 }))).toBe("call_mismatch");
    expect((await world.run(id, "echo on")).output).toBe("on\n");
    await s.destroy(id);
  });

  it("[SBX-31] a terminal of the host before is unknown and takes nothing", async () => {
    const id = await world.fresh();
    await world.sandboxes.openPty(id, "t", { argv: ["bash", "-i"], cols: 80, rows: 24, timeout_ms: 60_000 });
    await world.restart();
    expect((await world.sandboxes.readPty(id, "t", 0, 0)).outcome).toEqual({ state: "unknown" });
    expect(await failure(world.sandboxes.writePty(id, "t", new Uint8Array([65])))).toBe("no_such_call");
  });
});
