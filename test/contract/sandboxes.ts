/**
 * What every implementation of `Sandboxes` promises, as one suite over a harness. A clause an implementation cannot
 * meet is named by it, and its tests are skipped there in plain sight. [SBX-1 .. SBX-16] [CRED-2]
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandboxes, Source } from "../../src/agents/ports.ts";
import { type Clause, failure, finish, type Harness, run, scripts, shell, spec, text, utf8 } from "./programs.ts";

export function sandboxContract(name: string, open: () => Promise<Harness>, cannot: readonly Clause[]): void {
  // Side by side: an implementation that holds one sandbox for another would be found out, and waiting is most of the time.
  describe.concurrent(`sandboxes: ${name}`, () => {
    let harness: Harness;
    let s: Sandboxes;
    let made = 0;
    const able = (clause: Clause) => (cannot.includes(clause) ? it.skip : it);
    /** A fresh sandbox, checked out at `main` unless told otherwise. */
    const fresh = async (commit: string | null = harness.main, bundle?: Uint8Array) => {
      made += 1;
      const name = String(made);
      const id = `contract-${name}`;
      await s.create(id, spec(name));
      if (commit !== null) await s.checkout(id, from(harness.source), commit, bundle);
      return id;
    };
    const from = (url: string): Source => ({ scope_id: "contract", url });
    beforeAll(async () => {
      harness = await open();
      s = harness.sandboxes;
    });
    afterAll(() => harness?.close());

    it("[SBX-1] a sandbox is made once, listed while it lives, and gone after destroy", async () => {
      const id = await fresh(null);
      const name = id.replace("contract-", "");
      await s.create(id, spec(name));
      expect(await s.sandboxes()).toContainEqual({ id, scope_id: "contract", owner: `attempt-${name}` });
      await s.destroy(id);
      await s.destroy(id);
      expect((await s.sandboxes()).map((each) => each.id)).not.toContain(id);
      expect(await failure(s.exec(id, "c", { argv: ["true"], timeout_ms: 1_000 }))).toBe("no_such_sandbox");
      expect(await failure(s.outcome("never-made", "c"))).toBe("no_such_sandbox");
    });

    it("[SBX-2] checkout lays the commit's files, and again it changes nothing", async () => {
      const id = await fresh();
      expect(text(await s.read(id, "a.txt"))).toBe("one\ntwo\nthree\n");
      await s.write(id, "a.txt", utf8.encode("mine\n"));
      await s.checkout(id, from(harness.source), harness.main);
      expect(text(await s.read(id, "a.txt"))).toBe("mine\n");
      expect(await failure(s.checkout(id, from(harness.source), harness.other))).toBe("bad_request");
      const empty = await fresh(null);
      expect(await failure(s.checkout(empty, from(harness.source), "0".repeat(40)))).toBe("ref_not_found");
    });

    it("[CRED-2] a sandbox is filled for its own scope and for no other", async () => {
      const id = await fresh(null);
      const refused = await failure(s.checkout(id, { ...from(harness.source), scope_id: "x" }, harness.main));
      expect([refused, await s.list(id, ".")]).toEqual(["bad_request", []]);
    });

    it("[SBX-3] output keeps its order, can be read from any offset, and ends with the exit code", async () => {
      const id = await fresh();
      const { output, outcome } = await run(s, id, "speak", scripts.speak);
      expect(output).toBe("out\nerr\nend\n");
      expect(outcome).toMatchObject({ state: "exited", exit_code: 0, signal: null });
      expect(text((await s.wait(id, "speak", 4, 0)).chunk)).toBe("err\nend\n");
      expect((await run(s, id, "fail", scripts.fail)).outcome).toMatchObject({ state: "exited", exit_code: 7 });
    });

    it("[SBX-4] a call_id runs at most once, also when asked for twice at the same time", async () => {
      const id = await fresh();
      const once = { argv: shell(scripts.count), timeout_ms: 30_000 };
      await Promise.all([s.exec(id, "once", once), s.exec(id, "once", once), s.exec(id, "once", once)]);
      await finish(s, id, "once");
      await s.exec(id, "once", once);
      expect(text(await s.read(id, "count.txt"))).toBe("x\n");
      expect(await failure(s.exec(id, "once", { argv: shell(scripts.fail), timeout_ms: 30_000 }))).toBe(
        "call_mismatch",
      );
    });

    it("[SBX-5] a call nobody asked for is unknown, and killing it does nothing", async () => {
      const id = await fresh(null);
      expect(await s.outcome(id, "nobody")).toEqual({ state: "unknown" });
      expect((await s.wait(id, "nobody", 0, 20_000)).outcome).toEqual({ state: "unknown" });
      await s.kill(id, "nobody");
      expect(await s.outcome(id, "nobody")).toEqual({ state: "unknown" });
    });

    it("[SBX-6] a process is killed when asked, and when its time is over", async () => {
      const id = await fresh();
      await s.exec(id, "long", { argv: shell(scripts.linger), timeout_ms: 60_000 });
      expect(await s.outcome(id, "long")).toEqual({ state: "running" });
      await s.kill(id, "long");
      await s.kill(id, "long");
      expect(await s.outcome(id, "long")).toMatchObject({ state: "exited", exit_code: 137, signal: "SIGKILL" });
      expect((await run(s, id, "late", scripts.linger, { timeout_ms: 300 })).outcome.state).toBe("timed_out");
    });

    it("[SBX-7] environment, folder and input reach the process", async () => {
      const id = await fresh();
      const base = { timeout_ms: 30_000 };
      await s.exec(id, "env", { ...base, argv: shell(scripts.greet), env: { GREETING: "hello 'you' $HOME" } });
      expect((await finish(s, id, "env")).output).toBe("hello 'you' $HOME");
      await s.exec(id, "cwd", { ...base, argv: shell(scripts.where), cwd: "dir" });
      expect((await finish(s, id, "cwd")).output).toBe("/workspace/dir\n");
      await s.exec(id, "stdin", { ...base, argv: shell(scripts.echo), stdin: "typed\n" });
      expect((await finish(s, id, "stdin")).output).toBe("typed\n");
    });

    it("[SBX-8] a call keeps 8 MB of output and says that it was cut", async () => {
      const id = await fresh();
      const { output, outcome } = await run(s, id, "flood", scripts.flood);
      expect(outcome).toMatchObject({ state: "exited", exit_code: 0 });
      expect(output.startsWith("x".repeat(8 * 1024 * 1024))).toBe(true);
      expect(output.slice(8 * 1024 * 1024)).toMatch(/^\n\[output truncated: .+\]\n$/);
    });

    it("[SBX-9] files are read, written, listed and removed inside the workspace and nowhere else", async () => {
      const id = await fresh();
      await s.write(id, "deep/er/file.bin", new Uint8Array([0, 255, 10]));
      expect([...(await s.read(id, "deep/er/file.bin"))]).toEqual([0, 255, 10]);
      expect(await s.list(id, "deep/er")).toEqual([{ name: "file.bin", kind: "file", size: 3 }]);
      await s.remove(id, "deep");
      await s.remove(id, "deep");
      expect(await failure(s.read(id, "deep/er/file.bin"))).toBe("bad_request");
      for (const path of ["../x", "/etc/passwd", "a/../../x", "a\0b"]) {
        expect(await failure(s.read(id, path))).toBe("bad_request");
        expect(await failure(s.write(id, path, new Uint8Array()))).toBe("bad_request");
        expect(await failure(s.remove(id, path))).toBe("bad_request");
      }
      expect(await failure(s.remove(id, "."))).toBe("bad_request");
      expect(await failure(s.read(id, "dir"))).toBe("bad_request");
    });

    it("[SBX-10] a snapshot names what changed, without what the baseline ignores; restored, the tree is equal", async () => {
      const id = await fresh();
      const clean = await s.snapshot(id);
      expect(clean.files).toEqual([]);
      expect(clean.patch.byteLength).toBe(0);
      await run(s, id, "edit", scripts.edit);
      const taken = await s.snapshot(id);
      expect([...taken.files].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
        { path: "a.txt", change: "modified", old_mode: "100644", mode: "100644" },
        { path: "dir/b.txt", change: "deleted", old_mode: "100644", mode: "000000" },
        { path: "new.txt", change: "added", old_mode: "000000", mode: "100644" },
      ]);
      const copy = await fresh();
      await s.restore(copy, taken.patch);
      await s.restore(copy, taken.patch);
      expect((await s.snapshot(copy)).tree).toBe(taken.tree);
      expect((await s.snapshot(copy)).patch).toEqual(taken.patch);
    });

    it("[SBX-11] a patch that does not apply changes nothing at all", async () => {
      const id = await fresh();
      await run(s, id, "edit", scripts.edit);
      const { patch } = await s.snapshot(id);
      const other = await fresh();
      await s.write(other, "a.txt", utf8.encode("quite another\n"));
      const before = await s.snapshot(other);
      expect(await failure(s.restore(other, patch))).toBe("patch_failed");
      expect((await s.snapshot(other)).tree).toBe(before.tree);
      expect(await failure(s.restore(other, utf8.encode("no patch")))).toBe("patch_failed");
    });

    it("[SBX-12] a merge builds the same commit every time, and its bundle and patch carry it elsewhere", async () => {
      const id = await fresh();
      await run(s, id, "edit", scripts.edit);
      const { patch, tree } = await s.snapshot(id);
      const input = {
        baseline: harness.main,
        parent: harness.main,
        patch,
        message: "Do it\n\nAs agreed.",
        at_s: 1_700_000_000,
      };
      const first = await s.merge(id, input);
      const second = await s.merge(await fresh(), input);
      if (!first.ok || !second.ok) throw new Error("it does not merge");
      expect(second.commit).toBe(first.commit);
      const next = await fresh(first.commit, first.bundle);
      expect((await s.snapshot(next)).tree).toBe(tree);
      const restored = await fresh();
      await s.restore(restored, first.patch);
      expect((await s.snapshot(restored)).tree).toBe(tree);
      const onTop = await s.merge(next, {
        ...input,
        baseline: first.commit,
        parent: first.commit,
        patch: new Uint8Array(),
      });
      expect(onTop.ok && onTop.files).toEqual([]);
    });

    it("[SBX-13] what moved meanwhile is merged three-way, and a conflict is named by its path", async () => {
      const id = await fresh(harness.other);
      const work = await fresh();
      await run(s, work, "edit", scripts.edit);
      const base = { baseline: harness.main, parent: harness.other, message: "m", at_s: 1_700_000_000 };
      const removed = await s.snapshot(work);
      const onlyNew = await fresh();
      await s.write(onlyNew, "new.txt", utf8.encode("new\n"));
      const merged = await s.merge(id, { ...base, patch: (await s.snapshot(onlyNew)).patch });
      if (!merged.ok) throw new Error("it does not merge");
      expect(merged.files.map((file) => file.path)).toEqual(["new.txt"]);
      const clash = await fresh();
      await run(s, clash, "clash", scripts.clash);
      expect(await s.merge(id, { ...base, patch: (await s.snapshot(clash)).patch })).toEqual({
        ok: false,
        conflicts: ["a.txt"],
      });
      expect(await failure(s.merge(id, { ...base, parent: "1".repeat(40), patch: removed.patch }))).toBe(
        "ref_not_found",
      );
    });

    it("[SBX-14] a ref resolves to its commit; what is not there is said", async () => {
      const { source, main, other } = { ...harness, source: from(harness.source) };
      expect(await s.resolve(source, "HEAD")).toEqual({ commit: main, default_branch: "main" });
      expect((await s.resolve(source, "other")).commit).toBe(other);
      expect((await s.resolve(source, main)).commit).toBe(main);
      expect(await failure(s.resolve(source, "nothing-here"))).toBe("ref_not_found");
      expect(await failure(s.resolve(source, "2".repeat(40)))).toBe("ref_not_found");
      expect(await failure(s.resolve(from(`${source.url}-gone`), "HEAD"))).toBe("repo_unreachable");
      expect(await failure(s.resolve(from("https://user:pass@example.com/x.git"), "HEAD"))).toBe("repo_not_allowed");
    });

    it("[SBX-15] publish pushes its own branch, forward only, and again it is a success", async () => {
      const id = await fresh();
      await s.write(id, "new.txt", utf8.encode("new\n"));
      const { patch } = await s.snapshot(id);
      const build = async (message: string) => {
        const merged = await s.merge(id, {
          baseline: harness.main,
          parent: harness.main,
          patch,
          message,
          at_s: 1_700_000_000,
        });
        if (!merged.ok) throw new Error("it does not merge");
        return merged;
      };
      const first = await build("first");
      const second = await build("second");
      const to = { source: from(harness.source), branch: "countersign/contract" };
      await s.publish({ ...to, commit: first.commit, bundle: first.bundle });
      await s.publish({ ...to, commit: first.commit, bundle: first.bundle });
      expect(await harness.tip("countersign/contract")).toBe(first.commit);
      expect(await harness.tip("main")).toBe(harness.main);
      expect(await failure(s.publish({ ...to, commit: second.commit, bundle: second.bundle }))).toBe(
        "not_fast_forward",
      );
      for (const branch of ["main", "countersign/../main", "refs/heads/main", "countersign/"]) {
        expect(await failure(s.publish({ ...to, branch, commit: first.commit, bundle: first.bundle }))).toBe(
          "bad_request",
        );
      }
    });

    able("terminal")(
      "[SBX-16] a terminal takes input, is resized, is read from an offset, and tells its end",
      async () => {
        const id = await fresh();
        const open = { argv: ["bash", "--norc", "-i"], cols: 80, rows: 24, timeout_ms: 60_000 };
        await s.openPty(id, "t", open);
        await s.openPty(id, "t", open);
        await s.resizePty(id, "t", 132, 40);
        await s.writePty(id, "t", utf8.encode("stty size; exit 4\n"));
        let all = "";
        for (let offset = 0; ; ) {
          const seen = await s.readPty(id, "t", offset, 20_000);
          all += text(seen.chunk);
          offset = seen.next_offset;
          if (seen.outcome.state === "running" || seen.chunk.byteLength > 0) continue;
          expect(seen.outcome).toMatchObject({ state: "exited", exit_code: 4 });
          break;
        }
        expect(all).toContain("40 132");
        expect(await failure(s.writePty(id, "t", utf8.encode("x")))).toBe("no_such_call");
      },
    );

    able("git-format")("[SBX-10] a patch is git's own: text, binary files, links, the executable bit", async () => {
      const id = await fresh();
      await s.write(id, "bin", new Uint8Array([0, 1, 2, 0, 255]));
      await run(s, id, "modes", "chmod +x a.txt; ln -s a.txt link");
      const taken = await s.snapshot(id);
      expect(text(taken.patch)).toContain("GIT binary patch");
      expect(taken.files.map((file) => [file.path, file.mode])).toEqual([
        ["a.txt", "100755"],
        ["bin", "100644"],
        ["link", "120000"],
      ]);
      const copy = await fresh();
      await s.restore(copy, taken.patch);
      expect((await s.snapshot(copy)).tree).toBe(taken.tree);
    });
  });
}
