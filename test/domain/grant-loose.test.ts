/** What the shell puts into a command that only reads, and the moves and ends of a script that change nothing. */
import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";
import { readShell } from "../../src/domain/shell.ts";

const commands = ["ls **", "cat **", "grep **", "head **", "echo **", "test **", "[ **", "rm **", "cp **", "npm test"];
const granted = (script: string, cwd = ".") =>
  shellGranted(
    script,
    {
      tools: [],
      paths: ["src/**"],
      commands: [...commands, "printf **", "git **", "timeout **", "cd **", "env **", "pushd **"],
      hosts: [],
      secrets: [],
    },
    cwd,
  );

describe("names below a folder, and how the last command ended", () => {
  it.each([
    "ls src/*.ts",
    "ls ./src/*",
    "cat src/*.ts",
    "grep -n foo src/*/a?.ts",
    "head -n 5 src/*.ts | grep x",
    "npm test; echo $?",
    'npm test; echo "it ended with $?"',
    "npm test; [ $? -eq 0 ]",
    "npm test; exit $?",
  ])("[GR-93] %s is granted, and dynamic to whoever else asks", (script) => {
    expect(granted(script)).toBe(true);
    expect(readShell(script)).toMatchObject({ dynamic: true, surprises: false });
  });
  it.each([
    "rm src/*",
    "cp src/* src/d",
    "git log src/*",
    "echo src/*",
    "timeout 5 cat src/*",
    "cat *",
    "cat -*",
    "cat --x=a/*",
    "cat */x",
    "cat /etc/*",
    "cat ~/*",
    "cat ../*",
    "ls src/../*",
    "ls src/*/../../x",
    "cat src/.*",
    "cat src/*/.*",
    "cat src/[a-z]*",
    "cat src/{a,b}*",
    "cat src/@(a)*",
    "cat 'src'/*",
    "cat src/*$?",
    "cat < src/*",
    "echo $HOME",
    "echo $? $(id)",
    'echo "$?$(id)"',
    "echo $?$x",
    "printf %$?n x",
    "npm test > src/$?",
    "exit $HOME",
  ])("[GR-93] %s is not", (script) => {
    expect(granted(script)).toBe(false);
    expect(readShell(script).surprises).toBe(true);
  });
});

describe("what changes nothing", () => {
  it.each([
    "cd /workspace && npm test",
    "cd /workspace && git status",
    "npm test; exit",
    "npm test; exit 0",
    "cd . && npm test",
  ])("[GR-94] %s is granted at the root", (script) => {
    expect(granted(script)).toBe(true);
    expect(granted(script, "src")).toBe(false);
  });
  it.each([
    "cd /workspace/src && npm test",
    "cd /workspace/.. && npm test",
    "cd src && cd /workspace && npm test",
    "cd /workspace x && npm test",
    "env -C /workspace npm test",
    "pushd /workspace && npm test",
    "npm test; exit 0 1",
    "npm test; exit x",
  ])("[GR-94] %s is not", (script) => {
    expect(granted(script)).toBe(false);
  });
  it("[GR-94] to whoever else asks it is a move", () => {
    expect(readShell("cd /workspace && npm test")).toMatchObject({ moves: true, strays: false });
  });
});
