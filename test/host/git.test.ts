/** Git that runs with nothing an agent wrote, patches that hide nothing, sources that lead nowhere else. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isPrivate } from "../../src/host/address.ts";
import { excludeList } from "../../src/host/ignore.ts";
import { failure, utf8 } from "../contract/programs.ts";
import { commitFiles, git, makeRepo } from "../setup/host.ts";
import { sourceOf, World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world?.close());

/** Every place where git runs a program named by configuration, attributes or a hook. */
const traps = `
mark=/workspace/ran; prog='sh -c "touch /workspace/ran /tmp/ran; cat" --'
git config core.fsmonitor "$prog"; git config core.hooksPath /workspace/hooks; git config diff.external "$prog"
git config filter.evil.clean "$prog"; git config filter.evil.smudge "$prog"; git config filter.evil.process "$prog"
git config diff.evil.textconv "$prog"; git config diff.evil.command "$prog"; git config merge.evil.driver "$prog %A"
git config core.sshCommand "$prog"; git config core.pager "$prog"; git config gpg.program "$prog"; git config commit.gpgSign true
git config uploadpack.packObjectsHook "$prog"; git config core.worktree /; git config include.path /workspace/more
printf '[core]\\n\\tfsmonitor = %s\\n' "$prog" > more
mkdir -p hooks .git/hooks
for hook in pre-commit post-checkout post-index-change pre-receive reference-transaction; do printf '#!/bin/sh\\ntouch /workspace/ran\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; cp .git/hooks/$hook hooks/; done
printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes; cp .gitattributes .git/info/attributes
echo more >> a.txt; rm -f ran`;

