/** Which words a wildcard may stand for, which git, and what moves, links and runners may do under one. Every line slipped. */
import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";
import { readShell } from "../../src/domain/shell.ts";

const granted = (script: string, commands: readonly string[], paths = ["src/**"]) =>
  shellGranted(script, { tools: [], paths, commands: [...commands], hosts: [], secrets: [] });
const all = ["**"];
const wildOf = (script: string) => `${/^(?:npx )?\S+/.exec(script)?.[0] ?? ""} **`;

describe("a wildcard stands for plain words", () => {
  it.each([
    "make 'src/b;cd src;sh evil.sh;.o'",
    "make 'test-x;id'",
    "gmake 'a;id;.o'",
    "make test 'x;id;.o'",
    "make build 'x$(id)'",
    "make 'src/a`id`.o'",
    "make 'x;rm -rf .;y'",
    "make src/evil",
    "make evil.o",
    "npm run 'x;id'",
    "npm test -- 'x;id'",
    "yarn test 'x;id'",
    "pytest -k 'a;b'",
  ])("[GR-77] never for what a shell behind the program would run: %s", (script) => {
    expect(granted(script, [wildOf(script), "npm run *", "make test *", "make build *"], all)).toBe(false);
  });
  it.each([
    "cat 'src/x y/../../../etc/passwd'",
    "cat '/proc/self/environ '",
    "ls '/etc/x y'",
    "cp 'src/x y/../../../etc/passwd' src/p",
    "find 'src/x y/../../../etc'",
    "grep -r root 'src/x y/../../../etc'",
    "grep -f 'src/x y/../../../etc/passwd' src",
    "grep -- -x /etc/passwd",
    "git diff --no-index 'src/x y/../../../etc' src",
    "git commit -F 'src/x y/../../../etc/passwd'",
    "env -C 'src/x y/../../..' cat etc/passwd",
    "prettier --write 'src/x y/../../package.json'",
    "go build -o 'src/x y/../../Makefile' ./src",
    "pytest 'src/x y/../../../tmp/evil.py'",
    "tsc --noEmit 'src/x y/../../../t.ts'",
    "mkdir 'src/x y'",
    "rm 'src/a*'",
    "cat ~root/x",
    "cat 'src/a\\b'",
    "touch 'src/a$b'",
    "touch ':src'",
  ])("[GR-77] never for a word with a sign in it, wherever that leads: %s", (script) => {
    expect(granted(script, [wildOf(script), "cat **"], all)).toBe(false);
  });
  it.each([
    "grep -rn 'a b; $c' src",
    "echo 'a; b' '$x' '*'",
    "printf '%s\\n' 'a b'",
    "git commit -m 'fix: a b'",
    "git log --format='%h %s' HEAD~3..main^",
    "git diff HEAD~1 --stat",
    "git show '@{1}'",
    "find . '(' -name '*.ts' -o -name '*.js' ')'",
    "test 'a b' = 'c d'",
    "[ -n 'a b' ]",
    "test ! -f src/a",
    "date '+%F %T'",
    "cut -d ' ' -f 1 src/a",
    "sed -i 's/a b/c d/' src/a",
    "cat src/@types/a+b_c-d,e=f%.ts",
  ])("[GR-77] but for text, for revisions where git reads, and for plain words: %s", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(true);
  });
  it("[GR-77] what the grant says itself may be anything", () => {
    expect(granted("make src/evil", ["make src/evil"])).toBe(true);
    expect(granted("make -C tools/x build", ["make -C tools/x *"])).toBe(true);
    expect(granted("sh -c 'npm test'", ["sh -c *", "npm test"])).toBe(true);
  });
});

