/** For which programs a wildcard of a grant speaks, in which forms, and what they may write. Every line here once slipped. */
import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";
import { fits } from "../../src/domain/standing.ts";
import { asked, cardOf, itemOf } from "./standing-world.ts";

const granted = (script: string, commands: readonly string[], paths = ["src/**"], cwd = ".") =>
  shellGranted(script, { tools: [], paths, commands: [...commands], hosts: [], secrets: [] }, cwd);
const all = ["**"];

describe("a wildcard speaks for a small core", () => {
  it.each([
    "sed '/[/s#]/e sh src/x #b#' src/x",
    "sed -n 's|^.*[|].*|1;/bin\\/sh src\\/x|e#/p' src/in",
    "sed -n '/[/s#]/w src/x#b#' src/in",
    "sed -i.bak s/a/b/ src/a",
    "sed -ni p src/a",
    "sed -f src/x src/a",
    "csplit -k -s -f .gi -b 't/config%.0d' src/cfg 5",
    "csplit -f src/x src/a 2",
    "split -a1 -l1 src/n Makefil",
    "gunzip -f Makefile-gz",
    "gunzip -N src/x.gz",
    "gunzip -r src",
    "zstd -dr src",
    "zip src/a.zip src/a",
    "tar -cf src/a.tar src",
    "tree -Io x .git/config",
    "install src/a src/b",
    "dd if=src/a of=src/b",
    "rsync -a src/a src/b",
    "awk '{print}' src/a",
    "xargs rm",
    "echo a | xargs grep b",
    "curl -o src/a https://example.com",
    "patch -p1 -i src/a",
    "chmod +x src/a",
    "node src/a.js",
    "python3 scripts/gen.py src",
    "sh scripts/gen.sh a",
    "uv run pytest",
    "nonesuch a",
    "sort -o src/b src/a",
    "sort -T src src/a",
    "uniq src/a src/b",
    "date -s 2020-01-01",
    "date 01010000",
    "find src -name a -exec grep b {} +",
    "find src -maxdepth 1 -name a -delete",
    "find src -fprint src/a",
    "git push origin main",
    "git stash",
    "git fetch",
    "git bundle create src/a HEAD",
    "time -o src/a ls",
    "npx playwright test",
  ])("[GR-70] %s is none of it: only its own words grant it", (script) => {
    const program = /(?:echo a \| )?(\w+)/.exec(script)?.[1] ?? "";
    expect(granted(script, ["echo **", "grep **", "ls", `${program} **`, `${program} * **`, "**"], all)).toBe(false);
  });
  it.each([
    ["cat **", "cat src/a package.json"],
    ["head **", "head -n 5 src/a"],
    ["sort **", "sort -u src/a"],
    ["uniq **", "uniq -c src/a"],
    ["date **", "date -u +%F"],
    ["grep **", "grep -rn a src"],
    ["find **", "find . -name '*.ts' -type f"],
    ["sed **", "sed -n 1,20p src/a"],
    ["sed **", "sed -n '5,$p' src/a"],
    ["sed **", "sed -i s/old_name/new-name/g src/a"],
    ["sed -i -e * -e * *", "sed -i -e s/a/b/ -e 's/c d/e/' src/a"],
    ["cp **", "cp -f src/a src/b"],
    ["cp **", "cp -T package.json src/p.json"],
    ["rm **", "rm -f src/a src/b"],
    ["mkdir **", "mkdir -p src/a/b"],
    ["touch **", "touch -d 2020-01-01 src/a"],
    ["tee *", "tee src/a"],
    ["git **", "git diff --stat"],
    ["git **", "git log -3"],
    ["git **", "git commit -m x"],
    ["git rm **", "git rm -q src/old.ts"],
    ["npm **", "npm test"],
    ["npm **", "npm run build"],
    ["npx vitest **", "npx vitest run x"],
    ["tsc **", "tsc -p ."],
    ["go **", "go test ./..."],
    ["cargo **", "cargo build --release"],
    ["pytest **", "pytest -q tests"],
    ["python3 -m pytest **", "python3 -m pytest -q tests"],
    ["make **", "make build"],
    ["eslint **", "eslint src"],
    ["prettier **", "prettier --check ."],
    ["pnpm **", "pnpm test"],
    ["pnpm **", "pnpm run build"],
    ["yarn **", "yarn lint:fix"],
  ])("[GR-70] %s covers %s", (grant, script) => {
    expect(granted(script, [grant])).toBe(true);
  });
  it.each([
    "rm -r build",
    "mkdir -p build",
    "cp a b",
    "mv a b",
    "wc -l a",
    "sed -i /x/d a",
    "tar -czf a.tgz src",
    "find . -name *.o",
  ])("[GR-70] word for word %s is granted", (script) => {
    expect(granted(script.replace("*.o", "'*.o'"), [script])).toBe(true);
  });
  it.each([
    ["pnpm **", "pnpm nice sh src/x"],
    ["pnpm **", "pnpm timeout 5 sh src/x"],
    ["pnpm **", "pnpm src/x"],
    ["pnpm **", "pnpm run nice sh src/x"],
    ["bun **", "bun run nice"],
    ["bun **", "bun src/x.ts"],
    ["yarn **", "yarn nice sh src/x"],
    ["go **", "go run ./src/x"],
    ["go **", "go generate ./..."],
    ["cargo **", "cargo evil"],
  ])("[GR-71] %s grants no subcommand that may be another program: %s", (grant, script) => {
    expect(granted(script, [grant])).toBe(false);
    expect(granted(script, [script])).toBe(true);
  });
});

