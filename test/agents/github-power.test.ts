/** What GitHub's repositories may do and lend: a result under .github asks a person, and a private repository is a secret. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExecutionResult } from "../../src/domain/result.ts";
import { GithubScope, linked, wish } from "../fakes/github-scope.ts";
import { callerOf, type Held, must, planOf, shell } from "../fakes/held-scope.ts";

let at: GithubScope;
beforeEach(async () => {
  at = await new GithubScope().linked();
});
afterEach(() => at.close());

const file = ".github/dependabot.yml";
const plan = planOf([
  `id: a, runner: steps, verify: none, max_attempts: 1, allow: { tools: [shell_execute], paths: ['${file}'] }`,
]);

/** The attempt comes back with a patch of that file. */
async function changes(held: Held, path = file): Promise<void> {
  const { agent, ...ref } = held.ref;
  const { task_id, work_item_id, attempt_number } = held.message;
  const payload: ExecutionResult = {
    ...{ task_id: task_id ?? "", ...ref, end: "finished", success: true, output: "", events: [], tool_errors: [] },
    ...{ duration_ms: 1, exit_code: 0, suspension: null },
    patch: {
      key: "k",
      bytes: 1,
      tree: "f".repeat(40),
      files: [{ path, change: "added", old_mode: "000000", mode: "100644" }],
    },
  };
  const said = at.held.message(task_id ?? "", {
    ...{ message_kind: "execution_result", sender: agent, recipient: "runtime_queue", payload: { ...payload } },
    ...{ work_item_id, attempt_number },
  });
  await at.held.mailroom.deliver(said);
}

describe("files under .github", () => {
  it("[GHR-61] a result that touches them asks, unless a person approved the very plan that names them", async () => {
    const standing = callerOf("standing:abc");
    const id = await at.planned(plan);
    must(await at.held.approve(standing, at.held.card(id)));
    await changes(await at.held.begun());
    const card = at.held.card(id);
    expect(card).toMatchObject({ kind: "gate", rule: "patch_held_to_grant" });
    expect(card.card.facts).toEqual([`${file}: it is under .github, and no person has approved this plan`]);
    must(await at.held.approve(callerOf("ada#tok001"), card));
    expect(at.held.rows.verifications.ofTask(id)).toHaveLength(1);

    const next = await at.happens(wish({ thread: { ...wish().thread, number: 6 } }));
    await at.held.replan(next, plan);
    must(await at.held.approve(callerOf("ada#tok001"), at.held.card(next)));
    await changes(await at.held.begun());
    expect([at.held.cards(next), at.held.rows.verifications.ofTask(next).length]).toEqual([[], 1]);
  });
});

describe("a private repository", () => {
  it("[GHR-15] is a secret for the rule of two: what strangers asked for may not reach out of it unseen", async () => {
    const open = planOf([
      "id: a, runner: steps, verify: none, allow: { tools: [shell_execute], commands: ['curl https://a.example'], hosts: [a.example] }",
    ]);
    const told = async (is_private: boolean, number: number) => {
      await at.linked({ ...linked, private: is_private });
      const id = await at.happens(wish({ thread: { ...wish().thread, number }, texts: [] }));
      await at.held.replan(id, open);
      must(await at.held.approve(callerOf("ada#tok001"), at.held.card(id)));
      const held = await at.held.begun();
      return at.held.authorize(held, shell("curl https://a.example"));
    };
    const [seen, secret] = [await told(false, 7), await told(true, 8)];
    expect([seen.answer, secret.answer]).toEqual(["run", "wait"]);
  });
});

it("[GHO-47] an item's title keeps no checks from running on its commit", async () => {
  const plan = planOf([
    "id: a, title: 'Fix it [skip ci] ***NO_CI***', runner: steps, verify: none, max_attempts: 1, allow: { paths: ['src/**'] }",
  ]);
  const id = await at.happens(wish());
  await at.held.replan(id, plan);
  must(await at.held.approve(callerOf("ada#tok001"), at.held.card(id)));
  await changes(await at.held.begun(), "src/x.txt");
  const waiting = at.held.scope.stores.outbox.due(Number.MAX_SAFE_INTEGER, 1_000);
  const order = waiting.find(({ message }) => message.message_kind === "verification_request")?.message;
  expect(String(order?.payload.title).split("\n")[0]).toBe("Fix it [ skip ci] ** *NO_CI** *");
});
