/** Where a word may stand for a path: what the rules that deny look at. */
import { describe, expect, it } from "vitest";
import { brokenBy, defaultArgumentRules } from "../../src/domain/policy-arguments.ts";
import { touchOf } from "../../src/domain/policy-call.ts";

const touch = (command: string) => touchOf({ tool: "shell_execute", args: { command } });

const denied: Readonly<Record<string, readonly string[]>> = {
  "recursive-force-removal": [
    "tar -cf /dev/null --remove-files src",
    "tar -cf x.tar --remove-f src",
    "zip -rm x.zip src",
    "zip -r --move x.zip src",
    "7z a -sdel x src",
    "choom -n 0 rm -rf src",
    "ssh-agent rm -rf src",
    "prove -e 'rm -rf' src",
    "prove '--exec=rm -rf' src",
    "nonesuch rm -rf src",
  ],
  "outside-workspace": [
    // Nobody knows what a reader does with an option that nobody listed.
    "strings --unheard-of=/tmp/x a",
    "cp --targ=/tmp a",
    "cp --t /tmp a",
    "sort --outp=/tmp/x a",
    "shuf -o /tmp/x a",
    "shuf -o/tmp/x a",
    "iconv -o /tmp/x a",
    "zip /tmp/x a",
    "strip -o /tmp/x a",
    "git bundle create /tmp/x HEAD",
    "git format-patch --output-dir=/tmp HEAD~1",
    "git log --outp=/tmp/x",
    "sed -i/tmp/x s/a/b/ f",
    "nonesuch --to=../x",
    "nonesuch ~/x",
    "env nonesuch /etc/x",
    "time -o /tmp/x ls",
  ],
  "git-directory": [
    "git bundle create .git/hooks/x HEAD",
    "git archive --outp=.git/x HEAD",
    "shuf -o .git/config a",
    "iconv -o .git/config a",
    "ctags -f .git/config",
    "objcopy a .git/config",
    "mktemp --tmpdir=.git",
    "sed -i'.git/*' s/a/b/ config",
    "sed -i.git/\\* s/a/b/ config",
    "vim.tiny .git/config",
    "gawk -o.git/x 1",
    "nonesuch -f.git/x",
    "nonesuch of=.git/x",
    "./cat .git/config",
    "tree -o .git/config",
  ],
};
const notDenied: readonly string[] = [
  "grep -r x --exclude-dir=.git /workspace/src",
  "cat .git/config",
  "sed -i '/x/d' src/a",
  "sed -i 's/../x/' src/a",
  "sort -t / -k2 src/a",
  "sort -t/ src/a",
  "git commit -m '/x ../y'",
  "git log -S /x -- src",
  "zip -r x.zip . -x '.git/*'",
  "tar -czf x.tgz --exclude=.git src",
  "rsync -a --exclude=.git src lib",
  "awk -F/ '/x/ {print}' src/a",
  "perl -pi -e 's/../x/' src/a",
  "node -e '// ../x'",
  "gcc -I/usr/include -c src/a.c",
  "git push https://good.example/.git/x HEAD",
  "bash -c 'cat ../x'",
  "timeout 5 cat /etc/passwd",
  "find . -not -path './.git/*'",
  "rg -g '!.git' word",
];
describe("rules that deny", () => {
  const broken = (command: string) =>
    defaultArgumentRules.flatMap((one) =>
      one.effect === "deny" && brokenBy(one, touch(command), { token: null }) !== null ? [one.id] : [],
    );
  for (const [id, commands] of Object.entries(denied))
    it.each(commands)(`[SH-57] ${id} holds for %s`, (command) => {
      expect(broken(command)).toContain(id);
    });
  it.each(notDenied)("[SH-57] what reads, and what is text, is not denied: %s", (command) => {
    expect(broken(command).filter((id) => id !== "host-not-allowed")).toEqual([]);
  });
});