describe.concurrent("git on an agent's files", () => {
  it("[SBX-25] no program an agent names in configuration, attributes or hooks runs at snapshot, merge or restore", async () => {
    const id = await world.fresh();
    expect((await world.run(id, traps)).outcome).toMatchObject({ exit_code: 0 });
    // The traps are armed: git as anybody would run it falls into them.
    await world.run(id, "git -c core.worktree=/workspace status > /dev/null || true; [ -e ran ]; rm ran");
    const taken = await world.sandboxes.snapshot(id);
    expect(taken.files.map((file) => file.path)).toContain("a.txt");
    expect(taken.patch.byteLength).toBeGreaterThan(0);
    const merged = await world.sandboxes.merge(id, {
      baseline: world.main,
      parent: git(world.source, "rev-parse", "other"),
      patch: taken.patch,
      message: "m",
      at_s: 1,
    });
    expect(merged).toEqual({
      ok: true,
      commit: expect.any(String),
      bundle: expect.any(Uint8Array),
      patch: expect.any(Uint8Array),
      files: expect.any(Array),
    });
    const other = await world.fresh();
    await world.sandboxes.restore(other, taken.patch);
    expect((await world.sandboxes.snapshot(other)).tree).toBe(taken.tree);
    expect(existsSync(join(world.work(id), "ran"))).toBe(false);
    expect(existsSync(join(world.work(other), "ran"))).toBe(false);
    expect(existsSync("/tmp/ran")).toBe(false);
  });

  it("[SBX-25] an agent's .git may be gone, broken or a link: the snapshot is the same", async () => {
    for (const script of [
      "rm -rf .git",
      "rm -rf .git; echo 'gitdir: /etc' > .git",
      "rm -rf .git; ln -s /root .git",
      "rm .git/HEAD; chmod 000 .git",
    ]) {
      const id = await world.fresh();
      await world.run(id, `${script}; echo new > n`);
      expect((await world.sandboxes.snapshot(id)).files.map((file) => file.path)).toEqual(["n"]);
    }
  });

  it("[SBX-26] bytes are taken as they are, whatever attributes say", async () => {
    const id = await world.fresh();
    await world.sandboxes.write(id, "crlf.txt", utf8.encode("a\r\n$Id$\r\n"));
    await world.sandboxes.write(
      id,
      ".gitattributes",
      utf8.encode("* text=auto eol=lf ident working-tree-encoding=UTF-16\n"),
    );
    const { patch } = await world.sandboxes.snapshot(id);
    const copy = await world.fresh();
    await world.sandboxes.restore(copy, patch);
    expect(await world.sandboxes.read(copy, "crlf.txt")).toEqual(utf8.encode("a\r\n$Id$\r\n"));
  });

  it("[SBX-26] an agent's ignore rules hide nothing; those of the baseline hold", async () => {
    const id = await world.fresh();
    await world.run(
      id,
      "echo '*' > .gitignore; echo '*' > dir/.gitignore; mkdir -p .git/info; echo '*' > .git/info/exclude; git config core.excludesFile /workspace/dir/.gitignore; echo x > hidden; mkdir ignored; echo x > ignored/y",
    );
    const { files } = await world.sandboxes.snapshot(id);
    expect(files.map((file) => file.path)).toEqual([".gitignore", "dir/.gitignore", "hidden"]);
  });

  it("[SBX-26] one list of patterns means what git's files mean in their folders", () => {
    const files = {
      ".gitignore": "# note\nnode_modules\n/build/\n*.log\n!keep.log\ndocs/*.tmp\n\\!odd\n",
      "a/.gitignore": "*.txt\n!/top.txt\nsub/deep\r\n",
      "a/[b]/.gitignore": "x*\n!*.log\n",
    };
    const paths = [
      "node_modules/x",
      "a/node_modules/y",
      "build/1",
      "a/build/1",
      "z.log",
      "keep.log",
      "docs/a.tmp",
      "docs/d/a.tmp",
      "!odd",
      "a/q.txt",
      "a/top.txt",
      "a/s/top.txt",
      "a/sub/deep/1",
      "a/t/sub/deep/1",
      "a/[b]/x1",
      "a/[b]/c/x1",
      "a/[b]/m.log",
      "a/b/x1",
    ];
    const repo = join(world.folder.repos, "ignore");
    makeRepo(repo, files);
    for (const path of paths) {
      mkdirSync(join(repo, path, ".."), { recursive: true });
      writeFileSync(join(repo, path), "");
    }
    const list = excludeList(Object.entries(files).map(([path, text]) => ({ path, text })));
    writeFileSync(join(world.folder.repos, "rules"), list);
    const ours = git(repo, "ls-files", "--others", `--exclude-from=${join(world.folder.repos, "rules")}`);
    expect(ours).toBe(git(repo, "ls-files", "--others", "--exclude-standard"));
    expect(ours.split("\n").length).toBeGreaterThan(4);
  });

  it("[SBX-27] a repository inside the repository is refused by its name, also when it replaces a file", async () => {
    const nested = "git init -q sub/inner; cd sub/inner; echo x > f; git add f; git commit -qm x";
    for (const script of [
      nested,
      "git init -q sub/inner; echo x > sub/inner/f",
      `rm a.txt; git init -q a.txt; cd a.txt; echo x > f; git add f; git commit -qm x`,
    ]) {
      const id = await world.fresh();
      await world.run(id, script);
      const path = script.includes("sub/inner") ? "sub/inner" : "a.txt";
      await expect(world.sandboxes.snapshot(id)).rejects.toMatchObject({
        code: "patch_refused",
        message: expect.stringContaining(path),
      });
    }
  });

  it("[SBX-27] files become folders and links, links become files: the patch carries it", async () => {
    const id = await world.fresh();
    await world.run(
      id,
      "rm a.txt; mkdir a.txt; echo in > a.txt/in; rm -r dir; ln -s /etc dir; mkfifo pipe; ln -s missing dangling",
    );
    const taken = await world.sandboxes.snapshot(id);
    expect(taken.files.map((file) => [file.path, file.change, file.mode])).toEqual([
      ["a.txt", "deleted", "000000"],
      ["a.txt/in", "added", "100644"],
      ["dangling", "added", "120000"],
      ["dir", "added", "120000"],
      ["dir/b.txt", "deleted", "000000"],
    ]);
    const copy = await world.fresh();
    await world.sandboxes.restore(copy, taken.patch);
    expect((await world.sandboxes.snapshot(copy)).tree).toBe(taken.tree);
  });

  it("[SBX-27] a patch over 10 MB is refused before it is built", async () => {
    const id = await world.fresh({ file_mb: 1024 });
    await world.run(id, "head -c 12000000 /dev/urandom > big");
    expect(await failure(world.sandboxes.snapshot(id))).toBe("patch_too_large");
    await world.run(id, "rm big; truncate -s 900M sparse");
    expect(await failure(world.sandboxes.snapshot(id))).toBe("patch_too_large");
  });

  it("[SBX-28] a link in the workspace leads file operations nowhere outside", async () => {
    const id = await world.fresh();
    await world.run(id, "ln -s /etc/passwd file; ln -s / root; ln -s ../../.. up; ln -s a.txt fine");
    for (const path of ["file", "root/etc/passwd", "up/x"]) {
      expect(await failure(world.sandboxes.read(id, path))).toBe("bad_request");
      expect(await failure(world.sandboxes.write(id, path, utf8.encode("x")))).toBe("bad_request");
    }
    expect(await failure(world.sandboxes.list(id, "root"))).toBe("bad_request");
    expect(await failure(world.sandboxes.remove(id, "root/etc"))).toBe("bad_request");
    expect((await world.sandboxes.read(id, "fine")).byteLength).toBeGreaterThan(0);
    await world.sandboxes.remove(id, "root");
    expect((await world.sandboxes.list(id, ".")).map((entry) => entry.name)).not.toContain("root");
    expect(existsSync("/etc/passwd")).toBe(true);
  });

  it("[SBX-80] a git directory is neither written nor removed as a file, by its name or through a link; it can be read", async () => {
    const id = await world.fresh();
    await world.run(id, "ln -s .git way; ln -s .git/hooks/pre-commit hook; mkdir -p sub/.GIT");
    for (const path of [".git/config", "way/hooks/x", "hook", "sub/.GIT/x", "x/../.git/y"]) {
      expect(await failure(world.sandboxes.write(id, path, utf8.encode("x"))), path).toBe("bad_request");
    }
    for (const path of [".git", "way/config", "sub/.GIT"])
      expect(await failure(world.sandboxes.remove(id, path)), path).toBe("bad_request");
    expect((await world.sandboxes.read(id, "way/HEAD")).byteLength).toBeGreaterThan(0);
    await world.sandboxes.remove(id, "hook");
    await world.sandboxes.write(id, "sub/.gitignore", utf8.encode("x"));
  });

  it("[SBX-28] a patch that writes through a link or into .git is refused whole", async () => {
    const id = await world.fresh();
    const file = (path: string) =>
      `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
    await world.run(id, "ln -s /tmp out");
    for (const path of ["out/x", ".git/hooks/x", "../x", "/tmp/x"]) {
      expect(await failure(world.sandboxes.restore(id, utf8.encode(file("ok.txt") + file(path))))).toBe("patch_failed");
    }
    expect(await failure(world.sandboxes.read(id, "ok.txt"))).toBe("bad_request");
  });
});

describe.concurrent("sources", () => {
  it("[SBX-29] only folders below REPO_ROOTS and public https addresses are sources", async () => {
    const { sandboxes } = world;
    symlinkSync("/", join(world.folder.repos, "way-out"));
    const bad = [
      "/etc",
      "file:///etc",
      `${world.folder.repos}/../state`,
      `${world.folder.repos}/way-out/etc`,
      "http://example.com/x",
      "ssh://git@example.com/x",
      "git@example.com:x",
      "ext::sh -c true",
      "-x",
      "https://127.0.0.1/x.git",
      "https://[::1]/x",
      "https://localhost/x",
      "https://u:p@example.com/x",
      "file://elsewhere/x",
    ];
    for (const source of bad)
      expect([source, await failure(sandboxes.resolve(sourceOf(source), "HEAD"))]).toEqual([
        source,
        "repo_not_allowed",
      ]);
    expect((await sandboxes.resolve(sourceOf(`file://${world.source}`), "main")).commit).toBe(world.main);
    const id = await world.empty();
    expect(await failure(sandboxes.checkout(id, sourceOf("/etc"), world.main))).toBe("repo_not_allowed");
    const notGit = join(world.folder.repos, "empty");
    mkdirSync(notGit);
    expect(await failure(sandboxes.resolve(sourceOf(notGit), "HEAD"))).toBe("repo_unreachable");
  });

  it("[SBX-29] private addresses are known in every spelling", () => {
    for (const address of [
      "127.0.0.1",
      "10.1.2.3",
      "172.31.0.1",
      "192.168.0.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "::1",
      "::",
      "fe80::1",
      "fd00::1",
      "::ffff:127.0.0.1",
      "::ffff:a00:1",
      "64:ff9b::7f00:1",
      "no address",
    ]) {
      expect([address, isPrivate(address)]).toEqual([address, true]);
    }
    for (const address of ["1.1.1.1", "172.32.0.1", "2606:4700::1111"])
      expect([address, isPrivate(address)]).toEqual([address, false]);
  });

  it("[SBX-30] a fresh clone of the source and the bundle are enough, after two merges and a moved main", async () => {
    const source = join(world.folder.repos, "bundles");
    const base = makeRepo(source, { "a.txt": "1\n" });
    const build = async (parent: string, bundle: Uint8Array | undefined, name: string) => {
      const id = await world.empty();
      await world.sandboxes.checkout(id, sourceOf(source), parent, bundle);
      await world.sandboxes.write(id, name, utf8.encode(`${name}\n`));
      const { patch } = await world.sandboxes.snapshot(id);
      const merged = await world.sandboxes.merge(id, { baseline: parent, parent, patch, message: name, at_s: 5 });
      if (!merged.ok) throw new Error("it does not merge");
      return merged;
    };
    const first = await build(base, undefined, "one");
    commitFiles(source, { "a.txt": "2\n" });
    const second = await build(first.commit, first.bundle, "two");
    const clone = join(world.folder.repos, "clone");
    git(world.folder.repos, "clone", "--quiet", source, clone);
    writeFileSync(join(clone, "bundle"), second.bundle);
    git(clone, "fetch", "--quiet", "bundle", "countersign/candidate:candidate");
    expect(git(clone, "rev-parse", "candidate")).toBe(second.commit);
    expect(git(clone, "log", "--format=%an <%ae> %ct %s", "candidate", "-1")).toBe(
      "Countersign <countersign@localhost> 5 two",
    );
    expect(git(clone, "rev-list", "--count", "candidate")).toBe("3");
    execFileSync("git", ["fsck", "--strict"], { cwd: clone, stdio: "ignore" });
    await world.sandboxes.publish({
      source: sourceOf(source),
      branch: "countersign/two",
      commit: second.commit,
      bundle: second.bundle,
    });
    expect(git(source, "status", "--porcelain")).toBe("");
    expect(git(source, "rev-parse", "countersign/two")).toBe(second.commit);
  });
});
