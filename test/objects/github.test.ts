/** From a delivery to a decision through the real objects: runtime, platform queue and courier, over a GitHub in memory. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { githubOf } from "../../durable-objects/remote.ts";
import { sha256Hex } from "../../src/domain/canonical.ts";
import type { Happening } from "../../src/domain/github/shapes.ts";
import { type Bindings, provideWorld } from "../../src/env.ts";
import { FakeGithub, repository } from "../fakes/github.ts";
import { oneItem, planResult } from "./driven.ts";
import { expectSound, hold, inObject, makeScope, missing, onlyCard, task, until } from "./scope.ts";

const alice = { id: 1, login: "alice", is_bot: false };
const bob = { id: 2, login: "bob", is_bot: false };
const thread = {
  ...{ kind: "issue" as const, number: 5, title: "Greet", url: "https://github.com/octo/sample/issues/5", head: null },
};
const wish: Happening = {
  ...{ kind: "wish", trigger: "label", by: alice, thread, labels: ["countersign"], follows: null, comment_id: null },
  texts: [{ by: bob, text: "Say hello.<!-- and more -->", cut: false }],
};

describe("GitHub", () => {
  it("[GHR-30] [GHR-40] a labelled issue becomes a task within seconds, its card is shown there and decided there, once each", async () => {
    const scope = await makeScope();
    await hold(scope, "proxy", "planner", "verifier", "crew-1");
    const fake = new FakeGithub();
    for (const name of ["alice", "bob"]) fake.permissions.set(name, name === "alice" ? "write" : "read");
    const courier = env.AGENT.getByName(`${scope.id}/courier`);
    for (const stub of [scope.stub, courier])
      await inObject<{ readonly env: Bindings }, void>(stub, async (object) =>
        provideWorld(object.env, { github: fake.port }),
      );
    const github = githubOf(env, scope.id);
    await github.githubLinked(scope.id, [repository]);
    const delivery = { delivery_id: `delivery-${scope.id}`, repository, happening: wish };
    const answers = await Promise.all(
      [1, 2, 3].map(() => github.githubDelivery(scope.id, delivery, sha256Hex("label"))),
    );
    expect(answers.toSorted()).toEqual(["claimed", "seen", "seen"]);

    const { items } = await until(async () => {
      const page = await scope.runtime.tasks(scope.admin, { limit: 10, cursor: null, status: null });
      return page.ok && page.value.items.length > 0 ? page.value : null;
    });
    const [made = missing("task")] = items;
    expect(made).toMatchObject({ title: "Greet", created_by: "github:alice" });
    await scope.runtime.observe(await planResult(scope, made.id, oneItem));
    const card = await onlyCard(scope, made.id);
    expect(card.card).toMatchObject({
      taint: "outsider",
      asked_by: { by: "github:alice" },
      hidden: [expect.stringContaining("and more")],
    });
    const hash = card.content_hash.slice(0, 12);
    await until(async () => fake.comments.at(-1)?.bodies.at(-1)?.includes(hash) ?? null);

    const click: Happening = {
      ...{ kind: "decision", what: "approve", by: alice, reason: null, hash, via: "button", thread: null },
      ...{ said_at: new Date().toISOString(), task_id: made.id },
    };
    const clicked = { ...delivery, delivery_id: `click-${scope.id}`, happening: click };
    await github.githubDelivery(scope.id, clicked, sha256Hex("click"));
    await until(async () => (await task(scope, made.id)).status === "active");
    const stands = await until(async () => (await github.githubLink(scope.id, repository.id)) ?? null);
    expect(stands.state).toBe("linked");
    await github.githubUnlinked(scope.id, [repository.id], "removed");
    expect(await task(scope, made.id)).toMatchObject({ status: "cancelled" });
    expect([fake.comments.length, fake.checks.length, fake.pulls.length]).toEqual([1, 1, 0]);
    await expectSound(scope);
  });
});
