import { verify } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { GithubFailure } from "../../src/agents/github-port.ts";
import { limits } from "../../src/limits.ts";
import { failureOf, fakeGithub, json, publicKey, repo, sha } from "./github-fetch.ts";

const comment = (id: number, over: object = {}) => ({
  id,
  html_url: `https://github.com/acme/shop/issues/1#${id}`,
  body: "<!-- mark --> text",
  user: { login: "countersign-app[bot]" },
  performed_via_github_app: null,
  ...over,
});
const next = {
  link: '<https://api.github.com/next?page=2&cursor=v1_9>; rel="next", <https://api.github.com/x>; rel="last"',
};
const claimsOf = (authorization: string) => {
  const [header = "", payload = "", signature = ""] = authorization.replace(/^bearer /i, "").split(".");
  const good = verify(
    "RSA-SHA256",
    Buffer.from(`${header}.${payload}`),
    publicKey,
    Buffer.from(signature, "base64url"),
  );
  return { good, ...JSON.parse(Buffer.from(payload, "base64url").toString()) };
};
const held = () => json(200, { permission: "write", role_name: "write" });

describe("who calls GitHub", () => {
  it("[GHA-4] the App signs for itself, a minute back and for less than ten minutes", async () => {
    const { githubApp, sent, now } = fakeGithub([json(404, {})]);
    await githubApp.installation(9);
    const now_s = now.ms / 1_000;
    expect(claimsOf(sent[0]?.authorization ?? "")).toEqual({
      good: true,
      iss: "77",
      iat: now_s - 60,
      exp: now_s + 540,
    });
  });

  it("[GHA-4] where GitHub says that the clocks differ, it signs once more by GitHub's clock", async () => {
    const late = "'Expiration time' claim ('exp') is too far in the future";
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const { githubApp, sent } = fakeGithub([json(401, { message: late }, { date }), json(404, {})]);
    expect(await githubApp.installation(9)).toBeNull();
    const [before, after] = sent.map(({ authorization }) => claimsOf(authorization).exp);
    expect(Math.abs(before - after - 3_600)).toBeLessThan(5);
    const stuck = fakeGithub([json(401, { message: late }, { date }), json(401, { message: late }, { date })]);
    expect(await failureOf(stuck.githubApp.installation(9))).toMatchObject({ code: "unauthorized", retryable: false });
    expect(stuck.sent).toHaveLength(2);
  });

  it("[GHA-6] a token is narrowed to the repository and to what the call needs, and used again for the same until five minutes before its end", async () => {
    const { github, made, sent, now } = fakeGithub([held(), held(), held(), held(), json(201, comment(1))]);
    await github.permission(repo, "alice");
    await github.permission(repo, "bob");
    expect(made.map(({ url, body }) => [url.pathname, body])).toEqual([
      ["/app/installations/9/access_tokens", { repository_ids: [5], permissions: { metadata: "read" } }],
    ]);
    expect(sent.map(({ authorization }) => authorization)).toEqual(Array(2).fill("token ghs_token1_of_the_tests"));
    now.ms += 3_600_000 - limits.github_token_early_ms - 1;
    await github.permission(repo, "bob");
    expect(made).toHaveLength(1);
    now.ms += 1;
    await github.permission({ ...repo }, "bob");
    expect(made).toHaveLength(2);
    await github.createComment(repo, 1, "x");
    expect(made[2]?.body).toEqual({ repository_ids: [5], permissions: { issues: "write", pull_requests: "write" } });
  });

  it("[GHA-6] another repository and another installation get tokens of their own", async () => {
    const { github, made } = fakeGithub([held(), held(), held()]);
    for (const one of [repo, { ...repo, id: 6 }, { ...repo, installation_id: 10 }]) await github.permission(one, "a");
    expect(made).toHaveLength(3);
  });

  it("[GHA-7] a token that GitHub no longer takes is replaced once, and the call made again", async () => {
    const bad = () => json(401, { message: "Bad credentials" });
    const { github, made, sent } = fakeGithub([held(), bad(), held(), bad(), bad()]);
    await github.permission(repo, "a");
    expect(await github.permission(repo, "a")).toBe("write");
    expect([made.length, sent.length]).toEqual([2, 3]);
    expect(await failureOf(github.permission(repo, "a"))).toMatchObject({ code: "unavailable", retryable: true });
    expect([made.length, sent.length]).toEqual([3, 5]);
  });

  it.each([
    [404, "Not Found", "suspended"],
    [403, "This installation has been suspended", "suspended"],
    [
      422,
      "There is at least one repository that does not exist or is not accessible to the parent installation.",
      "suspended",
    ],
    [422, "The permissions requested are not granted to this installation.", "forbidden"],
    [401, "A JSON web token could not be decoded", "unauthorized"],
    [500, "", "unavailable"],
    [403, "API rate limit exceeded", "rate_limited"],
  ])(
    "[GHA-13] a token that is not given (%i %s) fails the call as %s, and nothing is asked",
    async (status, message, code) => {
      const { github, sent } = fakeGithub([], { tokens: [json(status, { message })] });
      expect((await failureOf(github.permission(repo, "a"))).code).toBe(code);
      expect(sent).toEqual([]);
    },
  );

  it("[GHA-18] a token for git is new each time and narrowed; revoking it never fails", async () => {
    const {
      githubTokens: tokens,
      made,
      sent,
    } = fakeGithub([new Response(null, { status: 204 }), new TypeError("broken")]);
    const [one, two] = [
      await tokens?.tokenFor(repo, { contents: "read" }),
      await tokens?.tokenFor(repo, { contents: "read" }),
    ];
    expect(one?.token).not.toBe(two?.token);
    expect(made[1]?.body).toEqual({ repository_ids: [5], permissions: { contents: "read" } });
    await tokens?.revoke(one?.token ?? "");
    await tokens?.revoke(two?.token ?? "");
    expect(sent.map(({ method, url, authorization }) => [method, url.pathname, authorization])).toEqual([
      ["DELETE", "/installation/token", "token ghs_token1_of_the_tests"],
      ["DELETE", "/installation/token", "token ghs_token2_of_the_tests"],
    ]);
  });
});

