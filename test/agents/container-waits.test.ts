/** Containers and a platform that do not answer, or that their object no longer remembers, hold nothing up for ever. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { gitName } from "../../src/adapters/container-sandboxes.ts";
import { limits } from "../../src/limits.ts";
import { failure, spec } from "../contract/programs.ts";
import { commit, deployment, source } from "../fakes/small-containers.ts";

afterEach(() => void vi.useRealTimers());

describe("a container that does not answer", () => {
  it("[CON-15] a container that takes every question and answers none, and a platform that ends nothing, hold nothing up", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const within = async (ms: number, work: Promise<unknown>): Promise<string> => {
      const told = failure(work);
      await vi.advanceTimersByTimeAsync(ms);
      return Promise.race([told, new Promise<string>((resolve) => setImmediate(resolve, "it waits"))]);
    };
    const d = deployment();
    d.machine("one").hung = true;
    expect(await within(limits.container_start_ms, d.sandboxes.create("one", spec("one")))).toBe("unreachable");
    for (const _ of ["once", "again"]) {
      expect(await within(limits.container_end_ms, d.sandboxes.destroy("one"))).toBe("unreachable");
      expect([...d.listed.keys()]).toEqual(["one"]);
    }
    d.machine("one").hung = false;
    await d.sandboxes.destroy("one");
    expect([d.listed.size, d.documents.size, d.machine("one").running]).toEqual([0, 0, false]);

    d.machine("two").deaf = 2;
    const slow = d.sandboxes.create("two", spec("two"));
    await vi.advanceTimersByTimeAsync(2 * limits.container_ask_ms);
    await slow;

    const git = d.machine(gitName("contract"));
    const sound = async (method: string) => (method === "resolve" ? { commit, default_branch: "main" } : null);
    git.inside = () => new Promise(() => {});
    expect(await within(limits.container_git_ms, d.sandboxes.resolve(source, "HEAD"))).toBe("unreachable");
    git.inside = sound;
    await d.sandboxes.resolve(source, "HEAD");
    expect(git.starts.length).toBe(2);
  });

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

  it("[CON-17] an object that begins beside its running container says anew how long it stays", async () => {
    const d = deployment();
    d.machine(gitName("contract")).inside = async () => ({ commit, default_branch: "main" });
    await d.sandboxes.create("one", spec("one"));
    await d.sandboxes.resolve(source, "HEAD");
    d.anew();
    for (const name of ["one", gitName("contract"), "two"]) await d.box(name).resume();
    expect(d.machine("one").stays).toEqual([limits.container_idle_ms, limits.container_idle_ms]);
    expect(d.machine(gitName("contract")).stays).toEqual([limits.container_git_idle_ms, limits.container_git_idle_ms]);
    expect(d.machine("two").stays).toEqual([]);
  });
});
