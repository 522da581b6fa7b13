import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { githubVariables, githubVars } from "../../src/dev/github.ts";

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "countersign-github-"));
});
afterEach(() => rmSync(state, { recursive: true }));
const file = () => join(state, "github.env");

describe("npm start", () => {
  const app = {
    GITHUB_APP_ID: "7",
    GITHUB_APP_SLUG: "own",
    GITHUB_PRIVATE_KEY: "a\nb\n",
    GITHUB_WEBHOOK_SECRET: "hush",
  };
  it("[GHL-60] takes an App whole from its environment, else from its folder; what stands beside it, each for itself", () => {
    expect(githubVars(state, { PUBLIC_URL: "https://a.example", GITHUB_API_URL: "https://b.example" })).toEqual({});
    writeFileSync(
      file(),
      "GITHUB_APP_ID='1'\nGITHUB_APP_SLUG='kept'\nGITHUB_URL='https://g.example'\nPUBLIC_URL='https://a.example'\n",
      {
        mode: 0o644,
      },
    );
    const stored = { GITHUB_APP_ID: "1", GITHUB_APP_SLUG: "kept", GITHUB_URL: "https://g.example" };
    expect(githubVars(state, { GITHUB_SCOPE: "s" })).toEqual({
      ...stored,
      PUBLIC_URL: "https://a.example",
      GITHUB_SCOPE: "s",
    });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(githubVars(state, { ...app, PUBLIC_URL: "https://c.example" })).toEqual({
      ...{ ...app, GITHUB_PRIVATE_KEY: "a\\nb", PUBLIC_URL: "https://c.example" },
    });
    expect(githubVars(state, { GITHUB_APP_ID: "7" })).toEqual({ GITHUB_APP_ID: "7", PUBLIC_URL: "https://a.example" });
  });
  it("[GHL-61] names every variable it takes, and refuses a value that would break its file, without repeating it", () => {
    expect([...githubVariables].toSorted()).toEqual(
      [
        ...["GITHUB_API_URL", "GITHUB_APP_ID", "GITHUB_APP_SLUG", "GITHUB_PRIVATE_KEY", "GITHUB_SCOPE", "GITHUB_URL"],
        ...["GITHUB_WEBHOOK_SECRET", "GITHUB_WEBHOOK_SECRET_OLD", "PUBLIC_URL"],
      ].toSorted(),
    );
    for (const value of ["hush'\nSANDBOX_SECRET='x", "hush$HOME", "hush\nx"])
      expect(() => githubVars(state, { ...app, GITHUB_WEBHOOK_SECRET: value })).toThrow(/^GITHUB_WEBHOOK_SECRET holds/);
  });
});
