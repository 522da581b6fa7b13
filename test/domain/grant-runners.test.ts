/** What a wildcard stands for in the words of runners and of git, where one word changes what another means. Every line slipped. */
import { describe, expect, it } from "vitest";
import type { PatchFile } from "../../src/domain/evidence.ts";
import { patchVerdict, shellGranted } from "../../src/domain/grant.ts";
import { readShell } from "../../src/domain/shell.ts";

const allow = (commands: readonly string[], paths: readonly string[]) => ({
  ...{ tools: [], hosts: [], secrets: [] },
  ...{ commands: [...commands], paths: [...paths] },
});
const granted = (script: string, commands: readonly string[], paths = ["src/**"]) =>
  shellGranted(script, allow(commands, paths));
const all = ["**"];
const wildOf = (script: string) => `${/^(?:npx )?\S+/.exec(script)?.[0] ?? ""} **`;

describe("a word that is spelled like the grant", () => {
  it.each([
    ["git rm '*'", "git rm *"],
    ["git restore '*'", "git restore *"],
    ["git checkout '*'", "git checkout *"],
    ["git clean -f '*'", "git clean -f *"],
    ["git stash push '*'", "git stash push *"],
    ["git rm 'src/*'", "git rm src/*"],
    ["prettier --write '*'", "prettier --write *"],
    ["npx prettier --write '*'", "npx prettier --write *"],
    ["eslint --fix '*'", "eslint --fix *"],
    ["node '*'", "node *"],
    ["node 'src/*'", "node src/*"],
    ["sh 'src/*.sh'", "sh src/*.sh"],
    ["bash -c '*'", "bash -c *"],
    ["nonesuch '**'", "nonesuch **"],
  ])("[GR-84] %s under %s is what its wildcard stands for", (script, grant) => {
    expect(granted(script, [grant], all)).toBe(false);
  });
  it("[GR-84] where the word is text to its program, it is one", () => {
    expect(granted("find src -name '*.ts'", ["find src -name *.ts"])).toBe(true);
    expect(granted("echo '*'", ["echo *"])).toBe(true);
  });
});

describe("the options of a runner", () => {
  it.each([
    "yarn run --loglevel rimraf build lib2",
    "yarn run --include rimraf build",
    "yarn run --production rimraf build",
    "pnpm run --loglevel rimraf build",
    "bun run --loglevel src/evil.ts build",
    "bun run --omit src/evil.ts build",
    "bun run --include src/evil.ts build",
    "npm --loglevel silent run build",
    "yarn test --json",
    "pnpm build --offline",
    "jest -tc src/evil.js",
    "jest -ic src/evil.js",
    "vitest run -tc src/evil.mjs",
    "vitest run --changed=--output=README",
    "vitest run --bail=--x",
    "pytest -qc src/evil.ini",
    "mocha -br src/evil.js",
    "make -t build",
    "make --touch build",
    "make -kt build",
    "make -ot build",
    "biome check --write --staged src",
    "biome check --write --changed src",
    "npx bunx evil",
    "npx npx evil",
    "npm -- exec evil",
    "pnpm -- rimraf src",
    "yarn run -- rimraf src",
    "bun -- src/evil.ts",
    "bun run -- src/evil.ts",
    "deno -- eval x",
    "cargo -- evil",
    "go -- run x",
    "biome -- migrate",
    "npm install -- ./src/evil",
    "npm help x",
    "npm fund x",
    "deno fmt src/a.ts -- --check",
  ])("[GR-85] %s asks", (script) => {
    expect(granted(script, [wildOf(script), "npx bunx **", "npx npx **"], all)).toBe(false);
  });
  it.each([
    ["./node_modules/.bin/vitest **", "./node_modules/.bin/vitest --config src/x"],
    ["./gradlew **", "./gradlew -I src/x test"],
    ["bin/pytest **", "bin/pytest -c src/x"],
    ["prettier3 **", "prettier3 --write scripts/x.js"],
    ["yarn run --cwd x **", "yarn run --cwd x evil"],
    ["yarn run --evil **", "yarn run --evil rimraf src"],
  ])("[GR-85] nor under %s, where the program lies in the workspace or an option is spelled: %s", (grant, script) => {
    expect(granted(script, [grant], all)).toBe(false);
    expect(granted(script, [script], all)).toBe(true);
  });
  it.each([
    "yarn --silent run build",
    "yarn run --silent build",
    "yarn --silent test",
    "pnpm install --frozen-lockfile",
    "bun run --silent build",
    "npm --loglevel=silent run build",
    "npm install --omit=dev",
    "jest -i -t name src/a.js",
    "vitest run -t name --shard=1/2 --retry=2",
    "pytest -xvs -k name",
    "pytest -n4 -ra",
    "make -k -j4 build",
    "make -s",
    "cargo test -p core -j4",
    "gradle -q test --console=plain",
    "./node_modules/.bin/vitest run src/a",
  ])("[GR-85] its own are covered: %s", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(true);
  });
});

