import { describe, expect, it } from "vitest";
import { maxScriptBytes, readShell } from "../../src/domain/shell.ts";
import { filesOf, removesTree } from "../../src/domain/shell-files.ts";
import { unwrap } from "../../src/domain/shell-wrappers.ts";

const only = (script: string) => readShell(script).commands[0];
const opaque = (script: string) => only(script)?.opaque ?? null;
const inside = (...argv: string[]) => unwrap(argv).layers.slice(1);

describe("what runs code nobody can read", () => {
  it("[SH-40] interpreters, build tools, runners and files are opaque, with why, and not dynamic", () => {
    for (const script of [
      "npm test",
      "npx vitest run",
      "pnpm exec x",
      "make all",
      "python3.11 -c 'x'",
      "node src/a.js",
      "perl -e x",
      "cargo test",
      "docker run x",
      "bash script.sh",
      ". ./env.sh",
      "source env.sh",
      "./configure",
      "src/tool a",
      "zsh -c 'ls'",
      "sudo ls",
    ]) {
      expect(opaque(script), script).not.toBeNull();
      expect(readShell(script).dynamic, script).toBe(false);
    }
    for (const script of ["ls -l", "/bin/cat a", "node --version", "git status", "echo npm test", "grep -r make src"])
      expect(opaque(script), script).toBeNull();
  });
  it("[SH-40] an interpreter without a script reads one from its input: dynamic", () => {
    for (const script of ["echo x | node", "python3 -", "perl -w", "cat a | python3"])
      expect(readShell(script).dynamic, script).toBe(true);
  });
  it("[SH-40] the words that bring code are named", () => {
    expect(only("node -e 'x' a")?.code).toEqual(["-e", "x"]);
    expect(only("node --require=./x.js a.js")?.code).toEqual(["--require=./x.js"]);
    expect(only("node --test a.js")?.code).toEqual(["--test"]);
    expect(only("npm --script-shell=./x test")?.code).toEqual(["--script-shell=./x"]);
    expect(only("npm test")?.code).toEqual([]);
    expect(only("./x a")?.code).toEqual(["./x"]);
  });
});

describe("behind a wrapper", () => {
  it("[SH-41] env tells the names it sets and its directory, and its text is read as words", () => {
    expect(unwrap(["env", "-C", "x", "A=1", "ls"])).toMatchObject({ assigned: ["A"], moves: true });
    expect(inside("env", "=", "a/b=c", "1x=", "rm", "x").at(-1)).toEqual(["rm", "x"]);
    expect(inside("env", "-i", "-", "-u/x", "ls").at(-1)).toEqual(["-u/x", "ls"]);
    expect(inside("env", "--", "-", "A=1", "ls").at(-1)).toEqual(["ls"]);
    expect(readShell("env = npm test").dynamic).toBe(true);
    expect(inside("env", "-S", "A=1 rm x", "y").at(-1)).toEqual(["rm", "x", "y"]);
    expect(inside("env", "-iS", "rm x").at(-1)).toEqual(["rm", "x"]);
    expect(inside("env", "-Srm x").at(-1)).toEqual(["rm", "x"]);
    expect(inside("env", "--split-string=rm x").at(-1)).toEqual(["rm", "x"]);
    expect(inside("env", "-", "rm", "x").at(-1)).toEqual(["rm", "x"]);
    expect(unwrap(["env", "-S", "rm $" + "{X}"]).dynamic).toBe(true);
    expect(readShell("env LD_PRELOAD=x ls").dynamic).toBe(true);
    expect(readShell("env x=1 ls").dynamic).toBe(false);
  });
  it("[SH-41] xargs and find add words: the program is known, what follows is open; without a program it is dynamic", () => {
    expect(unwrap(["xargs", "-n1", "wc", "-l"])).toMatchObject({ open: true, dynamic: false });
    for (const argv of [
      ["xargs"],
      ["xargs", "env"],
      ["xargs", "timeout", "5"],
      ["xargs", "sh"],
      ["xargs", "-I{}", "rm", "{}"],
    ])
      expect(unwrap(argv).dynamic, argv.join(" ")).toBe(true);
    expect(inside("find", ".", "-exec", "wc", "-l", "{}", "+", "-ok", "rm", "x", ";")).toEqual([
      ["wc", "-l"],
      ["rm", "x"],
    ]);
    expect(unwrap(["find", ".", "-exec", "{}", ";"]).dynamic).toBe(true);
  });
  it("[SH-41] command -v only looks", () => {
    expect(inside("command", "-v", "rm", "x")).toEqual([]);
    expect(inside("command", "-p", "rm", "x")).toEqual([["rm", "x"]]);
  });
  it("[SH-41] a known program in the words of one whose options are not known is judged too", () => {
    expect(inside("chroot", "--weird", "/", "rm", "-rf", "x")).toContainEqual(["rm", "-rf", "x"]);
    expect(inside("parallel", "rm", "-rf", ":::", "x")).toContainEqual(["rm", "-rf", ":::", "x"]);
  });
});