describe("what GitHub answers", () => {
  it("[GHA-8] only what our App wrote or made counts, on every page, and the oldest of it", async () => {
    const strangers = [
      comment(1, { user: { login: "stranger" } }),
      comment(2, { body: "nothing" }),
      comment(3, { user: null }),
    ];
    const other = comment(4, { user: { login: "other[bot]" }, performed_via_github_app: { id: 78 } });
    const ours = comment(5, { user: { login: "alice" }, performed_via_github_app: { id: 77 } });
    const { github, sent } = fakeGithub([json(200, [...strangers, other], next), json(200, [ours, comment(6)])]);
    expect((await github.findComment(repo, 1, "<!-- mark -->"))?.id).toBe(5);
    expect(sent.map(({ url }) => url.searchParams.get("page"))).toEqual(["1", "2"]);
    expect(await fakeGithub([json(200, strangers)]).github.findComment(repo, 1, "<!-- mark -->")).toBeNull();

    const run = (id: number, app: number, external_id: string) => ({
      id,
      head_sha: sha,
      html_url: null,
      external_id,
      app: { id: app },
    });
    const runs = [
      json(200, { check_runs: [run(3, 78, "t"), run(20, 77, "t")] }, next),
      json(200, { check_runs: [run(11, 77, "t"), run(10, 77, "u")] }),
    ];
    const found = await fakeGithub(runs).github.findCheck(repo, sha, "t");
    expect(found).toEqual({ id: 11, sha, url: "https://github.com/acme/shop/runs/11" });
  });

  it("[GHA-8] a thread too long to be looked through is a failure, not an empty one", async () => {
    const pages = Array.from({ length: limits.github_comment_pages + 1 }, () =>
      json(200, [comment(1, { user: null })], next),
    );
    const { github, sent } = fakeGithub(pages);
    expect((await failureOf(github.findComment(repo, 1, "<!-- mark -->"))).code).toBe("invalid");
    expect(sent).toHaveLength(limits.github_comment_pages);
  });

  it("[GHA-24] when a comment or a check run was written is said by GitHub's own clock; where it does not say, nobody does", async () => {
    const check = { id: 3, head_sha: sha, html_url: null };
    const look = {
      ...({ name: "n", external_id: "t1", details_url: null, status: "in_progress", conclusion: null } as const),
      ...{ title: "t", summary: "s", text: null, actions: [] },
    };
    const calls = [
      [comment(1), (it: ReturnType<typeof fakeGithub>) => it.github.createComment(repo, 1, "x")],
      [comment(1), (it: ReturnType<typeof fakeGithub>) => it.github.updateComment(repo, 1, "x")],
      [check, (it: ReturnType<typeof fakeGithub>) => it.github.createCheck(repo, sha, look)],
      [check, (it: ReturnType<typeof fakeGithub>) => it.github.updateCheck(repo, 3, look)],
    ] as const;
    for (const [answer, call] of calls) {
      const told = fakeGithub([json(200, answer, { date: "Sun, 01 Mar 2026 12:00:01 GMT" })]);
      expect(await call(told)).toMatchObject({ id: answer.id, at: "2026-03-01T12:00:01.000Z" });
      for (const headers of [{}, { date: "soon" }])
        expect(await call(fakeGithub([json(200, answer, headers)]))).toMatchObject({ id: answer.id, at: null });
    }
  });

  it("[GHA-9] the pull request of a branch is the newest from the same repository, open or closed", async () => {
    const pull = (number: number, head: object = {}, state = "open") => ({
      number,
      html_url: `https://github.com/acme/shop/pull/${number}`,
      state,
      draft: true,
      head: { ref: "countersign/t", sha, repo: { id: 5 }, ...head },
      base: { ref: "main", sha, repo: { id: 5 } },
    });
    const fork = pull(9, { repo: { id: 6 } });
    const gone = pull(10, { repo: null });
    const longer = pull(8, { ref: "countersign/t2" });
    const { github, sent } = fakeGithub([
      json(200, [fork, gone, longer, pull(3), pull(7, {}, "closed")]),
      json(200, [fork]),
    ]);
    expect(await github.findPull(repo, "countersign/t")).toMatchObject({
      number: 7,
      state: "closed",
      same_repository: true,
    });
    expect(Object.fromEntries(sent[0]?.url.searchParams ?? [])).toMatchObject({
      head: "acme:countersign/t",
      state: "all",
    });
    expect(await github.findPull(repo, "countersign/t")).toBeNull();
  });

  it.each([
    [{ permission: "admin", role_name: "admin" }, "admin"],
    [{ permission: "write", role_name: "maintain" }, "maintain"],
    [{ permission: "read", role_name: "triage" }, "triage"],
    [{ permission: "read", role_name: "admin" }, "read"],
    [{ permission: "read", role_name: "maintain" }, "read"],
    [{ permission: "write", role_name: "release-crew" }, "write"],
    [{ permission: "none" }, "none"],
    [{ permission: "owner" }, "none"],
  ])("[GHA-19] %j counts as %s", async (told, counts) => {
    expect(await fakeGithub([json(200, told)]).github.permission(repo, "alice")).toBe(counts);
  });

  it("[GHA-19] somebody GitHub does not know may nothing", async () => {
    expect(await fakeGithub([json(404, { message: "alice is not a user" })]).github.permission(repo, "alice")).toBe(
      "none",
    );
  });

  it("[GHA-20] a draft is opened as an ordinary one where GitHub has none, and any other refusal stands", async () => {
    const made = {
      number: 4,
      html_url: "u",
      state: "open",
      draft: false,
      head: { ref: "h", sha },
      base: { ref: "b", sha },
    };
    const none = json(422, { message: "Draft pull requests are not supported in this repository." });
    const { github, sent } = fakeGithub([
      none,
      json(201, made),
      json(422, { message: "No commits between main and draft" }),
    ]);
    const pull = { head: "h", base: "b", title: "t", body: "x" };
    expect(await github.createPull(repo, pull)).toEqual({ number: 4, url: "u" });
    expect(sent.map(({ body }) => body)).toEqual([
      { ...pull, draft: true },
      { ...pull, draft: false },
    ]);
    expect((await failureOf(github.createPull(repo, pull))).code).toBe("invalid");
    expect(sent).toHaveLength(3);
  });

  it("[GHA-16] says whose the App and an installation are: a person, an organisation or an enterprise", async () => {
    const { githubApp } = fakeGithub([
      json(200, { owner: { id: 3, login: "acme" } }),
      json(200, { owner: { id: 3, slug: "megacorp", name: "Mega" } }),
      json(200, { owner: null }),
      json(200, { id: 9, account: { id: 3, slug: "megacorp" } }),
      json(200, { id: 9, account: null }),
    ]);
    expect([await githubApp.owner(), await githubApp.owner(), await githubApp.owner()]).toEqual([
      { id: 3, name: "acme" },
      { id: 3, name: "megacorp" },
      null,
    ]);
    expect([(await githubApp.installation(9))?.account, (await githubApp.installation(9))?.account]).toEqual([
      { id: 3, name: "megacorp" },
      null,
    ]);
  });
  it("[GHA-16] all repositories of an installation are listed, page by page, or the call is refused", async () => {
    const one = (id: number) => ({ id, full_name: `acme/r${id}`, private: true, default_branch: "main" });
    const { githubApp, made } = fakeGithub([
      json(200, { repositories: [one(1), one(2)] }, next),
      json(200, { repositories: [one(2), one(3)] }),
    ]);
    expect((await githubApp.repositories(9)).map(({ id, installation_id }) => [id, installation_id])).toEqual([
      [1, 9],
      [2, 9],
      [3, 9],
    ]);
    expect(made[0]?.body).toEqual({ permissions: { metadata: "read" } });
    const endless = Array.from({ length: limits.github_repository_pages + 1 }, () =>
      json(200, { repositories: [one(1)] }, next),
    );
    expect((await failureOf(fakeGithub(endless).githubApp.repositories(9))).code).toBe("invalid");
    // Where the first page says that there are more, no other is asked for.
    const total_count = limits.github_page * limits.github_repository_pages + 1;
    const many = fakeGithub([json(200, { total_count, repositories: [one(1)] }, next)]);
    expect((await failureOf(many.githubApp.repositories(9))).message).toContain("covers more than 5000 repositories");
  });

  it("[GHA-17] deliveries have exact ids of any length, and the next page by its cursor", async () => {
    const text =
      '[{"id":3804004623172239366,"guid":"g","delivered_at":"2026-01-01T00:00:00Z","redelivery":false,"status_code":502},{"id":7,"guid":"h","delivered_at":"2026-01-01T00:00:00Z","redelivery":true,"status_code":202}]';
    const page = new Response(text, { headers: { "content-type": "application/json", ...next } });
    const { githubApp, sent } = fakeGithub([page, json(200, []), json(202, {})]);
    const first = await githubApp.deliveries(null);
    expect(first.items.map(({ id, ok, redelivery }) => [id, ok, redelivery])).toEqual([
      ["3804004623172239366", false, false],
      ["7", true, true],
    ]);
    expect(await githubApp.deliveries(first.next)).toEqual({ items: [], next: null });
    await githubApp.redeliver("3804004623172239366");
    expect(sent[1]?.url.searchParams.get("cursor")).toBe("v1_9");
    expect(sent[2]?.url.pathname).toBe("/app/hook/deliveries/3804004623172239366/attempts");
  });
});

