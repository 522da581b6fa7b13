/** docs/github.md, held to the code it speaks of. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { usage } from "../../src/cli/run.ts";
import { githubVariables } from "../../src/dev/github.ts";
import { readCommand } from "../../src/domain/github/commands.ts";
import { appEvents, appPermissions } from "../../src/domain/github/manifest.ts";
import { defaultTriggers } from "../../src/domain/github/triggers.ts";
import { limits } from "../../src/limits.ts";

const document = readFileSync(join(import.meta.dirname, "../../docs/github.md"), "utf8");
const fenced = (kind: string) =>
  [...document.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text = ""]) => text);

describe("docs/github.md", () => {
  it("[GHL-70] names the triggers and their defaults, the permissions, the events and the variables as they are", () => {
    expect(fenced("json").map((text) => JSON.parse(text))).toEqual([defaultTriggers]);
    for (const [name, value] of Object.entries(defaultTriggers)) {
      if (Array.isArray(value)) continue;
      const on = typeof value === "boolean" ? value : value.on;
      expect(document).toMatch(new RegExp(`^\\| \`${name}\` \\| ${on ? "on" : "off"}`, "m"));
    }
    const permissions = [...document.matchAll(/^\| `(\w+)` \| (read|write) \|/gm)].map(([, name, level]) => [
      name,
      level,
    ]);
    expect(Object.fromEntries(permissions)).toEqual(appPermissions);
    const heard = /^It hears ([\s\S]*?)\. /m.exec(document)?.[1] ?? "";
    expect([...heard.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual([...appEvents]);
    const table = document.slice(document.indexOf("| variable |"), document.indexOf("`npm start` takes the App"));
    const variables = [...table.matchAll(/`((?:GITHUB|PUBLIC)_\w+)`/g)].map(([, name]) => name);
    expect(variables.toSorted()).toEqual([...githubVariables].toSorted());
  });
  it("[GHL-71] its commands are commands, and its numbers are the limits", () => {
    const named = [...document.matchAll(/countersign ((?:github|webhooks|hooks) [a-z]+)/g)].map(([, words]) => words);
    expect(new Set(named).size).toBeGreaterThan(6);
    for (const words of named) expect(usage).toContain(`countersign ${words}`);
    expect(
      fenced("text")[0]
        ?.trim()
        .split("\n")
        .map((line) => readCommand(line)?.what),
    ).toEqual(["approve", "deny", "deny", "cancel", "status"]);
    expect([limits.github_setup_ms, limits.github_redelivery_days_ms, limits.github_redelivery_every_ms]).toEqual([
      ...[10 * 60_000, 3 * 86_400_000, 5 * 60_000],
    ]);
    expect([limits.github_redelivery_waits_ms.map((wait_ms) => wait_ms / 60_000), limits.github_hash_chars]).toEqual([
      ...[[5, 15, 60, 240, 480], 12],
    ]);
    expect(document).toContain(`${limits.github_redelivery_kept.toLocaleString("en")} tries`);
  });
});
