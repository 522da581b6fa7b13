import { hc } from "hono/client";
import { expect, it } from "vitest";
import type { Api } from "../../src/http/app.ts";
import { home } from "../fakes/door-ports.ts";
import { origin, repo, taskBody, world } from "./world.ts";

it("[HTTP-34] the app's type makes a client whose questions and answers are typed", async () => {
  const { app, deployment, runtime } = world();
  runtime.repoRows.set(repo.url, { url: repo.url, default_ref: "main", added_by: "x", added_at: "x" });
  const headers = { authorization: `Bearer ${deployment.token("submitter", home)}` };
  const api = hc<Api>(origin, { headers, fetch: app.request });
  const made = await api.api.tasks.$post({ json: taskBody, header: {} });
  if (made.status !== 202) throw new Error(`answered ${made.status}`);
  const task = await made.json();
  const phase: "discovery" | string = task.phase;
  expect([task.id, phase]).toEqual(["task-1", "discovery"]);
  // @ts-expect-error a field that tasks do not have
  expect(task.nothing).toBeUndefined();
  const none = await api.api.approvals[":id"].$get({ param: { id: "none" } });
  if (none.status === 404) expect((await none.json()).code).toBe("approval_not_found");
  expect(none.status).toBe(404);
});
