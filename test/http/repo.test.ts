import { describe, expect, it } from "vitest";
import { gitOriginOf, isPrivate, refProblem, repoUrl } from "../../src/domain/repo.ts";

const normal = (text: string, localHost = false) => {
  const result = repoUrl(text, localHost);
  return result.ok ? result.value : result.refusal.code;
};

describe("a repository's address", () => {
  it("[REPO-1] one repository has one form, and the form is its own", () => {
    for (const text of [
      "https://git.example/a/b",
      "HTTPS://Git.Example:443/a/b/",
      "https://git.example//a//b",
      "https://git.example/x/../a/b",
    ])
      expect(normal(text)).toBe("https://git.example/a/b");
    expect(normal("https://git.example:8443/a/b.git")).toBe("https://git.example:8443/a/b.git");
    for (const text of [
      "/srv/a",
      "file:///srv/a/",
      "file:///srv/x/../a",
      "/srv//a",
      "FILE:///srv/a",
      "file://localhost/srv/a",
    ])
      expect(normal(text, true)).toBe("file:///srv/a");
    expect(normal("/srv/with%20space", true)).toBe("file:///srv/with%20space");
    expect(normal("https://git.example/%C3%A9/b")).toBe("https://git.example/%C3%A9/b");
  });
  it("[REPO-2] other protocols, user names, queries and paths of this machine are refused", () => {
    const bad = [
      "http://git.example/a",
      "git://git.example/a",
      "ssh://git.example/a",
      "git@git.example:a/b",
      "ext::sh -c x",
      "a/b",
      "",
      "https://",
    ];
    const secrets = [
      "https://u@git.example/a",
      "https://u:p@git.example/a",
      "https://@git.example/a",
      "https://git.example/a?token=x",
      "https://git.example/a#x",
      "https://git.example/a?",
    ];
    const bent = [
      "https://git.example/a b",
      "https://git.example/a\n",
      " https://git.example/a",
      "https:\\\\git.example\\a",
      "https://git.example",
      "https://git.example/",
      "https://git.example/a\u0000",
    ];
    for (const text of [...bad, ...secrets, ...bent])
      expect([text, normal(text, true)]).toEqual([text, "repo_not_allowed"]);
    for (const text of ["/srv/a", "file:///srv/a"]) expect(normal(text)).toBe("repo_not_allowed");
    for (const text of [
      "/",
      "file:///",
      "file://other/srv/a",
      "/srv/..",
      "file:///srv%2fa",
      "/srv/a%00",
      "-oProxyCommand=x",
    ])
      expect([text, normal(text, true)]).toEqual([text, "repo_not_allowed"]);
  });
  it("[REPO-2] addresses that only this network can reach are refused in every spelling", () => {
    for (const host of [
      "localhost",
      "127.0.0.1",
      "0x7f.1",
      "2130706433",
      "10.1.2.3",
      "172.16.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[fd00::1]",
      "[fe80::1]",
      "[2002:7f00:1::]",
      "host.local",
      "git.internal",
      "localhost.",
      "a.localhost",
      "[64:ff9b::7f00:1]",
      "255.255.255.255",
    ])
      expect([host, normal(`https://${host}/a`, true)]).toEqual([host, "repo_not_allowed"]);
    for (const host of ["8.8.8.8", "172.32.0.1", "100.128.0.1", "git.example.com", "192.0.3.1"])
      expect(isPrivate(host)).toBe(false);
    expect(isPrivate("[2606:4700::1111]")).toBe(false);
  });
  it("[CRED-11] beside https exactly the deployment's own loopback origin, and no other address of this machine", () => {
    const origin = "http://127.0.0.1:3999";
    const named = (text: string) => {
      const result = repoUrl(text, true, origin);
      return result.ok ? result.value : result.refusal.code;
    };
    for (const text of [`${origin}/o/r`, `${origin}//o//r/`, "HTTP://127.0.0.1:3999/o/r", "http://127.1:3999/o/x/../r"])
      expect(named(text)).toBe(`${origin}/o/r`);
    const others = [
      "http://127.0.0.1/o/r",
      "http://127.0.0.1:3998/o/r",
      "http://127.0.0.2:3999/o/r",
      "http://localhost:3999/o/r",
      "http://[::1]:3999/o/r",
      "http://10.0.0.1:3999/o/r",
      "http://git.example:3999/o/r",
      "https://127.0.0.1:3999/o/r",
      "ws://127.0.0.1:3999/o/r",
      "http://u@127.0.0.1:3999/o/r",
      "http://@127.0.0.1:3999/o/r",
      "http://127.0.0.1:3999@git.example/o/r",
      "http://127.0.0.1:3999/o/r?x=1",
      "http://127.0.0.1:3999/",
      "http://127.0.0.1:3999.evil.example/o/r",
    ];
    for (const text of others) expect([text, named(text)]).toEqual([text, "repo_not_allowed"]);
    expect(normal(`${origin}/o/r`, true)).toBe("repo_not_allowed");
    expect(named("https://git.example/a/b")).toBe("https://git.example/a/b");
  });
  it("[CRED-11] the origin is GITHUB_URL's, when it is http on this machine and the host is local", () => {
    expect(gitOriginOf("http://127.0.0.1:3999/", true)).toBe("http://127.0.0.1:3999");
    expect(gitOriginOf("http://[::1]:3999", true)).toBe("http://[::1]:3999");
    for (const given of [
      "https://127.0.0.1:3999",
      "http://10.0.0.1",
      "http://git.example",
      "http://u:p@127.0.0.1",
      "x",
      undefined,
    ])
      expect(gitOriginOf(given, true)).toBeNull();
    expect(gitOriginOf("http://127.0.0.1:3999", false)).toBeNull();
  });
  it("[REPO-3] a ref is a name git knows, never an option or an expression", () => {
    for (const ref of ["HEAD", "main", "feature/pager-2", "v1.2.3", "refs/heads/main", "c".repeat(40), "été"])
      expect(refProblem(ref)).toBeNull();
    for (const ref of [
      "",
      "-x",
      "--upload-pack=x",
      "a..b",
      "a b",
      "a~1",
      "a^",
      "a:b",
      "a@{1}",
      "@",
      "/a",
      "a/",
      "a//b",
      ".a",
      "a/.b",
      "a.lock",
      "a.lock/b",
      "a\nb",
      "a\\b",
      "a*",
      "a?",
      "a[",
    ])
      expect([ref, refProblem(ref) === null]).toEqual([ref, false]);
  });
});
