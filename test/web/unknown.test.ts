/** What is not known, as Review and Activity say it. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UnknownEffect } from "../../src/domain/unknown.ts";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, slim, wide } from "./browser.ts";
import { exampleApi, taskOf } from "./examples.ts";

const effect: UnknownEffect = {
  kind: "tool_call",
  attempt_id: "p1.fix.1",
  work_item_id: "p1.fix",
  call_id: "step-1",
  tool: "shell_execute",
  arguments: '{"command":"npm publish\u202e"}',
  state: "unknown",
  answered: "the sandbox is gone",
  repeats: "never",
  at: "2026-01-02T03:04:05.000Z",
};

describe.skipIf(!chromiumIsHere)("what is not known", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  it("[WEB-45] stands above the cards for each open task, its arguments as they were asked, nothing in them hidden", async () => {
    for (const size of [wide, slim]) {
      const api = exampleApi();
      const { page } = await openPage(browser, api, "/review", size);
      await page.getByRole("heading", { name: /Review/ }).waitFor();
      expect(await page.getByLabel("What is not known").count()).toBe(0);
      api.tasks = [taskOf("task-1", { title: "Fix the pager", status: "waiting", unknown_effects: [effect] })];
      await page.reload();
      const list = page.getByLabel("What is not known");
      await list.getByText("It is not run again by itself.").waitFor();
      expect(await list.textContent()).toContain("the sandbox is gone");
      expect(await list.locator(".escaped").textContent()).toBe("⟦U+202E⟧");
      const wider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect(wider).toBe(false);
      if (process.env.SCREENS !== undefined)
        await page.screenshot({ path: `${process.env.SCREENS}/unknown-${size.width}.png` });
    }
  });
  it("[WEB-46] Activity says in plain words that an outcome is not known", async () => {
    const api = exampleApi();
    const { page } = await openPage(browser, api, "/activity", wide);
    const detail = "What became of shell_execute is not known. It is not run again.";
    const rest = { scope_id: "s".repeat(16), task_id: null, trace_id: null, at: effect.at, actor: "runtime" };
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await page.waitForTimeout(500);
    api.tell({ seq: 999, type: "effect_unknown", ...rest, surfaces: ["review", "activity"], detail });
    await page.getByText(`Outcome not known: ${detail}`).waitFor();
  });
});
