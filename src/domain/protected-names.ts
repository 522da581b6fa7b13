/**
 * The names of protected files and folders, as kinds of them: each entry is one name in which `*` is wild, folded as
 * `foldName` does. The first list that holds a name says what it is. [POL-62] [POL-70] [POL-90]
 */

export type Kinds = readonly (readonly [what: string, names: string])[];

const agent = "instructions to an agent";
const ci = "a CI file";
const build = "read by build tools";
const hook = "a hook";
const editor = "read by an editor";
const deploy = "read by a deployment";

export const folderNames: Kinds = [
  [ci, ".github .gitlab .gitea .forgejo .circleci .buildkite .woodpecker .ci .semaphore .builds .tekton .teamcity"],
  [ci, ".drone .azure-pipelines .azuredevops .azure .pipelines .harness .dagger .jenkins .travis .bitrise .codebuild"],
  [ci, ".argo .zuul.d .earthly .gocd .screwdriver .prow .werft .gitlab-ci .trunk .danger"],
  [hook, ".husky .githooks .hooks .git-hooks .lefthook .lefthook-local .hg .eslintplugin"],
  [editor, ".vscode .vs .idea .devcontainer .fleet .zed .nova .sublime .settings .theia .c9 .gitpod .nvim .vim"],
  [editor, ".emacs.d .helix .kate .lapce"],
  [build, ".cargo .yarn .mvn .config .bazel .bundle .moon .pnpm fastlane magefiles requirements .storybook .mise"],
  [agent, ".claude .cursor .codex .gemini .countersign .continue .opencode .agents .agent .kiro .junie .trae .qwen"],
  [agent, ".amazonq .augment .openhands .factory .crush .qodo .rovodev .kilocode .grok .amp .ai .goose .mcp .copilot"],
  [agent, ".llm .llms .devin .jules .rules .ruler .serena .codeium .tabnine .cody .sourcegraph .zencoder .void"],
  [agent, ".lingma .comate .codebuddy .warp .cline .forge .plandex .prompts .mentat .firebender .bolt .lovable .v0"],
  [agent, ".windsurf* .clinerules* .aider* .roo* .claude-plugin .antigravity .qoder"],
  [hook, ".cargo-husky .git_hooks git-hooks githooks"],
  [build, ".changeset .vitepress .ctags.d"],
  [deploy, ".ebextensions .platform"],
];