describe("what a wildcard's command writes", () => {
  it.each([
    ["cp * *", "cp src/evil scripts/gen.sh"],
    ["tee *", "tee scripts/gen.sh"],
    ["sed -i * *", "sed -i s/a/b/ scripts/gen.sh"],
    ["touch *", "touch scripts/gen.sh"],
    ["rm *", "rm scripts/gen.sh"],
    ["mkdir **", "mkdir lib"],
    ["git rm **", "git rm scripts/gen.sh"],
    ["timeout 60 cp * *", "timeout 60 cp src/evil scripts/gen.sh"],
  ])("[GR-72] %s writes nothing outside of paths: %s", (grant, script) => {
    expect(granted(script, [grant])).toBe(false);
    expect(granted(script, [grant], all)).toBe(true);
    expect(granted(script, [script])).toBe(true);
  });
  it.each([
    "cp -r src/d src/e",
    "cp -a src/d src/e",
    "cp -P src/l src/m",
    "cp -d src/l src/m",
    "cp -R src/d src/e",
    "cp --parents src/a src/d",
    "mv src/a src/b",
    "mv src/foo src/hooks",
    "mv src/foo.d src/cypress",
    "mv packages/a/x.d packages/b",
    "mv -T src/d cypress",
    "mv src/link README.md",
    "git mv src/a src/b",
    "git mv src/foo src/hooks",
    "ln -s pre-commit src/foo/l",
  ])("[GR-73] a folder or a link is brought by no wildcard, nor what may be one: %s", (script) => {
    expect(granted(script, ["cp **", "mv **", "mv * *", "git mv **", "git **", "ln **"], all)).toBe(false);
    expect(granted(script, [script], all)).toBe(true);
  });
  it("[GR-73] nor is the workspace itself removed", () => {
    for (const script of ["rm .", "rmdir .", "rm ./src/.."])
      expect(granted(script, ["rm **", "rmdir *"], all)).toBe(false);
  });
  it.each([
    "rm -r src/app",
    "rm -R src/app",
    "rm -fr src/app",
    "rm src/app -r",
    "rm --recursive src/app",
    "git rm -r src/app",
    "git rm -r src/app.d",
    "git rm -qr src/app",
    "git rm --cached -r src/app",
  ])("[GR-88] what lies in a folder is removed by no wildcard: %s", (script) => {
    expect(granted(script, ["rm **", "rm * *", "git rm **", "git **"], all)).toBe(false);
    expect(granted(script, [script], all)).toBe(true);
  });
  it.each([
    ["timeout 60 gunzip *", "timeout 60 gunzip package.json.gz"],
    ["env **", "env gunzip package.json.gz"],
    ["nice -n 5 cp * *", "nice -n 5 cp src/support cypress"],
    ["timeout 60 cp * *", "timeout 60 cp src/d/tasks.py ."],
    ["nice **", "nice cat src/a"],
    ["timeout 5 nice **", "timeout 5 nice cat src/a"],
  ])("[GR-74] behind a wrapper %s grants no more than its words would alone: %s", (grant, script) => {
    expect(granted(script, [grant], all)).toBe(false);
  });
  it("[GR-74] what is granted by itself is granted behind one, by its own grant or by this one's words", () => {
    expect(granted("timeout 5 cat src/a", ["timeout **", "cat *"])).toBe(true);
    expect(granted("timeout 5 nice cat src/a", ["timeout * nice cat *"])).toBe(true);
    expect(granted("timeout 5 cp src/a src/b", ["timeout * cp * *"])).toBe(true);
  });
});

