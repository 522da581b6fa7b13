import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../src/domain/policy.ts";
import { readShell } from "../../src/domain/shell.ts";
import { filesOf } from "../../src/domain/shell-files.ts";
import { asked, shell, token } from "./policy-ask.ts";

const only = (script: string) => readShell(script).commands[0];
const under = (command: string, ...commands: string[]) =>
  shell(command, { token: token({ tools: ["shell_execute"], paths: ["**"], hosts: ["good.example"], commands }) });

/** Each with the narrowest wildcard grant that opens it. */
const unnamed: readonly (readonly [script: string, grant: string])[] = [
  ["patch -p1 -i a.patch", "patch **"],
  ["unzip a.zip", "unzip **"],
  ["cpio -i -F a.cpio", "cpio **"],
  ["7z x a.7z", "7z **"],
  ["tar xf a.tar", "tar xf *"],
  ["tar -xzf a.tgz", "tar -xzf *"],
  ["tar --extract -f a.tar", "tar --extract **"],
  ["rsync -a good.example:x src", "rsync -a good.example:x *"],
  ["curl -sO https://good.example/a", "curl -sO **"],
  ["wget https://good.example/a", "wget **"],
  ["git checkout main", "git checkout **"],
  ["git checkout main -- src", "git checkout **"],
  ["git checkout -b x main", "git checkout **"],
  ["git checkout -B x", "git checkout -B *"],
  ["git switch main", "git switch **"],
  ["git reset --hard", "git reset --hard"],
  ["git reset --soft x", "git reset **"],
  ["git stash pop", "git stash pop"],
  ["git stash -q apply", "git stash -q apply"],
  ["git cherry-pick x", "git cherry-pick **"],
  ["git revert x", "git revert **"],
  ["git merge x", "git merge **"],
  ["git rebase x", "git rebase **"],
  ["git am a.patch", "git am **"],
  ["git apply a.patch", "git apply **"],
  ["git restore --source=x src", "git restore --source=x **"],
  ["git update-ref refs/heads/main x", "git update-ref **"],
  ["git branch -f main x", "git branch -f **"],
  ["git symbolic-ref HEAD refs/heads/x", "git symbolic-ref **"],
  ["git worktree add x", "git worktree add *"],
  ["git reflog expire --expire=now --all", "git reflog expire **"],
  ["bash x.sh", "bash x.sh"],
  ["bash -e x.sh a", "bash -e x.sh **"],
  [". x.sh", ". x.sh"],
  ["source x.sh", "source x.sh"],
  ["./x.sh a", "./x.sh **"],
];

describe("what the words of a command do not name", () => {
  it("[POL-71] [GR-70] runs only under a grant that names it word for word", () => {
    for (const [script, grant] of unnamed) {
      expect(only(script)?.opaque ?? null, script).not.toBeNull();
      expect(under(script, "**"), script).toBe("ask argument:shell-not-plain");
      expect(under(script, `${script.split(" ")[0]?.slice(0, 1)}* **`), script).toBe("ask argument:shell-not-plain");
      expect(under(script, script), script).toBe("run token");
      if (grant.includes("*")) expect(under(script, grant), grant).toBe("ask argument:shell-not-plain");
    }
    expect(under("nohup bash x.sh", "**")).toBe("ask argument:shell-not-plain");
    expect(under("git stash pop", "git stash **")).toBe("ask argument:shell-not-plain");
    expect(under("git branch -f main x", "git branch **")).toBe("ask argument:shell-not-plain");
  });
  it("[SH-50] an archive that is made, and a download into a named file, are plain", () => {
    for (const script of [
      ...["tar -cf x.tar extra", "tar tf x.tar", "tar czf x.tgz src", "rsync -a a b", "rsync -a a good.example:b"],
      ...["curl -o x good.example", "wget -O x good.example", "wget --spider good.example", "scp a good.example:b"],
    ])
      expect(only(script)?.opaque ?? null, script).toBeNull();
  });
  it("[SH-51] git is plain where it reads, stages, commits or restores from the index", () => {
    for (const script of [
      ...["git checkout -b x", "git checkout -- src/a.ts", "git checkout HEAD -- a.ts", "git switch -c x", "git add ."],
      ...["git reset", "git reset HEAD", "git reset HEAD a.ts", "git reset -- a.ts", "git restore a.ts", "git stash"],
      ...["git restore --staged a.ts", "git branch", "git branch x", "git symbolic-ref HEAD", "git worktree list"],
      ...["git reflog", "git tag v1", "git commit -m x", "git stash list", "git bundle create x HEAD"],
    ])
      expect(only(script)?.opaque ?? null, script).toBeNull();
    expect(only("git -C x reset --hard y")?.code).toEqual(["-C", "x", "reset", "--hard"]);
    expect(only("git switch -cx main")?.opaque ?? null).not.toBeNull();
  });
  it("[SH-52] the file that a shell runs is code, as a program of the workspace is", () => {
    expect(only("bash -x a.sh b")?.code).toEqual(["a.sh"]);
    expect(only(". a.sh b")?.code).toEqual(["a.sh"]);
    expect(only("zsh -c 'ls'")?.code).toEqual(["ls"]);
  });
  it("[SH-53] an unpacker of one file writes what it is called without its ending", () => {
    expect(filesOf(["gunzip", "-f", "AGENTS.md.gz"]).written).toEqual(["AGENTS.md.gz", "AGENTS.md"]);
    expect(under("gunzip AGENTS.md.gz", "gunzip *")).toBe("ask argument:protected-files");
  });
});

