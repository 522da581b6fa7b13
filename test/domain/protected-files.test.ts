import { describe, expect, it } from "vitest";
import { protectedFile } from "../../src/domain/protected-files.ts";
import { asked, token } from "./policy-ask.ts";

const table: Readonly<Record<string, string>> = {
  "a CI file": `.woodpecker.yml .woodpecker.yaml .woodpecker/a.yml .semaphore/semaphore.yml wercker.yml .builds/a.yml
    .build.yml .tekton/a.yaml .teamcity/settings.kts .drone.yml .travis.yml bitbucket-pipelines.yml appveyor.yml
    .buildkite/pipeline.yml cloudbuild.yaml .gitlab-ci.yml .github/workflows/a.yml .circleci/config.yml Jenkinsfile
    azure-pipelines.yml Jenkinsfile.release .cirrus.yml renovate.json`,
  "who must approve a change": "CODEOWNERS docs/CODEOWNERS",
  "instructions to an agent": `QWEN.md AGENTS.md sub/CLAUDE.md GEMINI.md .junie/guidelines.md .windsurf/rules/a.md
    .windsurfrules .clinerules .clinerules-code .clinerules/a.md .aider.conf.yml .aiderignore .aider.model.settings.yml
    .continue/config.json .roo/rules/a.md .roomodes .roorules .kiro/steering/a.md .trae/rules/a.md .cursor/rules/a.mdc
    .cursorrules skills/a/SKILL.md .mcp.json .claude/settings.json .amazonq/rules/a.md .qwen/settings.json`,
  "a hook": ".husky/pre-commit .githooks/x .pre-commit-config.yaml lefthook.yml .lintstagedrc.json .gitmodules",
  "read by build tools": `.justfile justfile Justfile Taskfile.yml Taskfile.yaml taskfile.yml Taskfile.dist.yaml wdio.conf.ts
    nightwatch.conf.js cypress.json cypress.config.ts playwright.config.ts .nycrc .nycrc.json .c8rc.json
    postcss.config.js tailwind.config.ts astro.config.mjs svelte.config.js Package.swift build.rs conftest.py
    a/conftest.py tox.ini noxfile.py setup.cfg pyproject.toml Rakefile Gemfile CMakeLists.txt meson.build BUILD.bazel
    BUILD a/BUILD WORKSPACE MODULE.bazel a.bzl .env .env.local Dockerfile Dockerfile.dev Makefile makefile.inc
    .prettierrc.js mypy.ini .pylintrc .rubocop.yml a.props`,
  "read by a debugger": ".gdbinit .pdbrc",
  "a lock file": "go.work.sum flake.lock Package.resolved",
};
const wordsOf = (text: string) => text.trim().split(/\s+/);

describe("the table of protected files", () => {
  it("[POL-70] each is protected for what it is, in any case, and asks within a grant of everything", () => {
    const wide = token({ tools: ["file_write"], paths: ["**"] });
    for (const [what, paths] of Object.entries(table))
      for (const path of wordsOf(paths)) {
        expect(protectedFile(path)?.what, path).toBe(what);
        if (!/BUILD$|WORKSPACE$/.test(path))
          expect(protectedFile(path.toUpperCase())?.what, path.toUpperCase()).toBe(what);
        expect(asked("file_write", { path, content: "" }, { token: wide }), path).toBe("ask argument:protected-files");
      }
  });
  it("[POL-70] a folder opens by a glob that begins with it, wherever its name ends", () => {
    expect(protectedFile("a/.clinerules-code/b.md")?.folder).toBe("a/.clinerules-code");
    expect(protectedFile("CODEOWNERS")?.folder).toBeNull();
  });
  it("[POL-70] what only looks like one is not protected", () => {
    for (const path of wordsOf(`src/a.ts build workspace build/a.js docs/codeowners.md CONVENTIONS.md my.aider.ts
      tailwind.ts taskfile.ts semaphore/a.ts src/tekton.ts wercker.ts cypress.ts src/postcss.ts env .environment`))
      expect(protectedFile(path), path).toBeNull();
  });
});
