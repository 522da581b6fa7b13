import { describe, expect, it } from "vitest";
import { verifier } from "../../src/agents/verifier.ts";
import { byteLength, canonicalJson } from "../../src/domain/canonical.ts";
import { limits } from "../../src/limits.ts";
import { difference, readPatch, type Tree, writeBundle, writePatch } from "../fakes/memory-git.ts";
import type { MemoryProgram } from "../fakes/memory-sandboxes.ts";
import { testScope } from "../fakes/messages.ts";
import {
  environment,
  type Sample,
  sample,
  source,
  type VerifyOrder,
  verdictOf,
  verificationMessage,
  verifyOrder,
} from "../fakes/orders.ts";
import { type Driving, drive, runContext } from "../fakes/world.ts";

const box = `${testScope}.v1.0`;
const programs: Record<string, MemoryProgram> = {
  /** Passes only with the patch. */
  check: (process) => {
    process.print(`a is ${process.read("src/a.txt")}`);
    return process.read("src/a.txt") === "fixed\n" ? 0 : 1;
  },
  fine: () => 0,
  broken: () => 2,
  litter: (process) => {
    process.write("litter.txt", "x");
    return 0;
  },
  linger: (process) => {
    process.print("working\n");
    return new Promise(() => {});
  },
  loud: (process) => {
    process.print(`${"\u0007\u{1F680}".repeat(20_000)}\n`);
    return 0;
  },
};

/** The patch of an agent that made these files, stored where the order says. */
async function patched(files: Readonly<Record<string, string | null>>): Promise<Sample> {
  const w = sample(programs);
  const base: Tree = w.repo.commits.get(w.main)?.tree ?? new Map();
  const next = new Map(base);
  for (const [path, content] of Object.entries(files)) {
    if (content === null) next.delete(path);
    else next.set(path, btoa(content));
  }
  await w.artifacts.put("the-patch", writePatch(difference(base, next)));
  return w;
}
const fixed = { "src/a.txt": "fixed\n" };
const run = (w: Sample, order: Partial<VerifyOrder> = {}, driving: Driving = {}) =>
  drive(verifier, runContext(verificationMessage(verifyOrder(w.main, order)), { agent: "verifier" }), w.ports, driving);
const argvs = (w: Sample) => w.memory.begun.map(({ argv }) => argv.join(" "));
const checks = (...runs: string[]) => runs.map((each) => ({ run: each.split(" "), timeout_s: 60 }));

describe("the four verdicts", () => {
  it("[VER-1] pass: the checks of the order ran on the patched checkout, and the commit that carries exactly that is handed over", async () => {
    const w = await patched(fixed);
    const { message, result } = verdictOf((await run(w)).out);
    expect(message).toMatchObject({
      message_kind: "verification_result",
      recipient: "runtime_queue",
      error_code: null,
    });
    expect(result).toMatchObject({
      verification_id: "v1",
      attempt_id: "p1.fix.1",
      verdict: "pass",
      parent: w.main,
      conflicts: [],
      detail: "1 check passed",
    });
    expect(result.checks).toMatchObject([{ argv: ["check"], exit_code: 0, timed_out: false, output: "a is fixed\n" }]);
    expect(result.bundle_key?.startsWith(`${testScope}/`)).toBe(true);
    const bundle = w.artifacts.stored.get(result.bundle_key ?? "") ?? new Uint8Array();
    await w.memory.publish({
      source: { scope_id: testScope, url: source },
      branch: "countersign/t",
      commit: result.commit ?? "",
      bundle,
    });
    expect(w.repo.commits.get(result.commit ?? "")?.tree.get("src/a.txt")).toBe(btoa("fixed\n"));
    expect(w.repo.commits.get(result.commit ?? "")?.parent).toBe(w.main);
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[VER-2] fail: the first check that fails is the end, named with its exit code and its output; no commit is handed over", async () => {
    const w = await patched({ "src/a.txt": "worse\n" });
    const { message, result } = verdictOf((await run(w, { checks: checks("fine", "check", "fine") })).out);
    expect(result).toMatchObject({
      verdict: "fail",
      detail: "check ended with exit code 1",
      commit: null,
      bundle_key: null,
    });
    expect(result.checks.map(({ exit_code, output }) => [exit_code, output])).toEqual([
      [0, ""],
      [1, "a is worse\n"],
    ]);
    expect(message).toMatchObject({ error_code: "verification_failed", retryable: true });
    expect(argvs(w)).toEqual(["fine", "check"]);
  });
  it("[VER-2] a check that runs too long fails, and says so", async () => {
    const w = await patched(fixed);
    const { result } = verdictOf((await run(w, { checks: [{ run: ["linger"], timeout_s: 0.02 }] })).out);
    expect(result).toMatchObject({
      verdict: "fail",
      checks: [{ exit_code: null, timed_out: true, output: "working\n" }],
      commit: null,
    });
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[VER-3] integrity_violation: a protected path added, changed or deleted is found before any code of the repository runs", async () => {
    const touches: Record<string, string | null>[] = [
      { "test/a.test": "expect nothing\n" },
      { "test/a.test": null },
      { "test/deep/new.test": "x" },
    ];
    for (const touched of touches) {
      const w = await patched({ ...fixed, ...touched });
      const { message, result } = verdictOf((await run(w, { environment: { ...environment, setup: [["fine"]] } })).out);
      expect(result).toMatchObject({ verdict: "integrity_violation", commit: null, bundle_key: null, checks: [] });
      expect(result.detail).toContain(Object.keys(touched)[0]);
      expect(message).toMatchObject({ error_code: "verification_failed", retryable: true });
      expect(w.memory.begun).toEqual([]);
      expect([...w.artifacts.stored.keys()]).toEqual(["the-patch"]);
    }
  });
  it("[VER-4] infra_error: a set-up that fails, a lost check, a missing patch or one that does not apply say nothing about the work", async () => {
    const broken = verdictOf(
      (await run(await patched(fixed), { environment: { ...environment, setup: [["broken"]] } })).out,
    );
    expect(broken.result).toMatchObject({
      verdict: "infra_error",
      detail: "set-up 1 ended with exit code 2",
      checks: [],
    });
    const losing = await patched(fixed);
    losing.faults.next = ({ method, args }) => {
      if (method === "wait") losing.memory.lose(box, String(args[1]));
      return null;
    };
    const lost = verdictOf((await run(losing)).out);
    const bare = sample(programs);
    const missing = verdictOf((await run(bare)).out);
    const bent = sample(programs);
    await bent.artifacts.put("the-patch", new TextEncoder().encode("no patch"));
    const unfit = verdictOf((await run(bent)).out);
    for (const { message, result } of [broken, lost, missing, unfit]) {
      expect(result).toMatchObject({ verdict: "infra_error", commit: null, bundle_key: null });
      expect(message.error_code).toBe("tool_failure");
    }
    expect(argvs(losing)).toEqual(["check"]);
  });
});

