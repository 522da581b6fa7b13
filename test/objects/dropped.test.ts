/** What a person drops for good: whatever waited for it ends, and no task is left that nothing will move. */
import { describe, expect, it } from "vitest";
import {
  asked,
  attempts,
  begun,
  carried,
  countersigned,
  type Driven,
  heldScope,
  openVerification,
  result,
  verdict,
} from "./driven.ts";
import { agent, deny, inAgent, inRuntime, must, pending, setAgentState, task, taskRow, until } from "./scope.ts";

/** The card of the letter that its stopped addressee refused, denied. */
async function drop({ scope, task_id }: Pick<Driven, "scope" | "task_id">) {
  await scope.runtime.sweep(scope.id);
  const card = await until(async () => (await pending(scope, task_id)).find((each) => each.kind === "dead_letter"));
  must(await deny(scope, card, "drop it"));
  return card;
}

describe("a dropped letter", () => {
  it("[DL-14] that asked for a verification ends its attempt, and a fresh one takes its place; the verdict is too late", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await setAgentState(scope, "verifier", "stopped");
    await scope.runtime.deliver(await result(driven, await begun(scope)));
    const open = await openVerification(driven);
    await drop(driven);
    expect(await attempts(driven)).toMatchObject([
      { state: "crashed", detail: "a person dropped its verification request, which could not be delivered" },
      { state: "due" },
    ]);
    await scope.runtime.deliver(await verdict(driven, open));
    expect(await inRuntime(scope, ({ rows }) => rows.verifications.get(open.id)?.state)).toBe("void");
    expect((await task(scope, task_id)).status).toBe("active");
  });

  it("[DL-14] that asked for the push ends the task: nothing was published", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    const held = await begun(scope);
    await scope.runtime.deliver(await result(driven, held));
    const open = await openVerification(driven);
    // Else the first request would die as well, and its card be the one that is dropped.
    await until(() => inAgent(scope, "verifier", ({ queue }) => queue.depth("inbox", Date.now()).queued === 1));
    await setAgentState(scope, "verifier", "stopped");
    await scope.runtime.deliver(await verdict(driven, open));
    await drop(driven);
    expect(await taskRow(scope, task_id)).toMatchObject({
      status: "failed",
      reason: "Not published: a person dropped its verification request, which could not be delivered",
      publishing: null,
    });
  });

  it("[DL-14] that asked for a plan ends a task that has none", async () => {
    const scope = await heldScope();
    await setAgentState(scope, "proxy", "stopped");
    const task_id = must(await asked(scope)).body.id;
    await drop({ scope, task_id });
    expect(await task(scope, task_id)).toMatchObject({
      status: "failed",
      reason: "No plan: a person dropped its user message, which could not be delivered",
    });
  });

  it("[DL-11] that can no longer be read still becomes a card of its task, and dropped it ends what waits for it", async () => {
    const scope = await heldScope();
    const task_id = must(await asked(scope)).body.id;
    await until(() => inAgent(scope, "proxy", ({ queue }) => queue.depth("inbox", Date.now()).queued === 1));
    await inAgent(scope, "proxy", ({ sql }) => sql.run("UPDATE queue_rows SET body = '{broken'"));
    await setAgentState(scope, "proxy", "active");
    await agent(scope, "proxy").poke(scope.id);
    const card = await drop({ scope, task_id });
    expect(card.card.facts).toContain("Reason: the stored message cannot be read");
    expect(await task(scope, task_id)).toMatchObject({ status: "failed" });
  });

  it("[DL-14] that asked for a verification and can no longer be read ends the attempt that waits for it all the same", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    await scope.runtime.deliver(await result(driven, await begun(scope)));
    await openVerification(driven);
    await until(() => inAgent(scope, "verifier", ({ queue }) => queue.depth("inbox", Date.now()).queued === 1));
    await inAgent(scope, "verifier", ({ sql }) => sql.run("UPDATE queue_rows SET body = '{broken'"));
    await setAgentState(scope, "verifier", "active");
    await agent(scope, "verifier").poke(scope.id);
    await drop(driven);
    expect(await attempts(driven)).toMatchObject([{ state: "crashed" }, { state: "due" }]);
  });

  it("[DL-14] that only told of something changes nothing else", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await setAgentState(scope, "proxy", "stopped");
    await carried(driven, await begun(scope));
    await drop(driven);
    expect(await attempts(driven)).toMatchObject([{ state: "done" }]);
    expect((await task(scope, task_id)).status).toBe("active");
  });
});
