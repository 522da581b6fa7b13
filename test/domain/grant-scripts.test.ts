/** Which words a wildcard hands on to a program that nobody knows, and what changes its own meaning. Every line slipped. */
import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";
import { fits } from "../../src/domain/standing.ts";
import { shell, token } from "./policy-ask.ts";
import { asked, cardOf, itemOf } from "./standing-world.ts";

const granted = (script: string, commands: readonly string[], paths = ["src/**"]) =>
  shellGranted(script, { tools: [], paths, commands: [...commands], hosts: [], secrets: [] });
const all = ["**"];
const wide = "npm npx yarn pnpm bun deno cargo go make vitest mocha jest".split(" ").map((name) => `${name} **`);
const narrow = ["npm run *", "npm run **", "npm run * *", "npm run * -- *", "npm test *", "yarn run **", "npx npm **"];
const each = [...wide, ...narrow];

describe("words behind a script", () => {
  it.each([
    "npm run build @src/opts.txt",
    "npm run build -- @src/opts.txt",
    "npm test @src/opts.txt",
    "npm test -- @src/opts.txt",
    "yarn build @src/opts.txt",
    "pnpm run build @src/opts.txt",
    "bun run build @src/opts.txt",
    "npm run typecheck false",
    "npm run typecheck -- false",
    "yarn typecheck false",
    "npm test init docs",
    "npm test -- false",
    "npm t init",
    "npm run clean README.md",
    "npm run clean docs/..",
    "npm run clean node_modules",
    "npm run clean .",
    "npm run clean src/a.ts",
    "npm run clean -- src/a.ts",
    "npm run build src/a.ts",
    "npm run build -- --fix",
    "npm run build --",
    "npm start src/a.js",
    "npm stop x",
    "npm restart -- x",
    "yarn start src/a.js",
    "yarn lint --fix",
    "pnpm dev src/a.ts",
    "npm test -- --coverage",
    "npm test --silent",
    "yarn test --silent",
    "pnpm test -u",
    "npm test src/../x.ts",
    "npm test ..",
    "npm test src/..",
    "npm test ../x.ts",
    "npm test /workspace/src/a.ts",
    "npm test -src/a.ts",
    "npm test .git/x",
    "npm test src/.git/x",
    "npm test package.json",
    "npm test 1.5",
    "npm test name",
    "npm test a=src/b.ts",
    "npm test a:b.ts",
    "npm run test:unit false",
    "npm test -- -- src/a.ts",
    "npm test -- src/a.ts -- src/b.ts",
    "npm run -- test -- src/a.ts",
    "yarn test -- src/a.ts",
    "pnpm run test -- src/a.ts",
    "bun test -- src/a.ts",
    "npm run testing src/a.ts",
    "npm run pretest src/a.ts",
    "bun test name",
    "npx npm run build src/a.ts",
    "deno test src/a.ts -- src/b.ts",
    "cargo test -- init",
    "cargo test -- --logfile=README.md",
    "cargo bench -- src/a",
    "cargo bench -- --nocapture",
    "go test ./src/a -- --nocapture",
    "go test ./src/a -v false",
    "go test ./src/a -run X src/b",
  ])("[GR-95] %s hands on what nobody knows the meaning of", (script) => {
    expect(granted(script, each, all)).toBe(false);
    if (!/\.\.|\.git|\/workspace/.test(script)) expect(granted(script, [script], all)).toBe(true);
  });
  it.each([
    "npm test",
    "npm test src/a.test.ts",
    "npm test -- src/a.test.ts tests/b.ts",
    "npm test ./src/a.ts",
    "npm t src/a.test.ts",
    "npm run test src/a.test.ts",
    "npm run test:unit -- src/a.test.ts",
    "npm run -s build",
    "npm --silent test src/a.test.ts",
    "yarn test src/a.test.ts",
    "pnpm test src/a.test.ts",
    "pnpm run test:unit src/a.test.ts",
    "bun test src/a.test.ts",
    "npx npm test src/a.test.ts",
    "npm start",
    "deno test src/a.ts",
    "cargo test name",
    "cargo test name -- --nocapture",
    "go test -v ./src/a ./src/b -run X -count 1",
    "npm ls",
  ])("[GR-95] the file of a test is no such word: %s", (script) => {
    expect(granted(script, each)).toBe(true);
  });
  it("[GR-95] what the grant spells behind a script is free", () => {
    expect(granted("npm run clean dist", ["npm run clean dist"])).toBe(true);
    expect(granted("npm run test -- --grep src/a.ts", ["npm run * -- --grep *"])).toBe(true);
    expect(granted("npm run build -- --grep src/a.ts", ["npm run * -- --grep *"])).toBe(false);
    expect(granted("npm run build -- --fix", ["npm run * -- --fix"])).toBe(true);
  });
});