describe("git under a wildcard", () => {
  it.each([
    "git switch -- old",
    "git switch -c nn -- old",
    "git switch -c nn",
    "git checkout -b nn",
    "git checkout -- src/a",
    "git restore src/a",
    "git reset -- HEAD~3",
    "git reset",
    "git stash",
    "git stash list -- x",
    "git stash show -m --outp=scripts/gen.sh abc123",
    "git notes edit",
    "git branch nn",
    "git branch -m other",
    "git branch -- -f x y",
    "git branch -d x",
    "git tag v1",
    "git log --min-parents --outp=Makefile",
    "git commit",
    "git commit --amend",
    "git commit --amend --no-edit",
    "git commit --amend -m x",
    "git commit --fixup HEAD -m x",
    "git mv src/a src/b",
    "git mv -- src/a src/b",
    "git archive HEAD",
    "git bundle create src/a HEAD",
    "git init src/x",
    "git gc",
    "git symbolic-ref HEAD",
    "git rm ':(top)Makefil?'",
    "git rm 'Makefil[e]'",
    "git rm 'src/pack*.json'",
    "git rm 'src/*.ts'",
    "git rm -- ':src'",
    "git mv -- 'src/a*' src/b",
    "git --help log",
  ])("[GR-78] %s is granted word for word only", (script) => {
    expect(granted(script, ["git **", wildOf(script.slice(4))], all)).toBe(false);
  });
  it.each([
    "git branch",
    "git branch -vv",
    "git branch --show-current",
    "git branch --list a",
    "git tag --list",
    "git stash list",
    "git --version",
    "git --no-pager log -3",
    "git rev-parse HEAD",
    "git cat-file -p HEAD:src/a",
    "git add -A",
    "git commit -am x",
    "git commit -qam x",
    "git rm -- src/a.ts",
  ])("[GR-78] %s is covered", (script) => {
    expect(granted(script, ["git **"])).toBe(true);
  });
  it("[GR-78] a branch that is named behind `--` brings its files: it is not plain", () => {
    for (const script of ["git switch -- old", "git switch -c nn -- old"])
      expect(readShell(script).commands[0]?.opaque, script).not.toBe(null);
    expect(readShell("git switch -c nn").commands[0]?.opaque).toBe(null);
    expect(readShell("git checkout -- src/a").commands[0]?.opaque).toBe(null);
  });
});

describe("what runners write", () => {
  it.each([
    "go build -o scripts/run ./src/evil",
    "go build -o ../out",
    "go build -o=scripts/run",
    "go build ./...",
    "go build",
    "go build src/run.go",
    "go build ./src/run",
    "go build -o src/d ./...",
    "mocha init src/x",
    "yarn version",
    "prettier --write scripts/x.js",
    "prettier -lw scripts/x.js",
    "npx prettier --write scripts",
    "prettier --write .",
    "eslint --fix scripts/x.js",
    "eslint --fix",
    "biome check --write scripts",
    "biome format --write",
    "tsc scripts/gen.ts",
    "npm version patch",
    "npm pack",
    "go mod tidy",
    "go mod vendor -o scripts",
    "go fmt ./...",
    "cargo fmt",
    "deno fmt",
    "gradle wrapper",
    "gradle init",
    "vitest init browser",
    "npx vitest init browser",
    "cmake -B build",
    "mvn groovy:execute",
    "cmake --build build",
  ])("[GR-79] %s writes where the words name it only in paths, and else is granted word for word", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(false);
    if (!script.includes("..")) expect(granted(script, [script])).toBe(true);
  });
  it.each([
    "go build -o src/bin/a ./src",
    "go build -o src/bin/a",
    "go vet ./...",
    "go test -run X ./...",
    "prettier --write src",
    "prettier --write src/a.ts",
    "prettier --check .",
    "npx eslint --fix src/a.ts",
    "biome check --write src",
    "tsc --noEmit src/a.ts",
    "tsc -p tsconfig.json",
    "npx tsc --noEmit -p tsconfig.build.json",
    "cargo fmt --check",
    "npx vitest run src/a --reporter verbose",
    "pytest --cov=src tests",
    "pnpm run lint",
  ])("[GR-79] %s is covered", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(true);
  });
  it.each(["pnpm coverage run src/evil.py", "bun run coverage run src/evil.py", "yarn check", "pnpm run compile"])(
    "[GR-71] a script that may be a program is none: %s",
    (script) => {
      expect(granted(script, [wildOf(script)])).toBe(false);
    },
  );
});