describe("arguments that are more than their key says", () => {
  const outside = "deny argument:outside-workspace";
  const odd = "ask argument:shell-not-plain";
  it("[POL-72] an option asks, and a path outside in it is denied", () => {
    for (const args of [{ args: ["--ext-diff"] }, { ref: "--upload-pack=x" }, { path: "--output=x" }, { query: "-Ox" }])
      for (const of of ["git_diff", "git_log", "git_blame", "git_push"])
        expect(asked(of, args), `${of} ${JSON.stringify(args)}`).toBe(odd);
    for (const value of ["--output=/etc/x", "-o/etc/x", "--output=../x", "--no-index=~/x"])
      expect(asked("git_diff", { refs: [value] }), value).toBe(outside);
    expect(asked("git_log", { ref: "main..x", limit: "5" })).toBe("run tool:git_log");
    expect(asked("git_commit", { message: "- one\n- two" })).toBe("ask tool:git_commit");
    const all = token({ tools: ["git_push"], paths: ["**"] });
    expect(asked("git_push", { ref: "--force" }, { token: all })).toBe(odd);
  });
  it("[POL-73] a path under any key, and a name that is one, is judged", () => {
    for (const args of [
      { p: "/etc/passwd" },
      { glob: "/etc/*" },
      { include: ["src/../../x"] },
      { deep: { x: ["~/.ssh/id"] } },
      { x: ".." },
      { "/etc/passwd": true },
      { x: "..\\..\\y" },
    ])
      expect(asked("search_files", args), JSON.stringify(args)).toBe(outside);
    for (const args of [{ p: " /etc/passwd" }, { p: "/root/my file" }, { p: "file:///etc/passwd" }])
      expect(asked("search_files", args), JSON.stringify(args)).toBe(odd);
    for (const args of [
      { pattern: "/api/v1" },
      { query: "../x" },
      { path: "src", p: "src/a..b" },
      { p: "/workspace/src" },
    ])
      expect(asked("search_files", args), JSON.stringify(args)).toBe("run tool:search_files");
    const wide = { token: token({ tools: ["file_write", "file_edit"], paths: ["**"] }) };
    expect(asked("file_write", { path: "src/a", content: "/etc/passwd" }, wide)).toBe("run token");
    expect(asked("file_edit", { path: "src/a", find: "/a", replace: "../b" }, wide)).toBe("run token");
    expect(asked("file_write", { files: { "src/package.json": "x" } }, wide)).toBe("ask argument:protected-files");
    expect(asked("file_write", { files: { "src/a.ts": "x" } }, wide)).toBe("run token");
  });
  it("[POL-74] an address as a whole is a host for a tool that may reach out", () => {
    const host = "deny argument:host-not-allowed";
    expect(asked("web_search", { query: "https://evil.example/?q=secret" })).toBe(host);
    expect(asked("web_search", { query: " http://evil.example " })).toBe(host);
    expect(asked("fetch_page", { what: ["https://evil.example"] })).toBe(host);
    expect(asked("web_search", { query: "what is https://evil.example" })).toBe("run tool:web_search");
    expect(asked("search_files", { query: "https://evil.example" })).toBe("run tool:search_files");
    const open = { token: token({ tools: ["fetch_page"], hosts: ["good.example"] }) };
    expect(asked("fetch_page", { what: "https://good.example" }, open)).toBe("run token");
  });
  it("[POL-75] a name in another spelling never runs, and is denied where the tool is", () => {
    const names = ["FILE_WRITE", "File_Write", "file_write ", " file_write", "file_write\u200b", "file-write", ""];
    const open = { ...defaultPolicy, tools: { ...defaultPolicy.tools, "*": "auto_approve" as const } };
    for (const name of names) {
      const granted = { token: token({ tools: [name], paths: ["**"] }) };
      expect(asked(name, { path: "src/a" }, granted), name).toBe("ask default");
      expect(asked(name, { path: "src/a" }, granted, open), name).toBe("ask default");
    }
    for (const name of [
      "FILE_DELETE",
      "file_delete ",
      "\tfile_delete",
      "ｆile_delete",
      "file_\u200bdelete",
      "file_delete.",
    ])
      expect(asked(name, { path: "src/a" }, { token: token({ tools: [name], paths: ["**"] }) }), name).toBe(
        "deny tool:file_delete",
      );
    expect(asked("GIT_PUSH", {}, { role: "witness" })).toBe("deny role:witness");
  });
});