export const fileNames: Kinds = [
  [agent, "agents.md agents.*.md agent.md claude.md claude.*.md gemini.md qwen.md skill.md warp.md crush.md grok.md"],
  [agent, "copilot-instructions.md .cursorrules .mcp.json mcp.json opencode.json opencode.jsonc .goosehints .rules"],
  [
    agent,
    ".augment-guidelines replit.md conventions.md .kilocodemodes memory.md .claude.* *.instructions.md *.prompt.md *.chatmode.md",
  ],
  [agent, "*.agent.md *.mdc"],
  [
    hook,
    ".pre-commit-config.y*ml .pre-commit-hooks.y*ml .pre-commit.y*ml lefthook.* lefthook-* .lefthook* .huskyrc .huskyrc.* .lintstagedrc",
  ],
  [hook, ".lintstagedrc.* lint-staged.config.* .overcommit.yml .gitmodules .gitattributes .gitconfig captainhook.json"],
  [hook, "*-hooks.js *-hooks.cjs *-hooks.mjs *-hooks.json *-hooks.y*ml *-hooks.toml hooks.json"],
  [ci, "jenkinsfile jenkinsfile.* appveyor.y*ml .appveyor.y*ml cloudbuild.* cloudbuild-* buildspec*.y*ml .cirrus.*"],
  [ci, "azure-pipelines*.y*ml .azure-pipelines*.y*ml .gitlab-ci* .drone.* .travis.y*ml .woodpecker.y*ml"],
  [ci, "wercker.yml .build.yml bitbucket-pipelines*.yml bitrise.yml codemagic.y*ml .scrutinizer.yml renovate.json"],
  [ci, "dangerfile.* dangerfile .readthedocs.y*ml renovate.json5 .renovaterc .renovaterc.* dagger.json .semaphore.yml"],
  [ci, "action.y*ml pipeline.y*ml buildkite.y*ml .mergify.yml .release-it.*"],
  [agent, ".kilocoderules .traerules"],
  [hook, "rusty-hook.toml .rusty-hook.toml prek.toml"],
  [
    build,
    "gems.rb gems.locked appraisals capfile cmakeuserpresets.json ctestcustom.c* conanfile.* vcpkg.json build.ninja cmakecache.txt",
  ],
  [build, "tox.toml .mypy.ini poetry.toml pdm.toml *-requirements.txt pavement.py .flaskenv environment.py"],
  [
    build,
    "rebar.config.script .formatter.exs .iex.exs .credo.exs .jvmopts .scalafix.conf hie.yaml .ghci .ocamlinit dune",
  ],
  [
    build,
    "xmake.lua premake*.lua jakefile jakefile.* cakefile herebyfile.* maskfile.md bb.edn build.clj tupfile cross.toml",
  ],
  [build, "*.xcconfig project.pbxproj jest.global* .eleventy.* mkdocs.y*ml .clangd .clang-tidy .ycm_extra_conf.py"],
  [build, "makefile,v gnumakefile,v s.makefile s.gnumakefile gnumakefile.* *.mk.sh"],
  [deploy, "chart.yaml kustomization.y*ml helmfile.y*ml *.tfvars appspec.y*ml template.y*ml heroku.yml amplify.yml"],
  [deploy, "crontab *.service docker-entrypoint.sh"],
  ["who must approve a change", "codeowners owners owners_aliases .owners"],
  [editor, "*.code-workspace *.sublime-project .dir-locals.el .nvim.lua .project .classpath *.iml"],
  [
    build,
    ".envrc .env .env.* dockerfile containerfile dockerfile.* dockerfile-* containerfile.* containerfile-* *.dockerfile *.containerfile",
  ],
  [build, "docker-compose*.y*ml compose.y*ml compose.*.y*ml compose-*.y*ml docker-bake* vagrantfile procfile"],
  [
    build,
    "procfile.* .gitpod.yml devcontainer.json .tool-versions .*-version mise.toml .mise.toml mise.*.toml flake.nix",
  ],
  [build, "*.nix devbox.json earthfile tiltfile brewfile .replit cmakelists.txt cmakepresets.json meson.build"],
  [build, "meson_options.txt meson.options sconstruct sconscript wscript build.bazel workspace.bazel module.bazel"],
  [build, "*.bazelrc .bazelversion bazel .buckconfig .buckconfig.local pants.toml gradlew gradlew.bat mvnw mvnw.cmd"],
  [
    build,
    "gradle.properties gradle-wrapper.* maven-wrapper.* build.xml *.sbt .sbtopts build.mill build.sc deps.edn project.clj",
  ],
  [build, "package.swift cartfile podfile mix.exs rebar.config pubspec.yaml dune-project configure configure.ac"],
  [
    build,
    "configure.in build.zig build.rs build.pl makefile.pl cpanfile binding.gyp fabfile.py dodo.py hatch_build.py",
  ],
  [build, "nuget.config rust-toolchain rust-toolchain.toml stack.yaml cabal.project setup.hs setup.py makefile"],
  [build, "gnumakefile justfile .justfile rakefile *.rake config.ru gemfile guardfile thorfile snakefile magefile.go"],
  [build, "sitecustomize.py usercustomize.py conftest.py noxfile.py tox.ini setup.cfg pyproject.toml pylintrc"],
  [
    build,
    ".pylintrc .flake8 mypy.ini .rubocop.yml .simplecov .rspec* cypress.json angular.json spec_helper.rb rails_helper.rb",
  ],
  [build, "workspace.json turbo.json nx.json lerna.json rush.json moon.yml jasmine.json .taprc mocha.opts tslint.json"],
  [build, "package.json5 package.yaml package.y*ml .pnp.* .pnpmfile.* jest.preset.* vitest.setup.* setuptests.*"],
  [
    build,
    "test_helper.rb setup-jest.* setupjest.* global-setup.* globalsetup.* pytest.toml .pytest.ini .pytest.toml ruff.toml",
  ],
  [build, ".ruff.toml uv.toml pixi.toml hatch.toml environment.y*ml constraints*.txt requirements*.in deps.ts"],
  [build, "import_map.json import-map.json gatsby-*.js gatsby-*.ts makefile.* gulpfile.* gruntfile.* knexfile.*"],
  [
    build,
    "*.gradle *.gradle.kts *.mk *.cmake *.gemspec *.pth directory.build.rsp build.cake phpunit.dist.xml .php-cs-fixer.* *.csproj *.fsproj *.vbproj *.targets *.props *.cabal",
  ],
  [build, "*.bzl *.just taskfile.y*ml taskfile.dist.y*ml wdio.conf.* nightwatch.conf.* karma.conf.* protractor.conf.*"],
  [
    build,
    "codecept.conf.* webpack.config.* rollup.config.* next.config.* svelte.config.* nuxt.config.* astro.config.*",
  ],
  [build, "postcss.config.* tailwind.config.* cypress.config.* playwright.config.* vue.config.* remix.config.*"],
  [build, "metro.config.* tsup.config.* esbuild.config.* forge.config.* prettier.config.* stylelint.config.*"],
  [build, "commitlint.config.* release.config.* babel.config.* uno.config.* drizzle.config.* prisma.config.*"],
  [build, "capacitor.config.* .golangci.* .goreleaser.*"],
  [deploy, "wrangler.toml wrangler.json* netlify.toml vercel.json firebase.json serverless.y*ml *.tf *.hcl"],
  [
    deploy,
    "skaffold.yaml fly.toml render.yaml app.yaml now.json .firebaserc .vercelrc ansible.cfg samconfig.toml pulumi.y*ml railway.toml",
  ],
  ["read by a shell", ".bashrc .bash_profile .profile .zshrc .zshenv .zprofile .inputrc .vimrc .exrc .nvimrc"],
  ["read by a debugger", ".gdbinit .lldbinit .irbrc .pryrc .pdbrc"],
  ["a lock file", "go.work go.work.sum flake.lock packages.lock.json podfile.lock mix.lock pubspec.lock"],
  ["a lock file", "package.resolved pylock*.toml"],
];