describe("moves and copies", () => {
  it.each([
    "cd; cat .npmrc",
    "cd --; cat .ssh/id_rsa",
    "cd -P; cat .npmrc",
    "cd; grep -rn token .",
    "cd -; cat x",
    "cd ''; cat x",
    "cd /etc; cat passwd",
    "cd src; cd; cat x",
    "command cd; cat x",
    "pushd; popd; cat x",
    "pushd src; popd; cat x",
  ])("[GR-80] no word is granted after a move of which it is not known where it ends: %s", (script) => {
    const moves = ["cd", "cd --", "cd -P", "cd -", "cd /etc", "cd src", "pushd", "popd", "pushd src", "command cd"];
    expect(granted(script, [...moves, "cd **", "pushd **", "cat **", "grep **"], all)).toBe(false);
  });
  it.each(["cd -", "cd --", "cd -P", "pushd src", "popd -n"])("[GR-80] no wildcard stands for %s", (script) => {
    expect(granted(script, ["cd **", "pushd **", "popd **"], all)).toBe(false);
  });
  it("[GR-80] a folder of the workspace is entered", () => {
    expect(granted("cd src && ls && cat a", ["cd **", "ls", "cat *"])).toBe(true);
  });
  it.each(["cp package.json src/a.b", "cp -t src/d.x package.json", "cp src/a.js package.json src/d.x"])(
    "[GR-82] a folder may be named like a file, and what lands in it keeps its name: %s",
    (script) => {
      expect(granted(script, ["cp **"])).toBe(false);
      expect(granted(script, [script])).toBe(true);
    },
  );
  it("[GR-82] nothing lands beyond what is granted in such a folder, unless `-T` says that it is none", () => {
    expect(granted("cp src/a src/b src/d.x", ["cp **"], ["src/*"])).toBe(false);
    expect(granted("cp -t src/d.x src/a", ["cp **"], ["src/*"])).toBe(false);
    expect(granted("cp src/a src/d.x", ["cp **"], ["src/*"])).toBe(false);
    expect(granted("cp -T src/a src/d.x", ["cp **"], ["src/*"])).toBe(true);
  });
});

describe("everyday readers", () => {
  it.each([
    "md5sum src/a package.json",
    "sha256sum src/a",
    "od -c src/a",
    "column -t src/a",
    "file src/a",
    "df -h",
    "jq .name package.json",
    "jq -r '.a[] | select(.b == \"c\")' src/a.json",
    "node --version",
    "sed -n '5,9p' package.json",
    "sed -n '10,20p;30p' src/a",
    "sed -n '/foo/,/bar/p' src/a",
    "sed -i 5d src/a",
    "uniq -c package.json",
    "cp -- src/a src/b",
  ])("[GR-83] %s is covered", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(true);
  });
  it.each([
    "sha256sum -c src/list",
    "md5sum --check src/list",
    "jq -f src/x.jq src/a",
    "jq --rawfile a /etc/passwd -n x",
    "jq --slurpfile a src/a -n x",
    "jq -n 'import \"a\" as $x; $x'",
    "jq -n env",
    "jq -n '$ENV.HOME'",
    "jq . /etc/passwd",
    "file -f src/list",
    "node src/a.js",
    "node --version src/a.js",
    "sed -n '/a/w src/b' src/a",
    "sed -n '1p;w src/b' src/a",
    "sed -i '1d;2d' package.json",
    "sed -n '1r /etc/passwd' src/a",
    "uniq src/a scripts/gen.sh",
    "cp -- -r src/a",
    "env -u PATH npm test",
    "env -i npm test",
    "command -p npm test",
    "date -d 01010101 01010101",
    "tee build/CMakeCache.txt",
  ])("[GR-83] %s is not", (script) => {
    expect(granted(script, [wildOf(script), "npm test"])).toBe(false);
  });
});
