import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globProblem } from "../../src/domain/glob.ts";
import { patchVerdict } from "../../src/domain/grant.ts";
import { defaultProtect } from "../../src/domain/plan-protect.ts";
import { mayNameProtected, namesProtected, protectedFile } from "../../src/domain/protected-files.ts";
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
    for (const path of wordsOf(`src/a.ts build workspace build/a.js docs/codeowners.md my.aider.ts
      tailwind.ts taskfile.ts semaphore/a.ts src/tekton.ts wercker.ts cypress.ts src/postcss.ts env .environment`))
      expect(protectedFile(path), path).toBeNull();
  });
  it.each(
    wordsOf(`lefthook-local.yml lefthook.toml lefthook.json .lefthook-local.yml .simple-git-hooks.json simple-git-hooks.js
      captainhook.json x.code-workspace .bundle/config .pnp.cjs .pnp.loader.mjs package.json5 package.yaml
      gradle/wrapper/gradle-wrapper.properties gradle/wrapper/gradle-wrapper.jar pylock.toml uv.toml pixi.toml
      environment.yml requirements/dev.txt constraints.txt requirements.in tools/bazel BUCK .buckconfig magefile.go
      project.json moon.yml .moon/x docker-compose.override.yml compose.override.yaml x.dockerfile dev.Dockerfile
      docker-bake.hcl wrangler.toml netlify.toml vercel.json firebase.json serverless.yml .azure-pipelines.yml
      azure-pipelines-pr.yml cloudbuild.test.yaml .pipelines/x .harness/x .dagger/x dagger.json vitest.setup.ts
      setupTests.ts jest.preset.js pytest.toml .pytest.ini rspack.config.js rsbuild.config.ts craco.config.js tslint.json
      .oxlintrc.json .dir-locals.el .nvim.lua .kilocode/rules/x.md .grok/x GROK.md .amp/x .ai/x .goose/x mcp.json .mcp/x
      replit.md CONVENTIONS.md CLAUDE.md::$DATA CLAUDE.md:x .vscode\\tasks.json src\\.vscode\\tasks.json GITHUB~1/x
      PACKAG~1.JSO pants.toml Build.PL cpanfile x.nix hatch.toml tasks.py lib/tasks/a.rake config.ru .rspec-local
      .python-version deps.ts import_map.json skaffold.yaml fly.toml test/mocha.opts .gitconfig any.lock Makefile.am`),
  )("[POL-90] a result that changes %s goes beyond a grant of everything", (path) => {
    const allow = { tools: [], paths: ["**"], commands: [], hosts: [], secrets: [] };
    const file = { path, change: "added", mode: "100644", old_mode: "000000" } as const;
    expect(patchVerdict([file], { allow, protect: [] }).kind).toBe("outside");
    expect(patchVerdict([file], { allow, protect: defaultProtect({ allow }) }).kind).not.toBe("ok");
  });

  it.each(
    wordsOf(`.storybook/main.js main.tf a/b.tf a/x.hcl dangerfile.ts Dangerfile .gitlab-ci/a.yml .mise/config.toml x.bazelrc
      project/plugins.sbt .sbtopts build.mill hatch_build.py global.json Directory.Build.rsp build.cake phpunit.dist.xml
      .php-cs-fixer.php rector.php ansible.cfg samconfig.toml cdk.json Pulumi.yaml railway.toml spec/spec_helper.rb
      test/test_helper.rb setupJest.ts jest/setup.js cypress/support/e2e.ts .trunk/trunk.yaml .pre-commit.yaml
      .readthedocs.yaml .claude.json .claude.local.md MEMORY.md AGENTS CLAUDE sub/AGENTS .eslintplugin/x.js .hg/hgrc
      Dockerfile-dev .danger/x packages/a/project.json apps/web/serverless.ts a/SKILL.md agents.md lefthook.ts`),
  )("[POL-95] a result that changes %s goes beyond a grant of everything", (path) => {
    const allow = { tools: [], paths: ["**"], commands: [], hosts: [], secrets: [] };
    const file = { path, change: "added", mode: "100644", old_mode: "000000" } as const;
    expect(patchVerdict([file], { allow, protect: defaultProtect({ allow }) }).kind).not.toBe("ok");
  });
  it.each(
    wordsOf(`docs/agents.md docs/skill.md src/agent.md docs/conventions.md docs/claude.md requirements/a.md
      docs/requirements/b.md src/tasks.py src/project.json src/data-lock.json src/serverless.ts src/makefile.ts
      src/makefile.test.ts src/procfile.ts src/lefthook.ts src/lefthook-run.ts src/test-setup.ts .env.example
      src/.env.sample src/locales/global.json agents/x.ts src/jest.ts cypress/e2e/a.ts`),
  )("[POL-96] %s is ordinary by its place or its ending", (path) => {
    expect(protectedFile(path)).toBeNull();
    expect(mayNameProtected(path)).toBe(false);
  });
  it("[POL-96] a folder of requirements opens by a glob for what installs them only", () => {
    expect(protectedFile("a/requirements/dev.txt")?.folder).toBe("a/requirements");
    for (const [glob, names] of [
      ["requirements/**", true],
      ["requirements/*.txt", true],
      ["requirements/d*", true],
      ["docs/requirements/*.md", false],
      ["cypress/support/**", true],
      ["**/project.json", true],
      ["src/**/tasks.py", true],
    ] as const)
      expect(mayNameProtected(glob), glob).toBe(names);
  });

  it("[STA-10] a glob in which a protected folder or file is spelled out goes after one; what is wild only covers", () => {
    for (const glob of wordsOf(`.husky/** .HUSKY/** a/.github/x lefthook.yml LEFTHOOK.yml **/package.json **/.husky/**
      .git/** .GIT/hooks/x GITHUB~1/** CLAUDE.md:x BUILD .ｇithub/** AGENTS.md. */.vscode/x src\\.vscode\\tasks.json`))
      expect(mayNameProtected(glob), glob).toBe(true);
    for (const glob of wordsOf(`** * src/** src/*/a.ts lefthoo.ym src/z*.tsx docs/x.md build workspace a/??/b ??
      .hu*/** .husk?/** lefthook.y* src/*.config.ts a/B*D pack*.json src/*.mk .husky?/x src/*.ts **/*.test.ts`))
      expect(mayNameProtected(glob), glob).toBe(false);
  });
  it("[STA-10] whatever names a protected file, in any case and with anything wild in it, goes after one", () => {
    const paths = Object.values(table).flatMap(wordsOf);
    const sign = fc.constantFrom("same", "same", "same", "upper", "?", "*");
    const glob = fc
      .tuple(fc.constantFrom(...paths), fc.oneof(fc.constant([]), fc.array(sign, { minLength: 40, maxLength: 40 })))
      .map(([path, signs]) => {
        const signOf = (character: string, how = "same") =>
          character === "/" || how === "same" ? character : how === "upper" ? character.toUpperCase() : how;
        return {
          path,
          glob: [...path]
            .map((one, at) => signOf(one, signs[at]))
            .join("")
            .replace(/\*{2,}/g, "*"),
        };
      });
    let named = 0;
    fc.assert(
      fc.property(glob, ({ path, glob }) => {
        if (globProblem(glob) !== null) return;
        const found = protectedFile(path);
        const names = found !== null && namesProtected([glob], path, found);
        if (names) named++;
        // The glob taken for a name, signs and all: it opens that one no more than any other.
        const itself = protectedFile(glob);
        const opens = itself !== null && namesProtected([glob], glob, itself);
        if (opens) expect(mayNameProtected(glob), glob).toBe(true);
        if (names) expect(mayNameProtected(glob), glob).toBe(true);
      }),
      { numRuns: 3_000 },
    );
    expect(named).toBeGreaterThan(100);
  });
});
