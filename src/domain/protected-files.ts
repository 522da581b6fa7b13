/**
 * Files through which a change takes power later: what runs in CI, at commit, at install, at build, when a folder is
 * opened, or what an agent takes for instructions. A write to one asks, even inside a grant, unless the grant names
 * it: the very file, or a glob that begins with its protected folder. [POL-62] [GR-40]
 */
import { globMatches } from "./glob.ts";
import { checkDefinitions, setupInputs } from "./plan-protect.ts";
import { foldName, partsOf } from "./workspace-path.ts";

/** Each list is of folded names: lower case. The first list that holds the name says what it is. */
type Kinds = readonly (readonly [what: string, names: string])[];
const agent = "instructions to an agent";
const folderNames: Kinds = [
  ["a CI file", ".github .gitlab .gitea .forgejo .circleci .buildkite .woodpecker .ci .semaphore .builds .tekton"],
  ["a CI file", ".teamcity .drone .azure-pipelines .azuredevops"],
  ["a hook", ".husky .githooks .hooks .git-hooks"],
  ["read by an editor", ".vscode .idea .devcontainer .fleet .zed"],
  ["read by build tools", ".cargo .yarn .mvn .config .bazel fastlane magefiles"],
  [agent, ".claude .cursor .codex .gemini .countersign .continue .opencode .agents .kiro .junie .trae .qwen .amazonq"],
  [agent, ".augment .openhands .factory .crush .qodo .rovodev"],
];
const fileNames: Kinds = [
  [
    agent,
    "agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md skill.md warp.md crush.md",
  ],
  [agent, "copilot-instructions.md .cursorrules .mcp.json opencode.json .goosehints .rules .augment-guidelines"],
  ["a hook", ".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml .huskyrc .lintstagedrc"],
  ["a hook", ".lefthook.yml .lefthook.yaml .overcommit.yml .gitmodules .gitattributes"],
  ["a CI file", "jenkinsfile appveyor.yml .appveyor.yml appveyor.yaml cloudbuild.yaml cloudbuild.yml cloudbuild.json"],
  ["a CI file", "buildspec.yml buildspec.yaml .cirrus.yml .cirrus.star azure-pipelines.yml azure-pipelines.yaml"],
  ["a CI file", ".gitlab-ci.yml .gitlab-ci.yaml .drone.yml .drone.yaml .drone.star .drone.jsonnet .travis.yml"],
  ["a CI file", ".woodpecker.yml .woodpecker.yaml wercker.yml .build.yml bitbucket-pipelines.yml bitrise.yml"],
  ["a CI file", "codemagic.yaml .scrutinizer.yml renovate.json renovate.json5 .renovaterc .renovaterc.json"],
  ["who must approve a change", "codeowners"],
  ["read by build tools", ".envrc .env dockerfile containerfile docker-compose.yml docker-compose.yaml compose.yml"],
  ["read by build tools", "compose.yaml vagrantfile procfile .gitpod.yml devcontainer.json .tool-versions mise.toml"],
  ["read by build tools", ".mise.toml flake.nix shell.nix default.nix devbox.json earthfile tiltfile brewfile .replit"],
  ["read by build tools", "cmakelists.txt cmakepresets.json meson.build meson_options.txt meson.options sconstruct"],
  ["read by build tools", "sconscript wscript build.bazel workspace.bazel module.bazel .bazelrc .bazelversion"],
  ["read by build tools", "gradlew gradlew.bat mvnw mvnw.cmd gradle.properties build.xml build.sbt build.sc deps.edn"],
  ["read by build tools", "project.clj package.swift cartfile podfile mix.exs rebar.config pubspec.yaml dune-project"],
  ["read by build tools", "configure configure.ac configure.in build.zig build.rs binding.gyp fabfile.py dodo.py"],
  ["read by build tools", "nuget.config rust-toolchain rust-toolchain.toml stack.yaml cabal.project setup.hs"],
  ["read by build tools", "makefile gnumakefile justfile .justfile rakefile gemfile guardfile thorfile snakefile"],
  ["read by build tools", "sitecustomize.py usercustomize.py conftest.py noxfile.py tox.ini setup.cfg pyproject.toml"],
  ["read by build tools", "pylintrc .pylintrc .flake8 mypy.ini .rubocop.yml .simplecov cypress.json angular.json"],
  ["read by build tools", "turbo.json nx.json lerna.json rush.json jasmine.json .babelrc .swcrc .taprc .envrc.local"],
  ["read by a shell", ".bashrc .bash_profile .profile .zshrc .zshenv .zprofile .inputrc .vimrc .exrc .nvimrc"],
  ["read by a debugger", ".gdbinit .lldbinit .irbrc .pryrc .pdbrc"],
  [
    "a lock file",
    "go.work go.work.sum flake.lock packages.lock.json podfile.lock mix.lock pubspec.lock package.resolved",
  ],
];
/** Of a folder or a file. */
const anyPart: readonly (readonly [RegExp, string])[] = [[/^\.(?:windsurf|clinerules|aider|roo)/, agent]];
const patterns: readonly (readonly [RegExp, string])[] = [
  [
    /\.(?:gradle|gradle\.kts|mk|cmake|gemspec|pth|csproj|fsproj|vbproj|targets|props|cabal|bzl|just)$/,
    "read by build tools",
  ],
  [/^(?:makefile|dockerfile|containerfile|gulpfile|gruntfile|knexfile|\.env)\./, "read by build tools"],
  [/^jenkinsfile\./, "a CI file"],
  [/^taskfile\.(?:dist\.)?ya?ml$/, "read by build tools"],
  [/^(?:wdio|nightwatch|karma|protractor|codecept)\.conf\./, "read by build tools"],
  [
    /^(?:webpack|rollup|next|svelte|nuxt|astro|postcss|tailwind|cypress|playwright|vue|remix|metro|tsup|esbuild|forge|prettier|stylelint|commitlint|release|babel|uno|drizzle|prisma|capacitor)\.config\./,
    "read by build tools",
  ],
  [
    /^\.(?:nycrc|c8rc|prettierrc|stylelintrc|commitlintrc|releaserc|testcaferc|babelrc|swcrc)(?:\.|$)/,
    "read by build tools",
  ],
  [/^\.(?:golangci|goreleaser)\.(?:ya?ml|toml|json)$/, "read by build tools"],
  [/^(?:\.(?:lintstagedrc|huskyrc)|lint-staged\.config)\./, "a hook"],
];
/** Bazel reads these by their case only; folded, every `mkdir build` would ask. */
const exactNames: readonly string[] = ["BUILD", "WORKSPACE"];
const folders = tableOf(folderNames);
const names = tableOf(fileNames);
/** What defines the checks and what setup reads, as patterns over the last name. */
const defining = [...checkDefinitions, ...setupInputs]
  .filter((glob) => !glob.endsWith("/**"))
  .map((glob) => glob.replace(/^\*\*\//, "").toLowerCase());
const definingNames = new Set(defining.filter((name) => !name.includes("*")));
const definingPattern = new RegExp(
  `^(?:${defining
    .filter((name) => name.includes("*"))
    .map((name) => name.replace(/[.+?^$()[\]{}|\\]/g, "\\$&").replaceAll("*", ".*"))
    .join("|")})$`,
);

function tableOf(kinds: Kinds): ReadonlyMap<string, string> {
  return new Map(kinds.flatMap(([what, list]) => list.split(" ").map((name) => [name, what] as const)));
}
function matching(from: readonly (readonly [RegExp, string])[], name: string): string | undefined {
  return from.find(([pattern]) => pattern.test(name))?.[1];
}

export interface ProtectedFile {
  /** What it is, for a sentence: "a CI file". */
  readonly what: string;
  /** The protected folder it lies in, as written; null when the file itself is protected. */
  readonly folder: string | null;
}

/** Null when the path, relative to the workspace, is not protected. */
export function protectedFile(path: string): ProtectedFile | null {
  const parts = partsOf(path);
  for (let at = 0; at < parts.length; at++) {
    const name = foldName(parts[at] ?? "");
    const what = folders.get(name) ?? matching(anyPart, name);
    if (what !== undefined) return { what, folder: parts.slice(0, at + 1).join("/") };
  }
  const written = parts.at(-1) ?? "";
  const last = foldName(written);
  const what = names.get(last) ?? matching(patterns, last);
  if (what !== undefined) return { what, folder: null };
  if (exactNames.includes(written)) return { what: "read by build tools", folder: null };
  if (definingNames.has(last) || definingPattern.test(last))
    return { what: "what its checks or its setup are made of", folder: null };
  return null;
}

/** Whether a grant of these paths names that file, and does not merely cover it: `**` and `*` name nothing. */
export function namesProtected(globs: readonly string[], path: string, found: ProtectedFile): boolean {
  if (globs.includes(path)) return true;
  const { folder } = found;
  return folder !== null && globs.some((glob) => glob.startsWith(`${folder}/`) && globMatches(glob, path));
}
