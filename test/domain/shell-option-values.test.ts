/** Values joined behind other letters, options nobody listed, and words that bring code without a dash. */
import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import { brokenBy, defaultArgumentRules } from "../../src/domain/policy-arguments.ts";
import { touchOf } from "../../src/domain/policy-call.ts";
import { gate } from "../../src/domain/policy-gates.ts";
import { filesOf } from "../../src/domain/shell-files.ts";
import { joinedValues, readOptions } from "../../src/domain/shell-options.ts";
import { crew, token } from "./policy-ask.ts";

const granted = (script: string, grant: string) =>
  shellGranted(script, { tools: ["shell_execute"], paths: ["src/**"], commands: [grant], hosts: [], secrets: [] });
const wide = (script: string) => granted(script, `${script.split(" ")[0] ?? ""} **`);
const denials = (command: string) =>
  defaultArgumentRules.flatMap((one) =>
    one.effect === "deny" &&
    brokenBy(one, touchOf({ tool: "shell_execute", args: { command } }), { token: null }) !== null
      ? [one.id]
      : [],
  );
const gated = (command: string, ...globs: string[]) => {
  const policy = {
    ...{ ...defaultPolicy, arguments: [] },
    gates: [
      gate.parse({
        ...{ id: "g", trigger: "on_tool_call", lane: "policy", action: "block" },
        ...{ check: "path_matches", params: { globs } },
      }),
    ],
  };
  const all = token({ tools: ["shell_execute"], paths: ["**"], commands: ["**"] });
  return resolve(policy, { tool: "shell_execute", args: { command } }, { ...crew, token: all }).rule === "gate:g";
};

