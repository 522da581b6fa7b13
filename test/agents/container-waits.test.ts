/** Containers and a platform that do not answer, or that their object no longer remembers, hold nothing up for ever. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { gitName } from "../../src/adapters/container-sandboxes.ts";
import { limits } from "../../src/limits.ts";
import { failure, spec } from "../contract/programs.ts";
import { commit, deployment, source } from "../fakes/small-containers.ts";

afterEach(() => void vi.useRealTimers());

/** How it failed within that time of a clock that is wound; "it waits" when it did not. */
async function within(ms: number, work: Promise<unknown>): Promise<string> {
  const told = failure(work);
  await vi.advanceTimersByTimeAsync(ms);
  return Promise.race([told, new Promise<string>((resolve) => setImmediate(resolve, "it waits"))]);
}

describe("a container that does not answer", () => {
  it("[CON-15] a container that takes every question and answers none, and a platform that ends nothing, hold nothing up", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const d = deployment();
    d.machine("one").hung = true;
    expect(await within(limits.container_start_ms, d.sandboxes.create("one", spec("one")))).toBe("silent");
    for (const _ of ["once", "again"]) {
      expect(await within(limits.container_end_ms, d.sandboxes.destroy("one"))).toBe("silent");
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
    expect(await within(limits.container_git_ms, d.sandboxes.resolve(source, "HEAD"))).toBe("silent");
    git.inside = sound;
    await d.sandboxes.resolve(source, "HEAD");
    expect(git.starts.length).toBe(2);
  });

  it("[CON-15] each call has its limit, for an answer that never begins and for one that never ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const d = deployment();
    const { sandboxes: s } = d;
    await s.create("one", spec("one"));
    const bytes = new Uint8Array();
    const merge = { baseline: commit, parent: commit, patch: bytes, message: "m", at_s: 1 };
    const { container_call_ms: call, container_files_ms: files } = limits;
    const calls: readonly (readonly [number, () => Promise<unknown>])[] = [
      [call, () => s.exec("one", "c", { argv: ["true"], timeout_ms: 1_000 })],
      [call + 5_000, () => s.wait("one", "c", 0, 5_000)],
      [call, () => s.outcome("one", "c")],
      [call, () => s.kill("one", "c")],
      [call, () => s.read("one", "a")],
      [call, () => s.write("one", "a", bytes)],
      [call, () => s.list("one", "a")],
      [call, () => s.remove("one", "a")],
      [call, () => s.openPty("one", "t", { argv: ["sh"], cols: 1, rows: 1, timeout_ms: 1_000 })],
      [call, () => s.writePty("one", "t", bytes)],
      [call, () => s.resizePty("one", "t", 1, 1)],
      [call + 7_000, () => s.readPty("one", "t", 0, 7_000)],
      [files, () => s.snapshot("one")],
      [files, () => s.restore("one", bytes)],
      [files, () => s.merge("one", merge)],
      [limits.container_git_ms, () => s.checkout("one", source, commit)],
    ];
    for (const how of ["deaf", "endless"] as const)
      for (const [limit_ms, ask] of calls) {
        Object.assign(d.machine("one"), { deaf: how === "deaf" ? 1 : 0, endless: how === "endless" });
        const asked = ask();
        const said = [String(ask), await within(limit_ms - 1, asked), await within(1, asked)];
        // Of one that began, the caller sees no more than that it was cut.
        const whole = limit_ms === limits.container_git_ms || /\.(?:outcome|kill)\(/.test(String(ask));
        const cut = how === "endless" && !whole;
        expect(said).toEqual([String(ask), "it waits", cut ? "unreachable" : "silent"]);
      }
    d.machine("one").deaf = 1;
    const terminal = s.attachPty("one", "t", 0);
    await vi.advanceTimersByTimeAsync(call);
    expect(await (await terminal).json()).toMatchObject({ code: "silent", retryable: true });
    expect(vi.getTimerCount()).toBe(0);
    d.machine("one").deaf = 1_000;
    await s.destroy("one");
    expect([d.machine("one").running, d.listed.size]).toEqual([false, 0]);
  });

  it("[CON-15] an answer that ends leaves nothing behind that waits", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const d = deployment();
    await d.sandboxes.create("one", spec("one"));
    await d.sandboxes.write("one", "a", new Uint8Array());
    const init = { method: "POST", body: JSON.stringify({ id: "one", path: "a" }) };
    await (await d.box("one").answer(new Request("http://container/v1/read", init))).body?.cancel();
    expect(vi.getTimerCount()).toBe(0);
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
