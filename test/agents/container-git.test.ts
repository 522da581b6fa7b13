/** The container of a scope's git: when it is used again, when it ends, and whose word counts for a push. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { gitName } from "../../src/adapters/container-sandboxes.ts";
import { SandboxFailure } from "../../src/agents/ports.ts";
import { gateOrigin } from "../../src/domain/gate.ts";
import { limits } from "../../src/limits.ts";
import { failure } from "../contract/programs.ts";
import { commit, deployment, source } from "../fakes/small-containers.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const branch = "countersign/t";
const stands = `${commit} refs/heads/${branch}`;
const found = { commit, default_branch: "main" };
const sound = async (method: string) => (method === "resolve" ? found : null);
function scene() {
  const d = deployment();
  const git = d.machine(gitName("contract"));
  git.inside = sound;
  d.branches.push(stands);
  const publish = () => d.sandboxes.publish({ source, branch, commit, bundle: new Uint8Array(3) });
  const resolve = () => d.sandboxes.resolve(source, "HEAD");
  return { ...d, git, publish, resolve };
}
/** A call in a container that answers when it is told to. */
function held(answer: unknown) {
  let go = (): void => {};
  const there = new Promise<unknown>((resolve) => {
    go = () => resolve(answer);
  });
  return { there, go };
}

