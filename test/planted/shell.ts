/** Bugs of reading shell, of argument rules and of command grants. */
import type { Plant } from "./plants.ts";

const hostile = { test: "test/domain/shell-hostile.test.ts" } as const;
const programs = { test: "test/domain/shell-programs.test.ts" } as const;
const guarded = { test: "test/domain/policy-protected.test.ts" } as const;
const grant = { test: "test/domain/grant.test.ts" } as const;

export const shellPlants: readonly Plant[] = [
  {
    id: "xargs-without-program-known",
    file: "src/domain/shell-wrappers.ts",
    find: "else if (found.open) found.dynamic = true;",
    replace: "else found.moves = true;",
    why: "a program that comes from the input is taken for none",
    subset: programs,
  },
  {
    id: "env-text-is-a-flag",
    file: "src/domain/shell-wrappers.ts",
    find: 'if (letter === "S" && wrapper.split === true) return { ...plain, split: rest };',
    replace: 'if (letter === "S" && wrapper.split === true) return { ...plain, takes: 1 };',
    why: "what env splits into words is stepped over",
    subset: programs,
  },
  {
    id: "sh-reads-like-bash",
    file: "src/domain/shell-shells.ts",
    find: '{ sh: "posix", dash: "posix", ash: "posix"',
    replace: '{ sh: "bash", dash: "bash", ash: "bash"',
    why: "a test for bash is a command for another shell",
    subset: programs,
  },
  {
    id: "index-in-a-test",
    file: "src/domain/shell.ts",
    find: 'return node.operator === "-v" || node.operator === "-R";',
    replace: 'return node.operator === "-R";',
    why: "an index that is evaluated runs what it holds",
    subset: programs,
  },
  {
    id: "sign-in-a-word",
    file: "src/domain/shell.ts",
    find: ".test(bare)) return true;",
    replace: ".test(bare.slice(0, 1))) return true;",
    why: "a substitution behind a digit is text to the parser and a command to bash",
    subset: hostile,
  },
  {
    id: "bytes-are-characters",
    file: "src/domain/shell.ts",
    find: "new TextEncoder().encode(script).length > maxScriptBytes",
    replace: "script.length > maxScriptBytes",
    why: "a script of long characters is three times the limit",
    subset: programs,
  },
  {
    id: "git-config-for-all",
    file: "src/domain/shell-git.ts",
    find: '    code.push(word);\n    if (word === "-C") moves = true;',
    replace: '    if (word !== "-c") code.push(word);\n    if (word === "-C") moves = true;',
    why: "a setting of git on its command line goes unseen by a wildcard",
    subset: programs,
  },
  {
    id: "find-removes-unseen",
    file: "src/domain/shell-files.ts",
    find: 'return rest.includes("-delete") && findsDeep(rest);',
    replace: 'return rest.at(-1) === "--delete" && findsDeep(rest);',
    why: "find removes a tree by itself",
    subset: hostile,
  },
  {
    id: "wildcard-for-the-inner-program",
    file: "src/domain/grant.ts",
    find: 'literal.has(run[0] ?? "") || commandGranted(allow.commands, run)',
    replace: "literal.size > 0 || commandGranted(allow.commands, run)",
    why: "a grant of a wrapper runs anything behind it",
    subset: grant,
  },
  {
    id: "wide-glob-names-all",
    file: "src/domain/protected-files.ts",
    find: "globs.some((glob) => glob.startsWith(",
    replace: 'globs.some((glob) => glob.startsWith("") || glob.startsWith(',
    why: "** opens the CI files",
    subset: guarded,
  },
  {
    id: "protected-by-case",
    file: "src/domain/workspace-path.ts",
    find: "return name.toLowerCase();",
    replace: "return name;",
    why: "another case is another file, where the disk sees one",
    subset: guarded,
  },
  {
    id: "suffix-opens-addresses",
    file: "src/domain/hosts.ts",
    find: "`) && whyNear(host) === null;",
    replace: "`);",
    why: "a name inside the cloud is one of a suffix",
    subset: guarded,
  },
  {
    id: "protected-after-the-grant",
    file: "src/domain/policy.ts",
    find: "if (unnamed !== null) return",
    replace: "if (unnamed !== null && context.token === null) return",
    why: "a wide grant writes the instructions of agents",
    subset: guarded,
  },
];