describe("the input", () => {
  it.each([
    "bun run -",
    "bun -",
    "deno run -",
    "bun run /dev/stdin",
    "node /dev/fd/0",
    "python3 /proc/self/fd/0",
    "make -f -",
    "sh /dev/stdin",
    "source /dev/stdin",
    "bash -c - 'id'",
    "npx tsx -",
  ])("[SH-71] a program that runs it is granted by no word: %s", (script) => {
    expect(readShell(script).dynamic).toBe(true);
    expect(granted(script, [script, wildOf(script)], all)).toBe(false);
    expect(granted(`echo 'x' | ${script}`, [script, wildOf(script), "echo *"], all)).toBe(false);
  });
  it.each(["tee -", "rm -", "touch -", "ls -", "git add -", "mkdir -"])(
    "[GR-86] a wildcard is no `-` of %s",
    (script) => {
      expect(granted(script, [wildOf(script)], all)).toBe(false);
      expect(granted(script, [script], all)).toBe(true);
    },
  );
  it.each(["cat -", "sort -", "diff src/a -", "grep -c x -", "echo -"])(
    "[GR-86] what only reads takes it: %s",
    (script) => {
      expect(granted(script, [wildOf(script)])).toBe(true);
    },
  );
});

describe("what makes a program only look", () => {
  it.each([
    "tsc --noEmit false lib/util.ts",
    "tsc --noEmit true lib/util.ts",
    "tsc --noEmit null lib/util.ts",
    "npx tsc --noEmit false lib/util.ts",
    "tsc lib/util.ts -- --noEmit",
    "tsc --noemit lib/util.ts",
    "tsc -noEmit lib/util.ts",
    "tsc --noEmit lib",
    "tsc -b --noEmit lib/util.ts",
    "tsc --pretty --noEmit --pretty false",
    "deno fmt lib/a.ts -- --check",
    "go fmt ./lib -- --check",
    "go fmt --check ./lib",
    "npm version patch -- --check",
    "npm version patch --check",
    "npm pack --dry-run --check",
    "cargo fmt -- --check",
    "cargo fmt --check false",
    "vitest init --check browser",
  ])("[GR-87] %s does not look only", (script) => {
    const [, form = ""] = /^((?:npx )?tsc --noEmit) /.exec(script) ?? [];
    expect(granted(script, [wildOf(script), ...(form === "" ? [] : [`${form} **`])])).toBe(false);
    expect(granted(script, [script])).toBe(true);
  });
  it("[GR-87] nor where the grant itself spells it behind `--`", () => {
    expect(granted("deno fmt src/a.ts -- --check", ["deno fmt * -- --check"])).toBe(false);
    expect(granted("deno fmt --check src/a.ts", ["deno fmt --check *"])).toBe(true);
  });
  it.each([
    "tsc --noEmit src/a.ts",
    "npx tsc --noEmit",
    "tsc -p . --noEmit",
    "cargo fmt --check",
    "deno fmt --check src",
  ])("[GR-87] %s does", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(true);
  });
});

