/**
 * Files through which a change takes power later: what runs in CI, at commit, at install, at build, when a folder is
 * opened, or what an agent takes for instructions. A write to one asks, even inside a grant, unless the grant names
 * it: the very file, or a glob that begins with its protected folder. [POL-62] [GR-40]
 */
import { globMatches } from "./glob.ts";
import { checkDefinitions, setupInputs } from "./plan-protect.ts";
import { foldName, partsOf } from "./workspace-path.ts";

const folders: Readonly<Record<string, string>> = {
  ...all("a CI file", ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".buildkite", ".woodpecker", ".ci"),
  ...all("a hook", ".husky", ".githooks", ".hooks", ".git-hooks"),
  ...all("read by an editor", ".vscode", ".idea", ".devcontainer", ".fleet", ".zed"),
  ...all("read by build tools", ".cargo", ".yarn", ".mvn", ".config"),
  ...all("instructions to an agent", ".claude", ".cursor", ".codex", ".gemini", ".countersign", ".windsurf"),
  ...all("instructions to an agent", ".clinerules", ".roo", ".continue", ".opencode", ".agents", ".kiro", ".aider"),
};
/** As folded: lower case. `*` stands for anything in the name. */
const names: Readonly<Record<string, string>> = {
  ...all("instructions to an agent", "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md"),
  ...all("instructions to an agent", "gemini.md", "skill.md", "copilot-instructions.md", ".cursorrules", ".mcp.json"),
  ...all(
    "instructions to an agent",
    ".windsurfrules",
    ".aider.conf.yml",
    "opencode.json",
    ".clinerules",
    ".goosehints",
  ),
  ...all("a hook", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml", ".huskyrc"),
  ...all("a hook", ".lintstagedrc", "lint-staged.config.js", ".gitmodules", ".gitattributes"),
  ...all(
    "a CI file",
    "jenkinsfile",
    "appveyor.yml",
    ".appveyor.yml",
    "cloudbuild.yaml",
    "buildspec.yml",
    ".cirrus.yml",
  ),
  ...all("a CI file", "azure-pipelines.yaml", ".gitlab-ci.yaml", ".drone.yaml", "bitrise.yml", "codemagic.yaml"),
  ...all("read by build tools", ".envrc", "dockerfile", "containerfile", "docker-compose.yml", "docker-compose.yaml"),
  ...all(
    "read by build tools",
    "compose.yml",
    "compose.yaml",
    "vagrantfile",
    "procfile",
    ".gitpod.yml",
    "devcontainer.json",
  ),
  ...all("read by build tools", ".tool-versions", "mise.toml", ".mise.toml", "flake.nix", "shell.nix", "default.nix"),
  ...all(
    "read by build tools",
    "cmakelists.txt",
    "meson.build",
    "sconstruct",
    "build.bazel",
    "workspace.bazel",
    ".bazelrc",
  ),
  ...all(
    "read by build tools",
    "gradlew",
    "gradlew.bat",
    "mvnw",
    "mvnw.cmd",
    "gradle.properties",
    "build.xml",
    "build.sbt",
  ),
  ...all("read by build tools", "configure", "configure.ac", "build.zig", "binding.gyp", "fabfile.py", "podfile"),
  ...all(
    "read by build tools",
    "sitecustomize.py",
    "usercustomize.py",
    ".babelrc",
    "mix.exs",
    "pubspec.yaml",
    "tiltfile",
  ),
  ...all("read by a shell", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".inputrc", ".vimrc", ".exrc"),
  ...all("read by a debugger", ".gdbinit", ".lldbinit", ".irbrc", ".pryrc"),
  ...all("a lock file", "go.work.sum", "flake.lock", "packages.lock.json", "podfile.lock", "mix.lock", "pubspec.lock"),
};
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\.(?:gradle|gradle\.kts|mk|cmake|gemspec|pth|csproj|fsproj|vbproj|targets|cabal)$/, "read by build tools"],
  [/^(?:makefile|dockerfile|jenkinsfile|gulpfile|gruntfile|\.env)\./, "read by build tools"],
  [/^\.(?:lintstagedrc|huskyrc)\./, "a hook"],
  [
    /^(?:lint-staged\.config|webpack\.config|rollup\.config|next\.config|svelte\.config|nuxt\.config)\./,
    "read by build tools",
  ],
];
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

function all(what: string, ...of: readonly string[]): Record<string, string> {
  return Object.fromEntries(of.map((name) => [name, what]));
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
    if (Object.hasOwn(folders, name))
      return { what: folders[name] ?? "protected", folder: parts.slice(0, at + 1).join("/") };
  }
  const last = foldName(parts.at(-1) ?? "");
  const what = Object.hasOwn(names, last) ? names[last] : patterns.find(([pattern]) => pattern.test(last))?.[1];
  if (what !== undefined) return { what, folder: null };
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