describe("a container for git", () => {
  it("[CON-16] a container for git that does not answer is begun anew once, for all who noticed", async () => {
    const d = deployment();
    const git = d.machine(gitName("contract"));
    let broken = 0;
    git.inside = async (method) => {
      if (method !== "resolve") return null;
      if (git.starts.length <= broken) throw new Error("the connection was lost");
      return { commit, default_branch: "main" };
    };
    await d.sandboxes.resolve(source, "HEAD");
    broken = 1;
    const both = [d.sandboxes.resolve(source, "HEAD"), d.sandboxes.resolve(source, "main")];
    expect((await Promise.all(both)).map((found) => found.commit)).toEqual([commit, commit]);
    expect(git.starts.length).toBe(2);
    broken = 9;
    expect(await failure(d.sandboxes.resolve(source, "HEAD"))).toBe("unreachable");
    expect(git.starts.length).toBe(3);
  });

  it("[CON-16] what is refused starts no container", async () => {
    const d = deployment();
    expect(await failure(d.sandboxes.resolve({ ...source, url: "file:///etc" }, "HEAD"))).toBe("repo_not_allowed");
    const foreign = JSON.stringify({ source: { ...source, scope_id: "other" }, ref: "HEAD" });
    const asked = new Request("http://container/v1/resolve", { method: "POST", body: foreign });
    expect(await (await d.box(gitName("contract")).answer(asked)).json()).toMatchObject({ code: "bad_request" });
    expect(d.machine(gitName("contract")).starts).toEqual([]);
  });

  it("[CON-16] it is asked before it is used again, and one that does not answer is never used again, whether or not it ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { git, resolve, anew } = scene();
    await resolve();
    git.deaf = 1;
    const asked = resolve();
    await vi.advanceTimersByTimeAsync(limits.container_ask_ms);
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(git.starts.length).toBe(2);
    expect([(await asked).commit, git.starts.length]).toEqual([commit, 2]);
    // Late: it is not asked once more, and no other operation goes to where that one was lost.
    git.inside = () => new Promise(() => {});
    const late = failure(resolve());
    git.stuck = true;
    await vi.advanceTimersByTimeAsync(limits.container_git_ms);
    expect([await late, git.starts.length, git.running]).toEqual(["silent", 2, true]);
    git.inside = sound;
    anew();
    const before = git.heard.length;
    expect([await failure(resolve()), git.heard.length]).toEqual(["internal", before]);
    git.stuck = false;
    expect([(await resolve()).commit, git.starts.length]).toEqual([commit, 3]);
  });

  it("[CON-16] one in which others are at work is joined unasked: it may only be busy, and nobody ends it for that", async () => {
    const { git, resolve } = scene();
    const look = held(found);
    git.inside = () => look.there;
    const looking = [resolve()];
    await expect.poll(() => git.heard.at(-1)?.method).toBe("resolve");
    const asked = git.heard.length;
    looking.push(resolve());
    await expect.poll(() => git.heard.length).toBe(asked + 1);
    expect([git.heard.at(-1)?.method, git.starts.length, git.running]).toEqual(["resolve", 1, true]);
    look.go();
    expect((await Promise.all(looking)).map((one) => one.commit)).toEqual([commit, commit]);
  });

  it("[CON-19] a server that does not say where a branch stands is not waited for", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const d = deployment({ fetch: () => new Promise(() => {}) });
    const publishing = failure(d.sandboxes.publish({ source, branch, commit, bundle: new Uint8Array(3) }));
    for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(limits.container_call_ms);
    expect(await publishing).toBe("internal");
  });

  it("[CON-18] whoever is done with it does not wait for its end", async () => {
    const { git, publish } = scene();
    git.destroy = () => new Promise(() => {});
    expect(await publish()).toBeUndefined();
  });

  it("[CON-19] a push that is refused when it is asked again, because the first one went through, went through", async () => {
    const { git, publish, branches } = scene();
    git.inside = async (method) => {
      if (method === "publish") throw new SandboxFailure("not_fast_forward", "the branch has moved");
      return null;
    };
    expect(await publish()).toBeUndefined();
    branches.splice(0, 9);
    expect(await failure(publish())).toBe("not_fast_forward");
  });

  it("[CON-18] it ends once an agent's bundle was read in it, as soon as nothing is under way in it", async () => {
    const { git, resolve, publish } = scene();
    const push = held(null);
    const look = held(found);
    git.inside = (method) => (method === "publish" ? push.there : look.there);
    const publishing = publish();
    await expect.poll(() => git.heard.at(-1)?.method).toBe("publish");
    const looking = resolve();
    await expect.poll(() => git.heard.at(-1)?.method).toBe("resolve");
    push.go();
    await publishing;
    expect([git.starts.length, git.running]).toEqual([1, true]);
    look.go();
    await looking;
    expect([git.starts.length, git.running]).toEqual([1, false]);
    git.inside = sound;
    await resolve();
    await resolve();
    expect([git.starts.length, git.running]).toEqual([2, true]);
    await publish();
    expect([git.starts.length, git.running]).toEqual([2, false]);
  });

  it("[CON-18] one that did not end then is not used again, by a later object neither, which ends it when it begins", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { git, resolve, publish, anew, box } = scene();
    git.stuck = true;
    await publish();
    expect([git.running, await failure(resolve()), git.starts.length]).toEqual([true, "internal", 1]);
    git.stuck = false;
    anew();
    await box(gitName("contract")).resume();
    expect(git.running).toBe(false);
    git.stuck = true;
    await publish();
    anew();
    git.stuck = false;
    await resolve();
    expect([git.starts.length, git.running]).toEqual([3, true]);
  });

  it("[CON-19] its word that it pushed is nothing: the server says so, or it is a failure that may be tried again", async () => {
    const { publish, branches, git, sent } = scene();
    await publish();
    expect(sent.map(({ url }) => url)).toEqual([`${source.url}/git-upload-pack`]);
    for (const said of [
      [],
      [`${"d".repeat(40)} refs/heads/${branch}`],
      [`${stands}-2`],
      [`${commit} refs/tags/${branch}`],
    ]) {
      branches.splice(0, 9, ...said);
      await expect(publish()).rejects.toMatchObject({ code: "internal", retryable: true });
    }
    expect(git.running).toBe(false);
  });

  it("[CON-19] a push that passed and that its server took is enough", async () => {
    const asked: string[] = [];
    const report = "000eunpack ok\n0020ok refs/heads/countersign/t\n0000";
    const answers = { "content-type": "application/x-git-receive-pack-result" };
    const d = deployment({
      fetch: async (to, init) => {
        asked.push(String(to));
        await new Request(to, init).text();
        return new Response(report, { headers: answers });
      },
    });
    const head = `${"0".repeat(40)} ${commit} refs/heads/${branch}\0 report-status`;
    d.machine(gitName("contract")).inside = async (method, body) => {
      if (method !== "publish") return null;
      const headers = {
        authorization: `Bearer ${(body.pass as { ticket: string }).ticket}`,
        "content-type": "application/x-git-receive-pack-request",
      };
      const pushed = `${(head.length + 4).toString(16).padStart(4, "0")}${head}0000PACK`;
      const address = `${gateOrigin}/https/github.com/acme/widgets/git-receive-pack`;
      const out = await d
        .box(gitName("contract"))
        .outbound(new Request(address, { method: "POST", headers, body: pushed }));
      expect(await out.text()).toBe(report);
      return null;
    };
    await d.sandboxes.publish({ source, branch, commit, bundle: new Uint8Array(3) });
    expect(asked).toEqual([`${source.url}/git-receive-pack`]);
  });
});
