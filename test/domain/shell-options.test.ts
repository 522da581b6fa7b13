/** Lines that ran, wrote or slipped because an option was spelled in another way, or because nobody listed the program. */
import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import { brokenBy, defaultArgumentRules } from "../../src/domain/policy-arguments.ts";
import { touchOf } from "../../src/domain/policy-call.ts";
import { gate } from "../../src/domain/policy-gates.ts";
import { readShell } from "../../src/domain/shell.ts";
import { filesOf } from "../../src/domain/shell-files.ts";
import { readOptions } from "../../src/domain/shell-options.ts";
import { crew, token } from "./policy-ask.ts";

const granted = (script: string, ...commands: string[]) =>
  shellGranted(script, { tools: ["shell_execute"], paths: ["**"], commands, hosts: [], secrets: [] });
const touch = (command: string) => touchOf({ tool: "shell_execute", args: { command } });

describe("options", () => {
  it("[SH-54] letters may be joined, and what takes a value takes the rest of the word or the next", () => {
    const read = (...words: string[]) =>
      readOptions({ short: "lo@n:c?x*#", long: "all key= out=@ color?=" }, words).odd.map((at) => words[at]);
    expect(read("-lo", "-z", "-n", "-z", "-nz", "-lnz", "-o-z", "-c", "-cz", "-12", "--", "-z")).toEqual([]);
    expect(read("--all", "--key", "-z", "--key=1", "--out", "-z", "--color", "--color=1", "-", "a")).toEqual([]);
    expect(read("-x", "a", "b", "-z")).toEqual(["-z"]);
    expect(read("--color", "-z", "-c", "-z")).toEqual(["-z", "-z"]);
    expect(read("-lz", "-cl", "-zl", "--al", "--all=1", "--ke=1", "--nope", "--c")).toEqual([
      ...["-lz", "-zl", "--al", "--all=1", "--ke=1", "--nope", "--c"],
    ]);
    const text = readOptions({ short: "o@n:", long: "key= out=@" }, ["-n", "a", "-o", "b", "--key=c", "--out=d", "e"]);
    expect([...text.text]).toEqual([0, 1, 2, 4]);
    expect(readOptions({ short: "cfC@", bundled: true }, ["cI", "x"]).odd).toEqual([0]);
    expect(readOptions({ short: "cf@C@", bundled: true }, ["cfC", "-x", "-y", "-z"]).odd).toEqual([3]);
  });
});