describe("words of bash", () => {
  it("[SH-42] what changes later words or evaluates a text is dynamic", () => {
    for (const script of [
      ...[
        "alias a=b",
        "enable -n echo",
        "hash -p x npm",
        "shopt -s extglob",
        "set -k",
        "set -o posix",
        "set -- a",
        "let x=1",
      ],
      ...[
        "read x",
        "mapfile x",
        "printf -v x y",
        "test -v x",
        "[ -v x ]",
        "declare -n x=y",
        "export PATH=x",
        "declare 'a[1]=2'",
      ],
      ...[
        "compgen -C x",
        "jobs -x ls",
        "wait -p x",
        "unset x",
        "getopts a x",
        "PATH=x ls",
        "PS4=x",
        "BASH_ENV=x bash -c ls",
      ],
      ...["[[ 'a[1]' -eq 0 ]]", "[[ -v a ]]", "exec {fd}>f"],
    ])
      expect(readShell(script).dynamic, script).toBe(true);
    for (const script of [
      ...[
        "set -e",
        "set -euo pipefail",
        "set +x",
        "cd x",
        "export x=1",
        "printf '%s' -v",
        "test -f x",
        "[[ a == b ]]",
        "wait",
      ],
      ...["[[ 1 -eq 2 ]]", "x=1 ls", "CI=1 ls", "trap - EXIT", "jobs", "exec 3>f"],
    ])
      expect(readShell(script).dynamic, script).toBe(false);
  });
  it("[SH-42] a trap's script is read", () => {
    expect(readShell("trap 'rm x' EXIT").commands.at(-1)?.argv).toEqual(["rm", "x"]);
    expect(readShell("trap -- 'rm x' EXIT").commands.at(-1)?.argv).toEqual(["rm", "x"]);
  });
});

describe("programs with programs of their own", () => {
  it("[SH-43] git runs what its words say, unless an option, a setting or another name says otherwise", () => {
    for (const script of [
      ...[
        "git -c core.pager=x log",
        "git --exec-path=x log",
        "git x",
        "git config core.hooksPath x",
        "git difftool -x y",
      ],
      ...[
        "git fetch --upload-pack=x",
        "git fetch --upload-p x",
        "git grep -Ox y",
        "git rebase -x y",
        "git submodule foreach x",
      ],
      ...["git clone x", "git bisect run x", "git apply x", "git archive --exec=x", "git -p log", "git log --ext-diff"],
    ]) {
      expect(opaque(script), script).not.toBeNull();
      expect(only(script)?.code, script).not.toEqual([]);
    }
    for (const script of [
      ...["git status -s", "git log -p --oneline", "git diff --cached -- -c", "git commit -m x", "git --no-pager show"],
      ...["git add -u", "git checkout -b x", "git log -S x"],
    ])
      expect(opaque(script), script).toBeNull();
  });
  it("[SH-43] the words that set what git runs are all named", () => {
    expect(only("git -c a.b=c -C x log --ext-diff")?.code).toEqual(["-c", "a.b=c", "-C", "x", "--ext-diff"]);
  });
  it("[SH-43] sed and awk are known by their plain programs", () => {
    for (const script of [
      ...[
        "sed '1e id' a",
        "sed s/a/b/e a",
        "sed 'w f' a",
        "sed -f x a",
        "sed -e p -e 's/a/b/w f' a",
        "sed 's/a/b/;e' a",
      ],
      ...[
        "awk 'BEGIN{system(\"x\")}'",
        "awk '{print > \"x\"}' a",
        "awk -f x a",
        "gawk -i inplace x a",
        "awk '{print | \"sh\"}' a",
      ],
    ])
      expect(opaque(script), script).not.toBeNull();
    for (const script of [
      ...["sed -n 1,5p a", "sed 's/a\\/b/c/g' a", "sed -i.bak -e '/x/d' a", "sed 's|a|b|2;$d' a", "awk '{print $1}' a"],
      ...["awk -F: -v x=1 '{print x}' a"],
    ])
      expect(opaque(script), script).toBeNull();
  });
  it("[SH-43] an option that runs a program makes an ordinary program opaque", () => {
    for (const script of [
      "tar cf h:x a",
      "tar xPf a.tar",
      ...[
        "tar cf x --checkpoint-action=exec=y .",
        "tar -I x -cf y .",
        "tar xf a --to-command=x",
        "rsync -e x a b",
        "rsync --rsh=x a b",
      ],
      ...["sort --compress-program=x a", "split --filter=x a", "curl -K x", "scp -S x a b:", "zip -TT x a"],
    ])
      expect(opaque(script), script).not.toBeNull();
    for (const script of ["tar -cf x.tar src", "rsync -a a b", "sort -r a", "split -l 5 a", "curl -s x.y"])
      expect(opaque(script), script).toBeNull();
  });
});