/** Asked last: whole kinds of names, of which the lists above say more. */
export const laterNames: Kinds = [
  [build, "*.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts *.config.json .*rc .*rc.*"],
  ["a lock file", "*.lock *.lock.json *.lock.hcl *.lockfile *.lockb"],
];

/** Of the workspace itself, or of a package of it: deeper they are names like any other. */
export const rootNames: Kinds = [
  [build, "tasks.py project.json global.json rector.php setup-tests.* test-setup.*"],
  [deploy, "serverless.* cdk.json railway.json"],
  ["a lock file", "*-lock.json *-lock.y*ml"],
  [agent, "soul.md knowledge.md"],
  [deploy, "app.json _config.yml"],
];

/** Folders that say what they are only by the one they lie in. */
export const innerFolders: ReadonlyMap<string, string> = new Map([["cypress/support", build]]);
/** Files that do, with their folder. */
export const innerFiles =
  /^(?:jest\/[^/]*setup[^/]*\.[^/]*|tests?\/setup\.[^/]*|support\/env\.rb|hooks\/(?:pre|post|commit|prepare|update)[\w-]*|config\/config\.exs|project\/(?:build\.(?:scala|properties)|plugins\.sbt)|docs\/conf\.py)$/;

/** Read by their case only; folded, every `mkdir build` would ask. */
export const exactNames: readonly (readonly [what: string, names: readonly string[]])[] = [
  [build, ["BUILD", "WORKSPACE", "BUCK"]],
  [agent, ["AGENTS", "CLAUDE"]],
];
