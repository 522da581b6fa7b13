/** A task that is cancelled while a model is asked for it: the call ends at once, and the place it held is free. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { ModelFailure, type Models } from "../../src/agents/models.ts";
import { type Bindings, provideWorld } from "../../src/env.ts";
import { agentStub, inAgent, inObject, makeScope, must, task, until } from "./scope.ts";

/** A provider that never says anything. */
const asked: string[] = [];
const models: Models = {
  configured: (role) => (role === "proxy" ? ["test/silent"] : []),
  call: ({ signal }) =>
    new Promise((_, reject) => {
      asked.push("asked");
      const over = () => reject(new ModelFailure("timeout", "it was called off", { model: "test/silent" }));
      signal?.addEventListener("abort", over);
    }),
};

it("[MNB-4] cancelling a task ends the call of its proxy, which holds no place any more", async () => {
  const scope = await makeScope();
  for (const stub of [scope.stub, agentStub(scope, "proxy")])
    await inObject<object, void>(stub, async (object) => {
      const bindings: unknown = Reflect.get(object, "env");
      provideWorld(bindings as Bindings, { models }); // what the platform gave it when it was made
    });
  const repo = { url: env.TEST_REPO, ref: "main" };
  const wish = { title: "Say hello", description: "", labels: [], repo, register_repo: true };
  const { id } = must(await scope.runtime.createTask(scope.admin, wish, null)).body;
  await until(async () => (asked.length > 0 ? true : null));
  must(await scope.runtime.cancelTask(scope.admin, id, "enough"));
  await until(async () =>
    (await inAgent(scope, "proxy", ({ sql }) => sql.all("SELECT id FROM runs"))).length === 0 ? true : null,
  );
  expect(asked).toHaveLength(1);
  expect((await task(scope, id)).status).toBe("cancelled");
});