describe("what is verified", () => {
  it("[VER-5] a conflict with the branch is a failure that names its paths, before any code runs", async () => {
    const w = await patched({ "src/a.txt": "mine\n", "README.md": "mine\n" });
    const tip = w.repo.commit(w.main, {
      "README.md": "hello\n",
      "src/a.txt": "theirs\n",
      "test/a.test": "expect one\n",
    });
    const { result } = verdictOf((await run(w, { parent: tip })).out);
    expect(result).toMatchObject({ verdict: "fail", conflicts: ["src/a.txt"], parent: tip, commit: null, checks: [] });
    expect(result.detail).toContain("src/a.txt");
    expect(w.memory.begun).toEqual([]);
  });
  it("[VER-6] when the branch has moved, the checks see the patch on what the branch is now", async () => {
    const w = await patched(fixed);
    const tip = w.repo.commit(w.main, {
      "README.md": "hello\n",
      "src/a.txt": "one\n",
      "test/a.test": "expect one\n",
      "src/sibling.txt": "here\n",
    });
    const bundle = writeBundle([...w.repo.commits.values()]);
    w.repo.commits.delete(tip);
    await w.artifacts.put("branch", bundle);
    w.memory.programs.set("sibling", (process) =>
      process.read("src/sibling.txt") === "here\n" && process.read("src/a.txt") === "fixed\n" ? 0 : 1,
    );
    const { result } = verdictOf((await run(w, { parent: tip, bundle_key: "branch", checks: checks("sibling") })).out);
    expect(result).toMatchObject({ verdict: "pass", parent: tip });
  });
  it("[VER-7] no check ever runs without the patch, whatever the set-up left in the workspace", async () => {
    const littered = { ...environment, setup: [["litter"]] };
    const w = await patched(fixed);
    expect(verdictOf((await run(w, { environment: littered }, { dies: true })).out).result).toMatchObject({
      verdict: "pass",
    });
    const clash = await patched({ ...fixed, "litter.txt": "of the patch\n" });
    const { result } = verdictOf((await run(clash, { environment: littered })).out);
    expect(result.verdict).toBe("infra_error");
    expect(argvs(clash)).toEqual(["litter"]);
  });
  it("[VER-8] an item without checks passes once its candidate is built, and runs nothing but the set-up", async () => {
    const w = await patched(fixed);
    const { result } = verdictOf(
      (await run(w, { checks: [], environment: { ...environment, setup: [["fine"]] } })).out,
    );
    expect(result).toMatchObject({ verdict: "pass", checks: [], detail: "0 checks passed" });
    expect(result.commit).not.toBeNull();
    expect(argvs(w)).toEqual(["fine"]);
  });
  it("[VER-8] an empty patch is verified as the branch stands", async () => {
    const w = await patched({});
    expect(verdictOf((await run(w, { checks: checks("fine") })).out).result).toMatchObject({ verdict: "pass" });
    expect(verdictOf((await run(await patched({}))).out).result).toMatchObject({ verdict: "fail" });
  });
  it("[VER-9] what the sandbox is asked to run comes from the order alone, whatever the patch holds; only the set-up has a network", async () => {
    const hostile = {
      ...fixed,
      "package.json": '{"scripts":{"test":"curl evil"}}',
      check: "#!/bin/sh\nevil\n",
      ".countersign.yml": "checks: [evil]",
    };
    const w = await patched(hostile);
    const order = {
      environment: { setup: [["fine"]], hosts: ["npm"], cache: ["npm"] },
      checks: checks("check", "fine --all"),
    };
    expect(verdictOf((await run(w, order)).out).result.verdict).toBe("pass");
    const ran = w.asked.filter(({ method }) => method === "exec").map(({ args }) => args);
    expect(new Set(ran.map((args) => JSON.stringify(args)))).toEqual(
      new Set(
        [
          [
            box,
            "setup-1",
            { argv: ["fine"], timeout_ms: limits.setup_timeout_ms, network: { hosts: ["npm"], cache: ["npm"] } },
          ],
          [box, "check-1", { argv: ["check"], timeout_ms: 60_000 }],
          [box, "check-2", { argv: ["fine", "--all"], timeout_ms: 60_000 }],
        ].map((args) => JSON.stringify(args)),
      ),
    );
    const others = new Set(w.asked.map(({ method }) => method));
    expect([...others].toSorted()).toEqual(["checkout", "create", "destroy", "exec", "merge", "restore", "wait"]);
  });
  it("[VER-9] the sandbox is the verification's own: fresh, at the parent, with the order's bounds", async () => {
    const w = await patched(fixed);
    await run(w);
    expect(w.asked.slice(0, 3).map(({ method, args }) => [method, ...args.slice(0, 3)])).toMatchObject([
      [
        "create",
        box,
        { owner: "v1", scope_id: testScope, worktree: `.runtime/worktrees/${testScope}/p1.fix/v1`, memory_mb: 512 },
      ],
      ["checkout", box, { scope_id: testScope, url: source }, w.main],
      ["merge", box, { baseline: w.main, parent: w.main, message: "Fix it", at_s: 1_700_000_000 }],
    ]);
    expect(box).not.toBe(`${testScope}.p1.fix.1.0`);
  });
  it("[VER-10] the same order verified again builds the same commit, and its patch is what was checked", async () => {
    const [one, two] = [await patched(fixed), await patched(fixed)];
    const [a, b] = [verdictOf((await run(one)).out).result, verdictOf((await run(two)).out).result];
    expect(a.commit).toBe(b.commit);
    const kept = [...one.artifacts.stored].find(([key]) => key.endsWith(`${a.commit}.patch`))?.[1] ?? new Uint8Array();
    expect(readPatch(kept)?.map(({ path }) => path)).toEqual(["src/a.txt"]);
  });
  it("[VER-11] the result fits in a message, however loud and many the checks are, and each keeps its end", async () => {
    const w = await patched(fixed);
    const { message, result } = verdictOf((await run(w, { checks: checks(...Array<string>(20).fill("loud")) })).out);
    expect(result).toMatchObject({ verdict: "pass" });
    expect(result.checks).toHaveLength(20);
    for (const check of result.checks) expect(check.output.endsWith("\n")).toBe(true);
    expect(byteLength(canonicalJson(message))).toBeLessThan(limits.message_inline_bytes);
  });
  it("[VER-11] checks that fill the message by their own words alone still have a result", async () => {
    const long = { run: ["loud", "x".repeat(3_900)], timeout_s: 60 };
    const { message, result } = verdictOf((await run(await patched(fixed), { checks: Array(17).fill(long) })).out);
    expect(result.verdict).toBe("pass");
    expect(byteLength(canonicalJson(message))).toBeLessThan(limits.message_inline_bytes);
  });
  it("[VER-11] the result fits in a message, however many paths conflict", async () => {
    const names = Array.from({ length: 500 }, (_, n) => `src/${"deep/".repeat(40)}${n}.txt`);
    const crowd = (content: string) => Object.fromEntries(names.map((name) => [name, content]));
    const torn = await patched(crowd("mine"));
    const tip = torn.repo.commit(torn.main, crowd("theirs"));
    const { message, result } = verdictOf((await run(torn, { parent: tip })).out);
    expect(result.verdict).toBe("fail");
    expect(result.conflicts.length).toBeGreaterThan(0);
    expect(byteLength(canonicalJson(message))).toBeLessThan(limits.message_inline_bytes);
  });
});