const intoGit: readonly string[] = [
  "sort -uo.git/config src/c",
  "tar -czf.git/hooks/t src",
  "tar -cC.git -f x.tar HEAD",
  "cp -at.git/hooks src/x",
  "cp -rt.git/hooks src/x",
  "cp -vt.git src/x",
  "mv -vt.git src/x",
  "install -Dt.git/hooks src/x",
  "csplit -sf.git/hooks/cs src/a 2",
  "mktemp -qp.git",
  "shuf -n1 -o.git/x src/a",
  "zstdcat -o .git/zz src/a.zst",
  "zstd -qo.git/config src/a",
  "brotli -do.git/x src/a",
  "unzip -qd.git x",
  "scp -qi.git/x src/a src/b",
  "nonesuch -abcdefo.git/x",
  `nonesuch -${"v".repeat(500)}o.git/x`,
];
const outside: readonly string[] = [
  "tar -cvf/tmp/x src",
  "tar -cvzf../../tmp/x src",
  "cp -at/tmp src/x",
  "ln -sft../x src/a",
  "sort -uo/tmp/x src/a",
  "nonesuch -xo/tmp/x",
  "nonesuch -xyzo../../x",
];
const notPlainlyGranted: readonly string[] = [
  "sort -uoMakefile src/a",
  "curl -so.git/x file:x",
  "wget -qO.git/config x",
  "scp -qi.git/x a b",
  "git commit -qF/etc/passwd",
  "git commit -aF../../etc/passwd",
];
describe("a value joined behind other letters", () => {
  it("[SH-59] is read, with the option that takes it and where it stands", () => {
    const read = (...words: string[]) =>
      readOptions({ short: "uo@n:", long: "out=@ key=" }, words).values.map(
        ({ option, value, file, at, in: of }) => `${option} ${value} ${file} ${at} ${of}`,
      );
    expect(read("-uox", "-un", "1", "--out=y", "--key", "k")).toEqual([
      ...["-o x true 0 0", "-n 1 false 1 2", "--out y true 3 3", "--key k false 4 5"],
    ]);
    expect(joinedValues("-abc/d")).toEqual(["bc/d", "c/d", "/d"]);
    expect(["--abc", "-", "a", "-a"].flatMap(joinedValues)).toEqual([]);
    expect(joinedValues(`-${"v".repeat(10_000)}x`).length).toBeLessThan(200);
    expect(joinedValues(`-${"v".repeat(10_000)}x`)).toContain("x");
  });
  it("[SH-59] the folder of a copy is where its files land", () => {
    const into = ["src/d", "src/d/x"];
    for (const words of ["-at src/d src/x", "-atsrc/d src/x", "--target-directory=src/d src/x", "-a src/x src/d"])
      expect(filesOf(["cp", ...words.split(" ")]).written, words).toEqual(into);
  });
  it.each(intoGit)("[SH-59] in a git directory it is denied and not granted: %s", (command) => {
    expect(denials(command)).toContain("git-directory");
    expect(wide(command)).toBe(false);
  });
  it.each(outside)("[SH-59] outside the workspace it is denied and not granted: %s", (command) => {
    expect(denials(command)).toContain("outside-workspace");
    expect(wide(command)).toBe(false);
  });
  it.each(notPlainlyGranted)("[SH-59] no wildcard stands for it: %s", (command) => {
    expect(wide(command)).toBe(false);
  });
  it.each([
    "sort -t/ -k2 src/a",
    "head -n20 src/a",
    "grep -rnA3 word src",
    "ls -lah src",
    "cut -d/ -f1,2 src/a",
    "touch -d 2020-01-01 src/a",
    "mkdir -pm755 src/d",
    "tail -n +5 src/a",
    "printf %s -x",
    "test -f src/a",
    "find . -path ./.git -prune -o -name x -print",
  ])("[SH-59] harmless values stay covered: %s", (command) => {
    expect(denials(command)).toEqual([]);
    expect(wide(command)).toBe(true);
  });
  it.each([
    "sort -uosrc/y src/x",
    "tar -czfsrc/x.tgz src/a",
    "cp -at src/d src/x",
    "install -Dm755 src/a src/b",
    "nonesuch -Isub/dir/x",
    "xz -9kT0 src/a",
    "gzip -9c src/a",
    "tree -L 2 src",
    "jq -f src/x.jq package.json",
    "sha256sum -c src/sums",
    "chmod -R u+x src",
  ])(
    "[SH-59] [GR-70] harmless values of what is outside of the core are denied by nothing, and granted literally: %s",
    (command) => {
      expect(denials(command)).toEqual([]);
      expect(wide(command)).toBe(false);
      expect(granted(command, command)).toBe(true);
    },
  );
  it.each([
    ["sort -uomigrations/x a", "migrations/**"],
    ["tar -czfmigrations/x src", "migrations/**"],
    ["curl -somigrations/x u", "migrations/**"],
    ["cp -bSl src/a src/b.sq", "**/*.sql"],
    ["install -bSl src/a src/b.sq", "**/*.sql"],
    ["gzip -S ql src/x.s", "**/*.sql"],
    ["xz -Sql src/x.s", "**/*.sql"],
    ["xz --files=src/list", "migrations/**"],
    ["zstd --filelist=src/list", "migrations/**"],
    ["setfacl --restore=src/x", "migrations/**"],
    ["ag --pager=src/x word", "migrations/**"],
    ["wget -UOpera http://h/y", "migrations/**"],
    ["grep -nfmigrations/x src/a", "migrations/**"],
    ["csplit -sfmigrations/x src/a 2", "migrations/**"],
    ["cp -rtmigrations src/x", "migrations/**"],
  ])("[SH-59] a gate on paths holds %s", (command, glob) => {
    expect(gated(command, glob)).toBe(true);
  });
  it.each(["cp -p src/a src/b", "gzip -9k src/a", "xz -T4 src/a", "ls -la src", "install -m 755 src/a src/b"])(
    "[SH-59] and lets %s pass",
    (command) => {
      expect(gated(command, "migrations/**", "**/*.sql")).toBe(false);
    },
  );
});

describe("an option that no list has", () => {
  it.each([
    "install -s --strip-program=src/x src/a src/b2",
    "install -s --strip-program src/x src/a src/b2",
    "zstdcat -o src/x src/a.zst",
    "ag --pager src/x word",
    "xz --files=src/list",
    "zstd --filelist=src/list",
    "setfacl --restore=src/x",
    "lsof -Dbsrc/x",
    "shred --random-source=src/x src/a",
    "hostid -x",
    "users -x",
    "git blame --abbrev --outp=src/x HEAD src/a",
    "git diff -U --output=src/x",
    "git diff --stat --output=src/x",
    "git log --color --output=src/x",
    "cp --backup --suffix=l src/a src/b",
    "make --jobs --eval=x",
    "zstd -T --filelist=src/x src/a",
    "lz4 -B --nonesuch src/a",
    "ag --after --pager=src/x word",
    "vitest --testNamePattern --config=src/evil.ts",
    "eslint --ext --rulesdir=src/evil src/a",
  ])("[SH-60] asks, of an ordinary program too: %s", (command) => {
    expect(wide(command)).toBe(false);
    expect(granted(command, command)).toBe(true);
  });
});