const runsUnlisted: readonly (readonly [grant: string, script: string])[] = [
  ["git grep **", "git grep -lOsh . data.txt"],
  ["git grep **", "git grep -n -Osh . data.txt"],
  ["git grep **", "git grep -nOsh ."],
  ["git grep **", "git grep -e. -lOsh"],
  ["git grep **", "git grep --open-files=sh ."],
  ["git init **", "git init --te=src/evil"],
  ["git init **", "git init --template=src/evil"],
  ["git log **", "git log -1 --outp=src/x"],
  ["git fetch **", "git fetch --upload-p=sh origin"],
  ["git merge **", "git merge -s evil x"],
  ["git commit **", "git commit -aS -m x"],
  ["split **", "split --f=sh data.txt"],
  ["split **", "split --fil=sh data.txt"],
  ["split **", "split --filter=sh data.txt"],
  ["sort **", "sort --com=sh -S1k big"],
  ["sort **", "sort --co=sh -S1 big"],
  ["sort **", "sort --compress-program=sh big"],
  ["npm test **", "npm test -C tools/sub"],
  ["npm test **", "npm test --script-s=x"],
  ["npm test **", "npm test --script-shell=x"],
  ["npm test **", "npm test --pre=tools"],
  ["npm test **", "npm test --prefix tools"],
  ["npm test **", "npm test -w evil"],
  ["npm test **", "npm test -sw evil"],
  ["npm test **", "npm test -- --globalSetup=./x.js"],
  ["jest **", "jest -- --globalSetup=./x.js"],
  ["make *", "make -ftools/mk.txt"],
  ["make *", "make -sftools/mk.txt"],
  ["make **", "make -sf tools/mk.txt"],
  ["make **", "make -C tools"],
  ["make *", "make -Ctools"],
  ["make *", "make --direc=tools"],
  ["make **", "make -E 'x:;sh'"],
  ["make *", "make '--ev=x:;sh'"],
  ["make *", "make '--eval=x:;sh'"],
  ["make *", "make 'X != sh x'"],
  ["diff **", "diff -l a b"],
  ["diff **", "diff --pag a b"],
  ["rg **", "rg --pre sh . src"],
  ["rg **", "rg --pre=sh . src"],
  ["rg **", "rg --hostname-bin=src/x . src"],
  ["go test **", "go test --exec=src/x ./..."],
  ["go test **", "go test -exec=src/x ./..."],
  ["go test **", "go test -C tools"],
  ["go vet **", "go vet -vettool=src/x"],
  ["go vet **", "go vet --vettool=src/x"],
  ["pytest **", "pytest -p src.evil"],
  ["pytest **", "pytest -qp src.evil"],
  ["pytest **", "pytest --pdbcls=src.evil:X"],
  ["eslint **", "eslint --rulesdir src/evil src"],
  ["eslint **", "eslint --format=./src/evil.js src"],
  ["eslint **", "eslint -f ./src/evil.js src"],
  ["prettier **", "prettier --plugin=./src/evil.js src"],
  ["prettier **", "prettier --plugin ./src/evil.js src"],
  ["mocha **", "mocha --req ./x"],
  ["mocha **", "mocha --require=./x"],
  ["jest **", "jest --globalSetup=./src/evil.js"],
  ["jest **", "jest --testRunner=./src/evil.js"],
  ["vitest run **", "vitest run --reporter=./src/evil.js"],
  ["npx vitest **", "npx vitest run --reporter=./src/evil.js"],
  ["npx vitest **", "npx vitest run --config src/evil.ts"],
  ["cargo test **", "cargo test --config=src/evil.toml"],
  ["cargo test **", "cargo test --manifest-path src/evil/Cargo.toml"],
  ["cargo **", "cargo +evil test"],
  ["python3 -m pytest **", "python3 -m pytest -p src.evil"],
  ["wget **", "wget --use-a=sh src"],
  ["gcc-12 **", "gcc-12 -wrapper sh,src/x src/a.c"],
  ["gcc **", "gcc -fplugin=src/x.so a.c"],
  ["cc -c *", "cc -c @src/opts"],
  ["man **", "man -P sh ls"],
  ["tar **", "tar -cf src/x.tar --checkpoint=1 src"],
  ["tar **", "tar -cIsh -f src/x.tar src"],
  ["tar **", "tar --use=sh -cf x src"],
  ["tar **", "tar -cf x.tar -T list"],
  ["tar **", "tar -caf x.tar.lzop src"],
  ["find **", "find . -maxdepth 0 -fprintf src/evil x"],
  ["find **", "find . -nonesuch"],
  ["fd **", "fd --exec-b=sh"],
  ["prove **", "prove -e sh src/mk"],
  ["ssh-agent **", "ssh-agent sh"],
  ["choom **", "choom -n 0 sh"],
  ["shuf **", "shuf -o src/x a"],
];
const spelled: readonly (readonly [grant: string, script: string])[] = [
  ["make -C tools *", "make -C tools all"],
  ["npm test -w evil", "npm test -w evil"],
  ["sort --com=sh big", "sort --com=sh big"],
  ["prove -e sh src/mk", "prove -e sh src/mk"],
  ["go test -exec=src/x **", "go test -exec=src/x ./..."],
];
const stillRuns: readonly (readonly [grant: string, script: string])[] = [
  ["git grep **", "git grep -lne word -- src"],
  ["git grep **", "git grep -ln -A2 --max-depth 3 word"],
  ["git log **", "git log --oneline -5 --format=%h -S word -- src"],
  ["git **", "git show --stat HEAD~1"],
  ["git diff **", "git diff --name-only -U3 main...HEAD"],
  ["git commit **", "git commit -qam 'two words'"],
  ["sort **", "sort -t, -k2,2nr -u a"],
  ["npm **", "npm --silent test -- src/a.test.ts"],
  ["npm ci **", "npm ci --ignore-scripts --no-audit"],
  ["make **", "make -j4 -s all"],
  ["make **", "make -j 4 --no-print-directory all"],
  ["diff **", "diff -ru a b"],
  ["rg **", "rg -n -tts -g '!x' word src"],
  ["go test **", "go test -race -run Name ./..."],
  ["pytest **", "pytest -qx -k name --maxfail=1 tests"],
  ["python3 -m pytest **", "python3 -m pytest -q tests"],
  ["eslint **", "eslint --fix --max-warnings 0 src"],
  ["prettier **", "prettier --write src/a.ts"],
  ["npx vitest **", "npx vitest run --reporter=dot src/a.test.ts"],
  ["jest **", "jest --runInBand -t name"],
  ["cargo test **", "cargo test --release -p core -- --nocapture"],
  ["find **", "find src -type f -name '-x' -newermt 2020-01-01 -print0"],
];
describe("a wildcard of a grant", () => {
  it.each(runsUnlisted)("[SH-55] %s never stands for an option of %s that may run code", (grant, script) => {
    expect(granted(script, grant)).toBe(false);
    const allow = token({ tools: ["shell_execute"], paths: ["**"], commands: [grant] });
    const { decision } = resolve(
      defaultPolicy,
      { tool: "shell_execute", args: { command: script } },
      { ...crew, token: allow },
    );
    expect(decision).not.toBe("run");
    expect(readShell(script).commands[0]?.opaque ?? null).not.toBeNull();
  });
  it("[SH-55] git names such an option where its command is code already", () => {
    expect(readShell("git fetch --upload-pack=sh origin").commands[0]?.code).toEqual(["fetch", "--upload-pack=sh"]);
  });
  it.each(spelled)("[SH-55] but the words of %s spell it: %s runs", (grant, script) => {
    expect(granted(script, grant)).toBe(true);
  });
  it.each(stillRuns)("[SH-55] %s covers harmless options: %s", (grant, script) => {
    expect(granted(script, grant)).toBe(true);
  });
});