describe("the name of a script", () => {
  it.each([
    "npm run env",
    "npm run env sh src/evil.sh",
    "npm run env node src/evil.js",
    "npm run -s env sh src/evil.sh",
    "npm --silent run env sh src/evil.sh",
    "npm run env touch README.md",
    "npm run env curl evil.example",
    "npm run env -- src/evil.sh",
    "npm run -- env reboot",
    "npx npm run env sh src/evil.sh",
    "timeout 5 npm run env sh src/evil.sh",
    "sh -c 'npm run env sh src/evil.sh'",
    "npm run src/evil.js",
    "npm run a@b",
    "npm run .x",
    "bun run a:b.ts",
    "yarn run env",
    "pnpm run exec",
  ])("[GR-96] %s names none of the project's", (script) => {
    expect(granted(script, [...each, "timeout **", "sh -c *"], all)).toBe(false);
  });
  it("[GR-96] to a call it is a person's, and so it is behind a name that the grant spells", () => {
    const held = (commands: string[]) => ({ token: token({ tools: ["shell_execute"], paths: ["src/**"], commands }) });
    expect(shell("npm run build", held(["npm **"]))).toBe("run token");
    expect(shell("npm run env sh src/evil.sh", held(["npm **"]))).not.toContain("run");
    expect(granted("npm run env sh src/evil.sh", ["npm run env **"], all)).toBe(false);
    expect(granted("npm run env sh src/evil.sh", ["npm run env sh *"], all)).toBe(false);
  });
  it("[GR-96] nor does an approval in advance speak for a plan that spells it", () => {
    const inside = (command: string) => {
      const { grants } = itemOf();
      const card = cardOf({ items: [itemOf({ grants: { ...grants, commands: [command] } })] });
      return fits(asked({ card }, { commands: ["npm test", "echo **", "npm **"] })).fits;
    };
    for (const command of ["npm run env sh src/evil.sh", "npm run env **", "npm run clean docs", "npm test init docs"])
      expect(inside(command), command).toBe(false);
    for (const command of ["npm run *", "npm test src/a.test.ts", "npm run build"])
      expect(inside(command), command).toBe(true);
  });
  it.each([
    ["deno task *", "deno task build"],
    ["deno task build *", "deno task build src/a.ts"],
    ["deno run src/a.ts *", "deno run src/a.ts src/b.ts"],
    ["cargo run -- *", "cargo run -- src/a.ts"],
    ["cargo nextest *", "cargo nextest src/a.ts"],
    ["go run ./src/a *", "go run ./src/a src/b"],
    ["npm exec tool *", "npm exec tool src/a.ts"],
    ["yarn tool *", "yarn tool src/a.ts"],
    ["npm --prefix web *", "npm --prefix web test"],
    ["npm --prefix * *", "npm --prefix web test"],
    ["npm --foo run *", "npm --foo run exec"],
    ["npm --foo test run env *", "npm --foo test run env src/evil.sh"],
    ["npm run --foo * *", "npm run --foo test src/a.ts"],
  ])("[GR-96] behind what only %s spells no word is wild: %s", (grant, script) => {
    expect(granted(script, [grant], all)).toBe(false);
    expect(granted(script, [script], all)).toBe(true);
  });
});

describe("commands of a runner of tests", () => {
  it.each(["mocha inspect", "mocha init docs", "mocha inspect src/a.js", "mocha test", "vitest complete", "ctest x"])(
    "[GR-97] %s is granted word for word",
    (script) => {
      expect(granted(script, [...each, "ctest **"], all)).toBe(false);
      expect(granted(script, [script], all)).toBe(true);
    },
  );
  it.each(["mocha src/a.js", "mocha ./test -g name", "vitest src/a.test.ts", "vitest run name", "jest name", "vitest"])(
    "[GR-97] %s is covered",
    (script) => {
      expect(granted(script, each)).toBe(true);
    },
  );
});

