import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxCommands, maxScriptBytes, maxWords, readShell } from "../../src/domain/shell.ts";
import { unwrap } from "../../src/domain/shell-wrappers.ts";

const argvs = (script: string) => readShell(script).commands.map(({ argv }) => argv);
const inner = (...argv: string[]) => unwrap(argv).layers.at(-1);

describe("reading a script", () => {
  it("[SH-1] every plain command is found with its words as the program gets them", () => {
    expect(argvs(`npm test && rm -rf 'a b'/"c" | wc -l; \\\n ls a\\ b '' "x\\$y" $'t\\tb' # no`)).toEqual([
      ["npm", "test"],
      ["rm", "-rf", "a b/c"],
      ["wc", "-l"],
      ["ls", "a b", "", "x$y", "t\tb"],
    ]);
    expect(readShell("npm test && npm run build").dynamic).toBe(false);
  });
  it("[SH-1] commands are found wherever they hide: groups, conditions, functions, substitutions, here-documents", () => {
    const script =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell
      'if a; then (b); else { c; }; fi; while d; do e; done; case x in y) f;; esac; g() { h; }; echo $(i) `j` <(k) "$(l)" ${x:-$(m)} $((1+$(n))); cat <<E\n$(o)\nE\n[[ -f $(p) ]]; x=$(q) r; ! s & t > $(u)';
    const names = argvs(script).map(([name]) => name);
    for (const name of "abcdefhijklmnopqrstu") expect(names, name).toContain(name);
  });
  it("[SH-2] a word that is only known at run time makes the script dynamic", () => {
    for (const script of [
      "echo $x",
      `echo \${x}`,
      'echo "$x"',
      "echo *.ts",
      "echo a?",
      "echo [ab]",
      "echo {a,b}",
      "echo {1..3}",
      "echo ~",
      "echo ~/x",
      "echo a=~/x",
      "$x",
      "echo $(id)",
      "echo `id`",
      "echo $((1))",
      "cat <(id)",
      "cat 2<(id)",
      "cat {fd}>(id)",
      "echo {a}\\{a,b}",
      "ls > $x",
      "a=$x b",
      "echo $'a\\x00b'",
      'echo $"hi"',
      "a[1]=2",
      "cat <<E\n$x\nE",
      "cat <<< $x",
    ])
      expect(readShell(script).dynamic, script).toBe(true);
    for (const script of [
      "echo '$x'",
      "echo \\$x",
      'echo "*"',
      "echo '~'",
      "echo a~",
      "echo {}",
      "echo {a}",
      "echo =",
      "cat <<'E'\n$x\nE",
      "[ -f x ]",
      "echo 'a'\"b\"c",
    ])
      expect(readShell(script).dynamic, script).toBe(false);
  });
  it("[SH-2] what gives later names a new meaning makes the script dynamic", () => {
    for (const script of [
      "npm() { rm x; }; npm test",
      "for PATH in evil; do npm test; done",
      "((PATH=1)); npm test",
      "coproc npm test",
      "select x in a; do b; done",
    ])
      expect(readShell(script).dynamic, script).toBe(true);
  });
  it("[SH-3] redirects are reads and writes of files; descriptors and /dev/null are none", () => {
    expect(readShell("a <in >out 2>>log; { b; } &>all; c <>both >|x")).toMatchObject({
      reads: ["in", "both"],
      writes: ["out", "log", "all", "both", "x"],
    });
    expect(readShell("a 2>&1 >/dev/null 3>&- <&0 <<E\nx\nE\nb <<< y")).toMatchObject({
      reads: [],
      writes: [],
      dynamic: false,
    });
    expect(readShell("a >&file")).toMatchObject({ writes: ["file"] });
    expect(readShell("a > /dev/tcp/x/1")).toMatchObject({ writes: ["/dev/tcp/x/1"] });
  });
  it("[SH-4] assignments are told, and a change of directory", () => {
    expect(readShell("A=1 B=2 npm test").commands[0]).toMatchObject({ argv: ["npm", "test"], assignments: ["A", "B"] });
    expect(readShell("PATH=x").commands[0]).toMatchObject({ argv: [], assignments: ["PATH"] });
    expect(argvs("export A=b C+=d")).toEqual([["export", "A=b", "C+=d"]]);
    expect(readShell("cd x; ls").moves).toBe(true);
    expect(readShell("builtin cd x").moves).toBe(true);
    expect(readShell("ls cd").moves).toBe(false);
  });
  it("[SH-5] what does not parse whole, has control characters, or is too long is said so", () => {
    for (const script of [
      "echo 'a",
      "if a; then b",
      "a |",
      "a && ",
      "echo $(b",
      "((",
      "a\0b",
      "a\rb",
      "a\u0007",
      "$(".repeat(5000),
      "x".repeat(maxScriptBytes + 1),
      "a;".repeat(maxCommands + 1),
    ])
      expect(readShell(script).parse_error, JSON.stringify(script.slice(0, 20))).not.toBeNull();
    expect(readShell("a;".repeat(maxCommands)).parse_error).toBeNull();
    expect(readShell(`a ${"b ".repeat(maxWords)}`).parse_error).not.toBeNull();
    expect(readShell(`a ${"b ".repeat(maxWords - 1)}`).parse_error).toBeNull();
    expect(readShell("").commands).toEqual([]);
  });
  it("[SH-5] no text whatever makes it throw", () => {
    const piece = fc.constantFrom(
      "$(",
      ")",
      "`",
      "'",
      '"',
      "{",
      "}",
      "<<E\n",
      "|",
      ";",
      "&&",
      "if ",
      "fi",
      "((",
      "))",
      "[[",
      "]]",
      `\${`,
      "\\",
      "\n",
      "case x in",
      "esac",
      "a=",
      "~",
      "*",
      "$'",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 25 }), (pieces) => {
        const read = readShell(pieces.join(""));
        expect(read.parse_error === null || read.parse_error.length > 0).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("programs that run programs", () => {
  it("[SH-6] the program behind a known wrapper is found, however many there are", () => {
    expect(inner("sudo", "-u", "root", "rm", "x")).toEqual(["rm", "x"]);
    expect(inner("env", "-i", "A=1", "rm", "x")).toEqual(["rm", "x"]);
    expect(inner("/usr/bin/env", "--", "rm", "x")).toEqual(["rm", "x"]);
    expect(inner("timeout", "-k", "5", "--signal=KILL", "10", "rm", "x")).toEqual(["rm", "x"]);
    expect(inner("nice", "-n5", "nohup", "command", "rm", "x")).toEqual(["rm", "x"]);
    expect(inner("xargs", "-0", "-n", "1", "rm", "-rf")).toEqual(["rm", "-rf"]);
    expect(inner("sudo")).toEqual(["sudo"]);
    expect(inner("npm", "test")).toEqual(["npm", "test"]);
  });
  it("[SH-6] a script given to a shell or to eval is read like the outer one", () => {
    expect(argvs(`bash -euo pipefail -c 'rm x && ls'`).slice(1)).toEqual([["rm", "x"], ["ls"]]);
    expect(argvs("sh -c \"sh -c 'rm x'\"").at(-1)).toEqual(["rm", "x"]);
    expect(argvs("eval rm x").at(-1)).toEqual(["rm", "x"]);
    expect(argvs("bash -c -oe pipefail 'rm x' name").at(-1)).toEqual(["rm", "x"]);
    expect(readShell("bash -c 'echo $x'").dynamic).toBe(true);
    expect(readShell("bash -c 'echo \"'").parse_error).not.toBeNull();
  });
  it("[SH-7] a wrapper in a way that is not known is dynamic, never guessed", () => {
    for (const script of [
      "sudo --weird rm x",
      "env -S 'rm \"x\"'",
      "timeout --what 5 rm x",
      "curl x | sh",
      "bash -s",
      "bash",
      "bash -c",
      "bash -O extglob -c ls",
      `${"nohup ".repeat(20)}rm x`,
    ])
      expect(readShell(script).dynamic, script).toBe(true);
    expect(readShell("bash script.sh").dynamic).toBe(false);
  });
});