describe("files", () => {
  const written = (...argv: string[]) => filesOf(argv).written;
  it("[SH-44] a copy writes its target and what the source is called in it", () => {
    expect(written("cp", "a/AGENTS.md", ".")).toEqual([".", "./AGENTS.md"]);
    expect(written("cp", "-t", "x", "a/b", "c")).toEqual(["x", "x/b", "x/c"]);
    expect(written("cp", "--target-directory=x", "b")).toEqual(["x", "x/b"]);
    expect(written("mv", "a", "b")).toEqual(["b", "b/a", "a"]);
    expect(filesOf(["cp", "a", "b"]).named).toEqual(["a", "b"]);
  });
  it("[SH-44] operands after --, output options and programs that edit in place", () => {
    expect(written("tee", "-a", "--", "-x", "y")).toEqual(["-x", "y"]);
    expect(written("dd", "if=a", "of=b")).toEqual(["b"]);
    expect(written("curl", "-o", "x", "u")).toEqual(["x"]);
    expect(written("curl", "-ox", "u")).toEqual(["x"]);
    expect(written("sort", "--output=x", "a")).toEqual(["x"]);
    expect(written("sed", "-i", "p", "x")).toEqual(["x"]);
    expect(written("sed", "-n", "p", "x")).toEqual([]);
    expect(written("git", "mv", "a", "b")).toEqual(["b", "b/a", "a"]);
    expect(written("find", ".", "-fprint", "x")).toEqual(["x"]);
    expect(written("ls", "x")).toEqual([]);
  });
  it("[POL-64] a tree is removed by more than rm", () => {
    for (const argv of [
      ["find", ".", "-delete"],
      ["find", ".", "-exec", "rm", "{}", ";"],
      ["find", ".", "-exec", "nice", "unlink", "{}", ";"],
      ["git", "clean", "-fd"],
      ["git", "clean", "-x", "--force"],
      ["git", "-C", "clean", "clean", "-fX"],
      ["git", "rm", "-r", "-f", "x"],
      ["rsync", "-a", "--delete-after", "a/", "b/"],
      ["rm", "-r", "--force", "x"],
    ])
      expect(removesTree(unwrap(argv).layers), argv.join(" ")).not.toBeNull();
    for (const argv of [
      ["find", ".", "-maxdepth", "1", "-delete"],
      ["find", ".", "-name", "rm"],
      ["git", "clean", "-nfd"],
      ["git", "clean", "-f"],
      ["git", "rm", "x"],
      ["git", "rm", "-r", "--cached", "-f", "x"],
      ["rsync", "-a", "a", "b"],
      ["rm", "-r", "x"],
    ])
      expect(removesTree(unwrap(argv).layers), argv.join(" ")).toBeNull();
  });
});

describe("scripts", () => {
  it("[SH-45] what another shell reads otherwise is dynamic in its script, and plain in bash's", () => {
    for (const script of [
      ...["[[ a ]]", "ls &> x", "ls |& wc", "x+=1 ls", "cat <<< a", "time ls", "echo $'\"'\"'a'\"'\"'"],
      ...['eval "[[ a ]]"', "ls 10> x", "ls 02> x", "cat 10<<E\na\nE"],
    ])
      expect(readShell(`sh -c '${script}'`).dynamic, script).toBe(true);
    for (const script of ["[[ a ]]", "ls &> x", "ls |& wc", "cat <<< a", "time ls", "ls 10> x"])
      expect(readShell(`bash -c '${script}'`).dynamic, script).toBe(false);
    expect(readShell("sh -c 'ls > x; rm y'").dynamic).toBe(false);
  });
  it("[SH-46] bytes are counted, and what cannot be seen is dynamic", () => {
    expect(readShell(`echo ${"é".repeat(maxScriptBytes / 2 - 5)}`).parse_error).toBeNull();
    expect(readShell(`echo ${"é".repeat(maxScriptBytes / 2)}`).parse_error).not.toBeNull();
    expect(readShell("echo \ud800").parse_error).not.toBeNull();
    for (const mark of ["\u200b", "\u202e", "\u2066", "\u00ad", "\u2028", "\ufeff", "\u{e0041}"])
      expect(readShell(`echo a${mark}b`).dynamic, mark).toBe(true);
    expect(readShell("echo ✔️ ü 日本").dynamic).toBe(false);
  });
});