describe("a program nobody listed", () => {
  const gates = (glob: string) => ({
    ...{ ...defaultPolicy, arguments: [] },
    gates: [
      gate.parse({
        ...{ id: "g", trigger: "on_tool_call", lane: "policy", action: "block" },
        ...{ check: "path_matches", params: { globs: [glob] } },
      }),
    ],
  });
  const all = token({ tools: ["shell_execute"], paths: ["**"], commands: ["**"] });
  const rule = (command: string, glob = "migrations/**") =>
    resolve(gates(glob), { tool: "shell_execute", args: { command } }, { ...crew, token: all }).rule;
  it.each([
    "prove -e sh src/mk",
    "rename s/a/b/ src/x",
    "ctags -R",
    "logrotate src/conf",
    "latex src/a",
    "prisma migrate dev",
    "alembic revision -m x",
    "nonesuch",
    "nonesuch --version",
    "prove -v",
    "nonesuch a b",
    "timeout 5 nonesuch",
    "git stash",
    "git stash -u",
    "git stash push -m x",
    "git clean -f",
    "git format-patch HEAD~1",
    "split -a1 a migrationx",
    "csplit a 1",
    "mktemp x.XXX",
  ])("[SH-56] is held by a gate on paths, as is what changes files it does not name: %s", (command) => {
    expect(rule(command)).toBe("gate:g");
  });
  it.each(["git stash list", "git log", "ls src", "sort -o src/y src/x", "cp a src/b", "diff -u a b"])(
    "[SH-56] what is known passes: %s",
    (command) => {
      expect(rule(command)).not.toBe("gate:g");
    },
  );
  it("[SH-56] it is not plain, and runs under a grant that names it", () => {
    for (const command of ["rename s/a/b/ src/x", "nonesuch --opt a"]) {
      const notPlain = defaultArgumentRules.filter(({ check }) => check === "shell_not_plain");
      expect(notPlain.map((one) => brokenBy(one, touch(command), { token: null }))).not.toContain(null);
      expect(granted(command, command), command).toBe(true);
      expect(granted(command, `${command.split(" ")[0]} **`), command).toBe(false);
    }
  });
  it("[SH-58] a copy that sed or perl keeps is written too", () => {
    const written = (...argv: string[]) => filesOf(argv).written;
    expect(written("sed", "-il", "s/a/b/", "src/x.sq")).toEqual(["src/x.sq", "src/x.sql"]);
    expect(written("sed", "-ni.bak", "p", "x")).toEqual(["x", "x.bak"]);
    expect(written("sed", "-ix*l", "s/a/b/", "d/.sq")).toEqual(["d/.sq", "d/x.sql"]);
    expect(written("sed", "--in-place=~", "p", "x")).toEqual(["x", "x~"]);
    expect(written("sed", "-i.git/*", "p", "d/config")).toEqual(["d/config", "d/.git/config", ".git/config"]);
    expect(written("perl", "-pi.bak", "-e", "1", "x")).toEqual(["x", "x.bak"]);
    expect(written("sed", "-i", "p", "x")).toEqual(["x"]);
    expect(rule("sed -il s/a/b/ src/x.sq", "**/*.sql")).toBe("gate:g");
    expect(rule("sed -i'x*l' s/a/b/ src/.sq", "src/x.sql")).toBe("gate:g");
    expect(rule("sed -i s/a/b/ src/x.sq", "**/*.sql")).not.toBe("gate:g");
  });
});