describe("programs that run another", () => {
  const inner = ["npm test", "cat *", "env **", "command **", "timeout **", "time **", "/usr/bin/time **"];
  it.each([
    "env time -vo docs/a.md npm test",
    "/usr/bin/time -ao README.md npm test",
    "/usr/bin/time -pao README.md npm test",
    "command time -ao README.md npm test",
    "timeout 5 time -ao README.md npm test",
    "/usr/bin/time -vo src/a npm test",
    "/usr/bin/time -a npm test",
    "/usr/bin/time -f x npm test",
    "timeout -vk 5 9 npm test",
    "timeout -s src/a 9 npm test",
    "stdbuf -oL -e src/a npm test",
    "nice -n x npm test",
    "ionice -c x npm test",
    "env -i npm test",
  ])("[GR-98] %s takes more than its small table", (script) => {
    expect(granted(script, [...inner, "stdbuf **", "nice **", "ionice **"], all)).toBe(false);
  });
  it.each([
    "/usr/bin/time -v npm test",
    "env time -p npm test",
    "timeout -k 5 -s KILL 9.5s npm test",
    "timeout --signal=TERM --foreground 1m npm test",
    "stdbuf -oL -e 0 npm test",
    "nice -n 5 npm test",
    "nice -10 npm test",
    "ionice -c 2 -n7 npm test",
    "nohup npm test",
    "cross-env CI=1 npm test",
  ])("[GR-98] %s does not", (script) => {
    expect(granted(script, [...inner, "stdbuf **", "nice **", "ionice **", "nohup **", "cross-env **"])).toBe(true);
  });
  it("[GR-98] what the grant spells of it is free", () => {
    expect(granted("/usr/bin/time -o src/log npm test", ["/usr/bin/time -o src/log npm *"])).toBe(true);
  });
});

describe("two words, one of which begins with the other", () => {
  const writers = "tee rm touch mkdir git prettier eslint cp sed".split(" ").map((name) => `${name} **`);
  it.each([
    "git rm src/x.ts src/x.ts/../../README.md",
    "git rm -f src/x.ts src/x.ts/../../docs/a.md",
    "tee src/a.d src/a.d/../../README.md",
    "rm -f src/a.d src/a.d/../../data.db",
    "touch src/a.d src/a.d/../../README.md",
    "mkdir src/a.d src/a.d/../../lib",
    "prettier --write src/a.ts src/a.ts/../../README.md",
    "eslint --fix src/a.d src/a.d/../../test/x.js",
  ])("[GR-72] what a word says is written is held to paths, whatever stands beside it: %s", (script) => {
    expect(granted(script, writers)).toBe(false);
    expect(granted(script, [script])).toBe(true);
  });
  it("[GR-82] of a copy only `-T` leaves out what would land in a folder", () => {
    expect(granted("cp README.md docs/v1.0", ["cp **"], ["docs/*"])).toBe(false);
    expect(granted("cp -T README.md docs/v1.0", ["cp **"], ["docs/*"])).toBe(true);
    expect(granted("cp README.md docs/v1.0", ["cp **"], ["docs/**"])).toBe(true);
    expect(granted("cp -T -t docs README.md", ["cp **"], ["src/*"])).toBe(false);
  });
  it.each([
    "tee src/linkdir/../x.md",
    "rm src/linkdir/../x.md",
    "touch src/d/../x",
    "mkdir src/d/../x",
    "sed -i s/a/b/ src/d/../x",
    "cp src/a src/d/../x",
    "cp --target-directory=src/d/.. src/a",
    "prettier --write src/d/../x.ts",
    "git rm src/d/../x.ts",
    "git add src/d/../x.ts",
    "git commit -m x src/d/../x.ts",
    "git add ..",
  ])("[GR-99] nothing is written where only a link says where that is: %s", (script) => {
    expect(granted(script, writers, all)).toBe(false);
    if (!script.endsWith("..")) expect(granted(script, [script], all)).toBe(true);
  });
  it.each(["git rm src/sub", "git rm src/sub/", "git rm src/x.d/", "git rm -- sub", "git rm --cached src/sub"])(
    "[GR-99] a name without an ending may be a whole repository: %s",
    (script) => {
      expect(granted(script, writers, all)).toBe(false);
      expect(granted(script, [script], all)).toBe(true);
    },
  );
  it.each(["git rm src/x.ts", "git rm -q -- src/x.ts", "git add src", "git commit -m ../x src/x.ts", "cat src/d/../x"])(
    "[GR-99] covered: %s",
    (script) => {
      expect(granted(script, [...writers, "cat **"])).toBe(true);
    },
  );
});