describe("folders that formatters are given", () => {
  it("[GR-89] what they change in one is held to the grant at the end", () => {
    const file = (path: string): PatchFile => ({ path, change: "modified", old_mode: "100644", mode: "100644" });
    for (const script of ["prettier --write src", "eslint --fix src", "biome check --write src"])
      expect(granted(script, [wildOf(script)]), script).toBe(true);
    const item = { allow: allow([], ["src/**"]), protect: [] };
    for (const path of ["src/app/package.json", "src/hooks/pre-commit", "src/app/AGENTS.md", "src/app/Makefile"]) {
      const verdict = patchVerdict([file("src/app/a.ts"), file(path)], item);
      expect(verdict, path).toMatchObject({ kind: "outside", paths: [{ path }] });
    }
    expect(patchVerdict([file("src/app/a.ts")], item)).toEqual({ kind: "ok" });
  });
});

describe("git", () => {
  it.each(["git --icase-pathspecs rm src/a", "git --glob-pathspecs rm src/a", "git --noglob-pathspecs rm src/a"])(
    "[SH-72] %s names other files than it says",
    (script) => {
      expect(readShell(script).commands[0]?.opaque).not.toBe(null);
    },
  );
  it.each([
    "git --icase-pathspecs rm src/a",
    "git --icase-pathspecs add src/a",
    "git --literal-pathspecs log",
    "git -P log",
    "git --no-optional-locks status",
    "git -C src log",
    "git --help",
    "git log --format=%GG",
    "git log --pretty=%G?",
    "git log '--pretty=format:%h %GS'",
    "git log '--pretty=tformat:%H%+GK'",
    "git log --pretty=mine",
    "git show -s --format=%GF",
    "git shortlog --group=format:%GS",
    "git rev-list --format=%G? HEAD",
    "git tag --list --sort=signature",
    "git tag --list --sort=-signature:grade",
  ])("[GR-90] %s is no wildcard's", (script) => {
    expect(granted(script, ["git **", "git --icase-pathspecs **"], all)).toBe(false);
  });
  it.each([
    "git --no-pager log -3",
    "git log --oneline",
    "git log --pretty=oneline",
    "git log '--format=%h %an <%ae> %ad%x09%s%C(auto)%d' -5",
    "git show -s --format=%B HEAD",
    "git log '--pretty=format:%H%%G' -1",
    "git tag --list --sort=-version:refname",
    "git ls-files --format=%(path)",
  ])("[GR-90] %s only prints", (script) => {
    expect(granted(script.replace("%(path)", "'%(path)'"), ["git **"])).toBe(true);
  });
});

describe("gradle and mvn", () => {
  it.each([
    "gradle wrap",
    "gradle ini",
    "gradle publish",
    "gradle run",
    "./gradlew wrap",
    "mvn deploy",
    "mvn install",
    "mvn x:y",
    "mvn site",
  ])("[GR-91] %s is granted word for word", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(false);
    expect(granted(script, [script])).toBe(true);
  });
  it.each([
    "gradle test --tests Name",
    "gradle clean build",
    "./gradlew check",
    "mvn -q verify",
    "mvn -T 4 clean package",
  ])("[GR-91] %s is covered", (script) => {
    expect(granted(script, [wildOf(script)])).toBe(true);
  });
  it("[GR-91] beside what the grant spells itself", () => {
    expect(granted("mvn -f x/pom.xml test", ["mvn -f x/pom.xml *"])).toBe(true);
    expect(granted("gradle publish test", ["gradle publish *"])).toBe(true);
    expect(granted("gradle publish wrap", ["gradle publish *"])).toBe(false);
  });
});