describe("text is no path", () => {
  it.each([
    ["grep **", "grep -rn /api/v1 src"],
    ["grep **", "grep -n -e ../lib src/a"],
    ["grep **", "grep -A 2 '~/x' src/a"],
    ["rg **", "rg -n '/foo' src"],
    ["echo **", "echo /etc/passwd ../x"],
    ["git commit **", "git commit -m /health"],
    ["git commit **", "git commit -q -m ../x"],
    ["git grep **", "git grep -n /api src"],
    ["find **", "find src -path '/x/*'"],
  ])("[GR-75] %s covers %s", (grant, script) => {
    expect(granted(script, [grant])).toBe(true);
  });
  it.each([
    ["grep **", "grep -rn x /etc"],
    ["grep **", "grep -e x /etc/passwd"],
    ["grep **", "grep -f /etc/passwd src"],
    ["sed **", "sed -n 1p /etc/passwd"],
    ["sed -n -e * *", "sed -n -e 1p /etc/passwd"],
    ["git commit **", "git commit -F /etc/passwd"],
    ["find **", "find /etc -name x"],
    ["find **", "find src -newer /etc/passwd"],
    ["rg **", "rg --files /etc"],
  ])("[GR-75] a file is: %s does not cover %s", (grant, script) => {
    expect(granted(script, [grant])).toBe(false);
  });
});

describe("a plan inside an approval in advance", () => {
  const inside = (command: string, within: string) => {
    const { grants } = itemOf();
    const card = cardOf({ items: [itemOf({ grants: { ...grants, commands: [command] } })] });
    return fits(asked({ card }, { commands: ["npm test", "echo **", within] })).fits;
  };
  it.each([
    ["sed /[/esh sed **", "sed **"],
    ["make -f src/evil.mk **", "make **"],
    ["tar -xf src/a.tar", "tar **"],
    ["cp src/a scripts/gen.sh", "cp * *"],
    ["npm exec evil", "npm **"],
  ])("[GR-76] its own words are held to what a wildcard of the bounds may stand for: %s in %s", (command, within) => {
    expect(inside(command, within)).toBe(false);
    expect(inside(command, command)).toBe(true);
  });
  it.each([
    ["npm run build", "npm run *"],
    ["npm run *", "npm **"],
    ["cat **", "cat **"],
    ["npm test **", "npm **"],
    ["cat *", "cat **"],
  ])("[GR-76] %s lies in %s", (command, within) => {
    expect(inside(command, within)).toBe(true);
  });
});
