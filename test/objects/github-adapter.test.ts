import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { githubFrom } from "../../src/adapters/github-world.ts";

const { bindings, repo, issue } = JSON.parse(env.TEST_GITHUB);

it("[GHA-22] GitHub is called from within workerd as from Node: signed, narrowed, read, refused", async () => {
  const { github, githubApp, githubTokens, missing } = githubFrom(
    { ...bindings, PUBLIC_URL: "https://x.example" },
    true,
  );
  expect(missing).toEqual([]);
  expect(await github.permission(repo, "alice")).toBe("maintain");
  expect(await github.head(repo, null)).toEqual({ branch: "main", sha: "a".repeat(40) });
  const { at, ...comment } = await github.createComment(repo, issue, "<!-- mark --> words");
  expect(await github.findComment(repo, issue, "<!-- mark -->")).toEqual(comment);
  expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  expect(await github.updateComment(repo, 1, "x")).toBeNull();
  const pull = await github.createPull(repo, { head: "countersign/t1", base: "main", title: "t", body: "b" });
  expect(await github.findPull(repo, "countersign/t1")).toMatchObject({ number: pull.number, draft: true });
  expect(await githubApp.repositories(repo.installation_id)).toMatchObject([{ id: repo.id }]);
  expect((await githubApp.deliveries(null)).items[0]?.id).toMatch(/^\d{19}$/);
  await expect(githubApp.redeliver("1")).rejects.toMatchObject({ code: "not_found" });
  const fresh = await githubTokens?.tokenFor(repo, { contents: "read" });
  await githubTokens?.revoke(fresh?.token ?? "");
});
