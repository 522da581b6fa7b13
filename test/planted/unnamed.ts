/** Bugs in what is held to be protected, to write what no word names, and to hide in an argument. */
import type { Plant } from "./plants.ts";

const table = { test: "test/domain/protected-files.test.ts" };
const unnamed = { test: "test/domain/policy-unnamed.test.ts" };

export const unnamedPlants: readonly Plant[] = [
  {
    id: "protected-case",
    file: "src/domain/protected-files.ts",
    find: "const name = folded(written);",
    replace: "const name = written;",
    why: "a protected name in capitals is not known",
    subset: table,
  },
  {
    id: "protected-folder-family",
    file: "src/domain/protected-files.ts",
    find: "whatIs(folders, name) ?? innerFolders",
    replace: "folders.plain.get(name)?.what ?? innerFolders",
    why: "instructions under a longer name are not protected",
    subset: table,
  },
  {
    id: "shell-file-not-code",
    file: "src/domain/shell-shells.ts",
    find: 'opaque: "it runs what a file holds", code: [next] }',
    replace: 'opaque: "it runs what a file holds" }',
    why: "a wildcard grants any script file",
    subset: unnamed,
  },
  {
    id: "tar-letters",
    file: "src/domain/shell-opaque.ts",
    find: "(at === 0 && /^[a-zA-Z]*x[a-zA-Z]*$/.test(word))",
    replace: "false",
    why: "tar without a dash unpacks anything",
    subset: unnamed,
  },
  {
    id: "git-branch-starts-elsewhere",
    file: "src/domain/shell-git.ts",
    find: "creates ? further.length > 0",
    replace: "creates ? false",
    why: "a new branch from another commit changes all files",
    subset: unnamed,
  },
  {
    id: "git-bringing-plain",
    file: "src/domain/shell-git.ts",
    find: "if (brought.length > 0)",
    replace: "if (brought.length > 2)",
    why: "what another commit holds is written unasked",
    subset: unnamed,
  },
  {
    id: "option-in-git-argument",
    file: "src/domain/policy-call.ts",
    find: 'value.startsWith("-")',
    replace: 'value.startsWith("--output")',
    why: "an option of git passes as a reference",
    subset: unnamed,
  },
  {
    id: "path-under-any-key",
    file: "src/domain/policy-call.ts",
    find: "else if (looksAway.test(value))",
    replace: "else if (false)",
    why: "a path under a key that nobody knows is not judged",
    subset: unnamed,
  },
  {
    id: "denied-name-folded",
    file: "src/domain/policy.ts",
    find: "foldName(touch.tool).trim()",
    replace: "touch.tool.trim()",
    why: "a denied tool in capitals is asked about",
    subset: unnamed,
  },
];
