/** Payloads as GitHub sends them, of one repository and three people, with only what is read there and a little more. */
export const ids = { installation: 77, repository: 1296269 };
export const maintainer = { id: 1, login: "maintainer", type: "User" };
export const stranger = { id: 2, login: "stranger", type: "User" };
export const ourBot = { id: 3, login: "countersign[bot]", type: "Bot" };
export const otherBot = { id: 4, login: "renovate[bot]", type: "Bot" };
export const sha = "0123456789abcdef0123456789abcdef01234567";

export const repository = {
  id: ids.repository,
  full_name: "octo/pager",
  private: false,
  default_branch: "main",
  html_url: "https://github.com/octo/pager",
  owner: { id: 9, login: "octo", type: "Organization" },
};
export const identity = { app_id: 4711, slug: "countersign", bot_login: "countersign[bot]" };

type Json = Record<string, unknown>;
export function payload(action: string, more: Json, sender: Json = maintainer): Json {
  return { action, ...more, repository, sender, installation: { id: ids.installation } };
}
export function issue(more: Json = {}): Json {
  return {
    number: 5,
    title: "The pager loses a page",
    html_url: "https://github.com/octo/pager/issues/5",
    user: stranger,
    body: "It does.",
    labels: [{ name: "bug" }, { name: "countersign" }],
    updated_at: "2026-11-22T09:00:00Z",
    ...more,
  };
}
export function pull(branch = "countersign/t1", more: Json = {}, headRepository: number = ids.repository): Json {
  return {
    ...issue({ number: 6, html_url: "https://github.com/octo/pager/pull/6" }),
    head: { ref: branch, sha, repo: { id: headRepository } },
    base: { ref: "main", sha, repo: { id: ids.repository } },
    ...more,
  };
}
export function comment(body: string | null, more: Json = {}): Json {
  const said = { id: 900, user: maintainer, body, created_at: "2026-11-22T10:00:00Z" };
  return { ...said, performed_via_github_app: null, ...more };
}
export function check(more: Json = {}): Json {
  return {
    name: "test",
    head_sha: sha,
    external_id: "task-1",
    conclusion: "failure",
    completed_at: "2026-11-22T10:00:00Z",
    app: { id: 15368, slug: "github-actions" },
    output: { title: "2 failed", summary: "pager.test.ts" },
    check_suite: { head_branch: "countersign/t1" },
    pull_requests: [{ number: 6, head: { ref: "countersign/t1", sha, repo: { id: ids.repository } } }],
    ...more,
  };
}
