/**
 * Files that decide what a check means or what setup runs. An item may change one only if its
 * `allow.paths` names that very file. [PLAN-*]
 */
import { isLiteralGlob, matchesAny } from "./glob.ts";

const anywhere = (...names: readonly string[]): string[] => names.map((name) => `**/${name}`);

/** What defines the checks: package scripts, runner, linter and compiler settings, make files, CI. */
export const checkDefinitions: readonly string[] = [
  ...anywhere("package.json", ".npmrc", "Makefile", "makefile", "GNUmakefile", "justfile", "Taskfile.yml", "Rakefile"),
  ...anywhere("vitest.config.*", "vitest.workspace.*", "vite.config.*", "jest.config.*", "jest.setup.*", ".mocharc*"),
  ...anywhere(
    "ava.config.*",
    "karma.conf.*",
    "playwright.config.*",
    "cypress.config.*",
    "babel.config.*",
    "tsconfig*.json",
  ),
  ...anywhere("biome.json*", "eslint.config.*", ".eslintrc*"),
  ...anywhere("pytest.ini", "tox.ini", "conftest.py", "noxfile.py", "setup.cfg", "pyproject.toml", ".coveragerc"),
  ...anywhere("build.gradle*", "pom.xml", "phpunit.xml*", ".rspec", ".cargo/**"),
  ".github/workflows/**",
  ".github/actions/**",
  ".gitlab-ci.yml",
  ".circleci/**",
  ".buildkite/**",
  ".ci/**",
  ".travis.yml",
  ".drone.yml",
  ".woodpecker/**",
  "azure-pipelines.yml",
  "bitbucket-pipelines.yml",
  "Jenkinsfile",
];

/** What setup reads before the network is cut: changed, it would run an agent's words with the network open. */
export const setupInputs: readonly string[] = [
  ...anywhere(
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
  ),
  ...anywhere(".npmrc", ".yarnrc*", ".pnpmfile.cjs", "bunfig.toml", "bun.lock*", "deno.json*", "deno.lock"),
  ...anywhere(
    "requirements*.txt",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Pipfile*",
    "poetry.lock",
    "uv.lock",
    "pip.conf",
  ),
  ...anywhere(
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    ".cargo/**",
    "go.mod",
    "go.sum",
    "Gemfile*",
    "composer.json",
    "composer.lock",
  ),
];

/** What `protect` gains by itself. A file that `allow.paths` names exactly stays the item's to change: `!file`. */
export function defaultProtect(item: { readonly allow: { readonly paths: readonly string[] } }): string[] {
  const named = item.allow.paths.filter((path) => isLiteralGlob(path) && matchesAny(checkDefinitions, path));
  return [...checkDefinitions, ...named.map((path) => `!${path}`)];
}

/** Whether setup reads the file: then only an item that names it exactly may change it. */
export function readBySetup(path: string): boolean {
  return matchesAny(setupInputs, path);
}