describe("what goes wrong with GitHub", () => {
  it.each([
    ["retry-after in seconds", 403, "", { "retry-after": "7" }, 7_000],
    ["retry-after as a date", 429, "", { "retry-after": "Mon, 01 Jun 2026 00:00:30 GMT" }, 30_000],
    [
      "the quota's end",
      403,
      "API rate limit exceeded",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1780272090" },
      90_000,
    ],
    [
      "its words alone",
      403,
      "You have exceeded a secondary rate limit.",
      { "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1780275600" },
      60_000,
    ],
    ["429 alone", 429, "", {}, 60_000],
    ["a time that is over", 403, "", { "retry-after": "0" }, 1_000],
    ["a time without end", 429, "", { "retry-after": "999999999" }, 3_600_000],
  ])("[GHA-12] a limit says how long to wait: %s", async (_name, status, message, headers, wait_ms) => {
    const { github, sent } = fakeGithub([json(status, { message }, headers)]);
    expect(await failureOf(github.permission(repo, "a"))).toMatchObject({
      code: "rate_limited",
      retryable: true,
      retry_after_ms: wait_ms,
    });
    expect(sent).toHaveLength(1);
  });

  it.each([
    [403, "Resource not accessible by integration", "forbidden", false],
    [403, "This installation has been suspended", "suspended", false],
    [451, "Repository access blocked", "forbidden", false],
    [422, "Validation Failed", "invalid", false],
    [400, "Problems parsing JSON", "invalid", false],
    [409, "Conflict", "invalid", false],
    [410, "Issues are disabled for this repo", "not_found", false],
    [404, "Not Found", "not_found", false],
    [500, "", "unavailable", true],
    [502, "", "unavailable", true],
    [503, "", "unavailable", true],
  ])("[GHA-13] %i %s is %s", async (status, message, code, retryable) => {
    const failure = await failureOf(fakeGithub([json(status, { message })]).github.createComment(repo, 1, "x"));
    expect(failure).toMatchObject({ code, retryable, retry_after_ms: null });
    expect(failure.message).toContain(message);
  });

  it("[GHA-13] what is gone is null where it is looked at or changed", async () => {
    const gone = () => json(404, { message: "Not Found" });
    const { github } = fakeGithub([
      gone(),
      gone(),
      gone(),
      gone(),
      json(410, {}),
      json(409, { message: "Git Repository is empty." }),
    ]);
    const check = {
      name: "n",
      external_id: "t",
      details_url: null,
      status: "queued",
      conclusion: null,
      title: "",
      summary: "",
      text: null,
      actions: [],
    } as const;
    expect(await github.pull(repo, 1)).toBeNull();
    expect(await github.head(repo, "x")).toBeNull();
    expect(await github.updateCheck(repo, 1, check)).toBeNull();
    expect(await github.updatePull(repo, 1, { title: "", body: "" })).toBeNull();
    expect(await github.updateComment(repo, 1, "x")).toBeNull();
    expect(await github.head(repo, "x")).toBeNull();
  });

  it("[GHA-10] a call ends after its time; what is too long, cut off, no JSON or of another form can be tried later", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (control) => {
        pulled += 512 * 1024;
        control.enqueue(new Uint8Array(512 * 1024).fill(32));
      },
    });
    const cut = new ReadableStream<Uint8Array>({
      start: (control) => control.enqueue(new TextEncoder().encode('{"permi')),
      pull: (control) => control.error(new TypeError("terminated")),
    });
    const headers = { "content-type": "application/json" };
    const told = [
      new Response(endless, { headers }),
      new Response(cut, { headers }),
      new Response("<html>", { headers }),
      new Response("<html>"),
      json(200, []),
      new TypeError("fetch failed"),
    ];
    const { github } = fakeGithub(told);
    const words: string[] = [];
    while (told.length > 0) {
      const failure = await failureOf(github.permission(repo, "a"));
      expect(failure).toMatchObject({ code: "unavailable", retryable: true });
      words.push(failure.message);
    }
    expect(words[0]).toContain("too long");
    expect(pulled).toBeLessThan(limits.github_answer_bytes + 2 * 1024 * 1024);
    expect(words[5]).toContain("the connection failed");
    const never = ({ init }: { init: RequestInit }) =>
      new Promise<Response>((_done, fail) => init.signal?.addEventListener("abort", () => fail(init.signal?.reason)));
    const slow = fakeGithub([never], { timeout_ms: 20 });
    expect((await failureOf(slow.github.permission(repo, "a"))).message).toContain("no answer within");
  });

  it("[GHA-11] a redirect within GitHub is followed with method and body, up to a bound; to another host never", async () => {
    const to = (location: string, status = 307) => new Response(null, { status, headers: { location } });
    const moved = "https://api.github.com/repositories/5/x";
    const { github, sent } = fakeGithub([to(moved, 301), held(), to(moved), json(201, comment(1))]);
    expect(await github.permission(repo, "a")).toBe("write");
    expect((await github.createComment(repo, 1, "hello")).id).toBe(1);
    expect(sent.map(({ method, url, body }) => [method, url.pathname, body]).slice(2)).toEqual([
      ["POST", "/repos/acme/shop/issues/1/comments", { body: "hello" }],
      ["POST", "/repositories/5/x", { body: "hello" }],
    ]);
    expect(sent.every(({ init }) => init.redirect === "manual")).toBe(true);
    for (const place of [
      "https://evil.example/",
      "https://api.github.com.evil.example/",
      "http://api.github.com/",
      "//evil.example",
      "https://",
    ]) {
      const away = fakeGithub([to(place), held()]);
      const failure = await failureOf(away.github.permission(repo, "a"));
      expect(failure).toMatchObject({ code: "unavailable" });
      expect(away.sent.every(({ url }) => url.origin === "https://api.github.com")).toBe(true);
    }
    const rounds = fakeGithub(Array.from({ length: 9 }, () => to(moved)));
    expect((await failureOf(rounds.github.permission(repo, "a"))).code).toBe("unavailable");
    expect(rounds.sent).toHaveLength(1 + limits.github_redirects);
    const turned = fakeGithub([to(moved, 301), json(201, comment(1))]);
    expect((await failureOf(turned.github.createComment(repo, 1, "x"))).code).toBe("unavailable");
    expect(turned.sent).toHaveLength(1);
  });

  it("[GHA-14] no token, key or header is told or printed, even when GitHub repeats them", async () => {
    const printed = [vi.spyOn(console, "warn"), vi.spyOn(console, "log"), vi.spyOn(console, "error")].map((spy) =>
      spy.mockImplementation(() => undefined),
    );
    const repeat = ({ authorization }: { authorization: string }) =>
      json(
        422,
        { message: `No: ${authorization}`, errors: [{ message: authorization }, authorization] },
        { deprecation: "true", sunset: "now" },
      );
    const { github, githubApp } = fakeGithub([
      repeat,
      repeat,
      ({ authorization }) => {
        throw new TypeError(`no route with ${authorization}`);
      },
    ]);
    for (const work of [
      () => github.createComment(repo, 1, "x"),
      () => githubApp.redeliver("1"),
      () => github.createComment(repo, 1, "x"),
    ]) {
      const failure = await failureOf(work());
      expect(failure).toBeInstanceOf(GithubFailure);
      expect(failure.message).not.toMatch(/ghs_|token1|eyJ/);
    }
    expect(printed.every((spy) => spy.mock.calls.length === 0)).toBe(true);
    vi.restoreAllMocks();
    const long = await failureOf(
      fakeGithub([json(422, { message: `\u202e${"x".repeat(10_000)}` })]).github.createComment(repo, 1, "x"),
    );
    expect(long.message.length).toBeLessThan(limits.github_failure_chars + 100);
    expect(long.message).not.toContain("\u202e");
  });

  it.each(["cut", "5xx"])("[GHA-15] what creates is sent once, whatever becomes of its answer (%s)", async (how) => {
    const check = {
      name: "n",
      external_id: "t",
      details_url: null,
      status: "queued",
      conclusion: null,
      title: "",
      summary: "",
      text: null,
      actions: [],
    } as const;
    const pull = { head: "h", base: "b", title: "t", body: "x" };
    const calls = [
      (it: ReturnType<typeof fakeGithub>) => it.github.createComment(repo, 1, "x"),
      (it: ReturnType<typeof fakeGithub>) => it.github.createCheck(repo, sha, check),
      (it: ReturnType<typeof fakeGithub>) => it.github.createPull(repo, pull),
    ];
    for (const call of calls) {
      const it = fakeGithub([how === "cut" ? new TypeError("cut") : json(502, {})]);
      expect((await failureOf(call(it))).code).toBe("unavailable");
      expect(it.sent).toHaveLength(1);
    }
  });
});
