/** Random walks over everything that can happen to an approval, through the runtime's own functions. */
import { execFile } from "node:child_process";
import { describe, expect, it } from "vitest";
import { HeldScope, missing } from "../fakes/held-scope.ts";
import { replayOf, seedsOf } from "./approvals/main.ts";
import { story } from "./approvals/story.ts";
import { Witness } from "./approvals/witness.ts";

/** The soak makes 200,000. */
const walks = Number(process.env.COUNTERSIGN_WALKS ?? 1_000);
const seed = process.env.SEED ?? "1";

function run(...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["test/simulation/run.ts", "approvals", ...args],
      { maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : (child.exitCode ?? 1), said: `${stdout}${stderr}` }),
    );
  });
}

describe("walks over approvals", () => {
  it("[WALK-1] what ran, ran under one unexpired token for exactly its bytes; a card is decided once; losers hear of the winner", async () => {
    const { said } = await run("--seed", seed, "--walks", String(walks), "--jobs", "2", "--json");
    const { approvals } = JSON.parse(said);
    expect(approvals.failures.map((failure: { seed: string }) => [failure, replayOf(failure.seed)])).toEqual([]);
    expect(approvals.walks).toBeGreaterThanOrEqual(walks);
    // A walk on which nothing ever ran would break nothing either.
    const often = ["ran by a person's yes", "ran by plan or policy", "first yes", "approve", "deny"];
    const seen = ["request_changes", "card expired", "card superseded", "run again", "refused: content_changed"];
    for (const what of often) expect(approvals.counts[what], what).toBeGreaterThan(walks / 50);
    for (const what of [...seen, "refused: forbidden"]) expect(approvals.counts[what], what).toBeGreaterThan(0);
    expect(approvals.counts["refused: already_resolved"]).toBeGreaterThan(walks / 4);
  });

  it("[WALK-2] the same seed makes the same choices, and a failure names the command that makes them again", async () => {
    const shape = ({ steps, counts }: Awaited<ReturnType<typeof story>>) => ({ steps, counts });
    const one = await story("same", 10);
    expect(shape(await story("same", 10))).toEqual(shape(one));
    expect(shape(await story("other", 10))).not.toEqual(shape(one));
    expect([seedsOf("7", 50), seedsOf("7.3", 50)]).toEqual([["7.0", "7.1", "7.2"], ["7.3"]]);
    expect(replayOf("7.3")).toContain("approvals --seed 7.3");
    expect((await run("--walks", "none")).code).toBe(2);
  });

  it.each(["1001.32", "1101.43"])("[WALK-4] story %s, which once failed, is green", async (failed) => {
    expect(await story(failed, 20)).toMatchObject({ violation: null });
  });

  it("[WALK-3] the witness sees what it is there to see", async () => {
    const held = new HeldScope();
    const witness = new Witness(held);
    const ref = { attempt_id: "p.a.1", entry: 0, lease_id: "l", epoch: 1, agent: "crew-1" };
    const call = { call_id: "step-1", step: 0, tool: "shell_execute", arguments: "{}", tree: null };
    expect(() => witness.ran(ref, call, true)).toThrow("nothing is on record");
    const task_id = await held.planned();
    const card = held.card(task_id);
    const row = held.rows.approvals.get(card.id) ?? missing("card");
    held.rows.approvals.put({ ...row, status: "denied" });
    expect(() => witness.look(task_id)).toThrow("nobody says why");
    held.close();
  });
});