describe("words without a dash", () => {
  it.each([
    ["c++ **", "c++ @src/opts"],
    ["clang++ **", "clang++ @src/opts"],
    ["gcc-12 **", "gcc-12 @src/opts"],
    ["rustc **", "rustc @src/opts"],
    ["as **", "as @src/opts"],
    ["pytest **", "pytest @src/opts"],
    ["tsc **", "tsc @src/opts"],
    ["sqlite3 **", "sqlite3 src/x.db .tables"],
    ["sqlite3 **", "sqlite3 src/x.db '.shell sh src/x'"],
    ["uv **", "uv run sh src/x"],
    ["poetry **", "poetry run sh src/x"],
    ["pipenv **", "pipenv run sh src/x"],
    ["pdm **", "pdm run sh src/x"],
    ["conda **", "conda run sh src/x"],
    ["mix **", "mix cmd sh src/x"],
    ["yarn **", "yarn node src/x"],
    ["yarn **", "yarn workspace a exec sh"],
    ["yarn **", "yarn run node src/x.js"],
    ["pnpm **", "pnpm sh src/x"],
    ["cmake **", "cmake src/evil"],
    ["tsc **", "tsc -b src/evil.json"],
    ["pnpm **", "pnpm --filter a exec sh"],
    ["pnpm --filter a **", "pnpm --filter a exec sh"],
    ["bun **", "bun src/x.js"],
    ["bun **", "bun x evil"],
    ["deno **", "deno eval x"],
    ["npm **", "npm exe sh"],
    ["npm **", "npm install ./src/evil"],
    ["npm install **", "npm install src/evil"],
    ["npm i **", "npm i file:src/evil"],
    ["npm install **", "npm install src.tgz"],
    ["pip install **", "pip install ./src/evil"],
    ["corepack **", "corepack pnpm exec sh"],
    ["npx npm **", "npx npm exec sh"],
    ["make **", "make CC=x all"],
    ["cmake **", "cmake --build src/evil"],
    ["cmake **", "cmake -S src/evil"],
    ["tsc **", "tsc -p src/evil.json"],
    ["go **", "go env -w X=y"],
  ])("[SH-61] %s never stands for what is run: %s", (grant, script) => {
    expect(granted(script, grant)).toBe(false);
  });
  it.each(["sqlite3 src/x.db", "sqlite3 src/x.db < src/a", "ed src/a", "psql db", "bun", "deno"])(
    "[SH-61] what runs its input is never granted: %s",
    (command) => {
      expect(granted(command, command.split(" <")[0] ?? "")).toBe(false);
    },
  );
  it.each([
    ["sqlite3 src/x.db .tables", "sqlite3 src/x.db .tables"],
    ["npx vitest **", "npx vitest run config"],
    ["make **", "make config"],
    ["cargo **", "cargo test config"],
    ["pytest **", "pytest -k config"],
    ["go test **", "go test ./... -run config"],
    ["npm test **", "npm test config/a.test.ts"],
    ["npm run **", "npm run config"],
    ["yarn **", "yarn build"],
    ["pytest **", "pytest src/t.py::test_a=b"],
    ["tsc **", "tsc -p ."],
    ["tsc **", "tsc -b"],
    ["vitest **", "vitest run --project node"],
    ["mvn **", "mvn -q test"],
    ["mvn **", "mvn -B clean verify -DskipTests"],
    ["gradle **", "gradle test --no-daemon"],
    ["cp **", "cp -T package.json src/p.json"],
    ["npm ls **", "npm ls vitest@3 @types/node"],
    ["bun **", "bun test"],
  ])("[SH-62] %s covers %s", (grant, script) => {
    expect(granted(script, grant)).toBe(true);
  });
  it.each([
    ["cp * *", "cp src/Makefile ."],
    ["cp * *", "cp src/a package.json"],
    ["cp **", "cp -l package.json src/p.json"],
    ["cp **", "cp -t . src/Makefile"],
    ["ln * *", "ln package.json src/p.json"],
  ])("[SH-62] a copy reads its source, and %s never stands for a protected file it lands on: %s", (grant, script) => {
    expect(granted(script, grant)).toBe(false);
  });
});
