import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkedUrl, findTarget, UsageError } from "../../src/cli/target.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-target-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function local(url = "http://127.0.0.1:8787"): void {
  const state = join(folder, ".countersign", "state");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, "token"), "cs_secret\n");
  writeFileSync(
    join(state, "service.json"),
    JSON.stringify({ url, scope: "s", token_file: join(state, "token"), pid: 1 }),
  );
}

describe("which service is meant", () => {
  it("[CLI-2] the local one of this folder or of one above it", () => {
    local();
    const deep = join(folder, "a", "b");
    mkdirSync(deep, { recursive: true });
    expect(findTarget({}, deep)).toEqual({ url: "http://127.0.0.1:8787", token: "cs_secret" });
  });

  it("[CLI-2] the environment goes before the folder, and is all or nothing", () => {
    local();
    const both = { COUNTERSIGN_URL: "https://c.example.com/", COUNTERSIGN_TOKEN: "t" };
    expect(findTarget(both, folder)).toEqual({ url: "https://c.example.com", token: "t" });
    expect(() => findTarget({ COUNTERSIGN_URL: "https://c.example.com" }, folder)).toThrow(/COUNTERSIGN_TOKEN is not/);
    expect(() => findTarget({ COUNTERSIGN_TOKEN: "t" }, folder)).toThrow(/COUNTERSIGN_URL is not/);
  });

  it("[CLI-2] with no service anywhere it says how to get one", () => {
    expect(() => findTarget({}, folder)).toThrow(/npm start/);
  });

  it("[CLI-2] a damaged record or a token that cannot be read is told, not passed over", () => {
    local();
    writeFileSync(join(folder, ".countersign", "state", "service.json"), "{");
    expect(() => findTarget({}, folder)).toThrow(UsageError);
  });

  it("[CLI-3] a token goes in clear to this machine only", () => {
    for (const url of ["http://127.0.0.1:1", "http://localhost:8787", "http://[::1]:9", "https://c.example.com"])
      expect(checkedUrl(url)).toBe(url);
    for (const url of [
      "http://c.example.com",
      "http://localhost.example.com",
      "http://127.0.0.1.example.com",
      "ftp://127.0.0.1",
      "nonsense",
    ])
      expect(() => checkedUrl(url)).toThrow(UsageError);
    expect(() => checkedUrl("https://u:p@c.example.com")).toThrow(/user name/);
  });
});
