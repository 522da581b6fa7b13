/** What the feed is told of an attempt's output. */
import { expect, it } from "vitest";
import type { AgentRemotes } from "../../durable-objects/agent/remotes.ts";
import type { Run } from "../../durable-objects/agent/runs.ts";
import { Shown } from "../../durable-objects/agent/shown.ts";
import { openStores } from "../../durable-objects/agent/stores.ts";
import type { OutputSockets } from "../../durable-objects/output-sockets.ts";
import { testMessage, testScope } from "../fakes/messages.ts";
import { nodeSql } from "../fakes/node-sql.ts";

it("[TERM-3] the feed is told what an attempt printed once, also when the same agent goes on with it after a wait", async () => {
  const stores = openStores(nodeSql());
  stores.self.start({ scope: testScope, name: "crew-1" }, 0);
  const told: { offset: number; text: string }[] = [];
  const noteOutput = async (_: string, { offset, text }: { offset: number; text: string }) => {
    told.push({ offset, text });
  };
  const remotes = { runtime: () => ({ noteOutput }) } as unknown as AgentRemotes; // nothing else of it is asked
  const sockets = { push: () => undefined } as unknown as OutputSockets; // no terminal is open
  const shown = new Shown(stores, sockets, remotes);
  const entry = (id: string, owner: string): Run => ({
    ...{ id, owner, message: testMessage(1), lease: { lease_id: id, epoch: 1 }, cancelled: false, state: null },
    ...{ opened_at: 0, next_at: 0, steps: 0, errors: 0, waits: false },
  });
  const prints = async (run: Run, text: string) => {
    stores.output.append(run.owner, new TextEncoder().encode(text));
    await shown.show(run, true);
  };
  await prints(entry("entry-0", "attempt-1"), "first\n");
  await prints(entry("other", "attempt-2"), "another's\n");
  await prints(entry("entry-1", "attempt-1"), "second\n");
  expect(told).toEqual([
    { offset: 0, text: "first\n" },
    { offset: 0, text: "another's\n" },
    { offset: 6, text: "second\n" },
  ]);
});
