/** The page of the policy, in a real browser over a tame API. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, type Size, slim, wide } from "./browser.ts";
import { edited, viewOf } from "./example-policy.ts";
import { eventOf, exampleApi } from "./examples.ts";
import type { FakeApi } from "./fake-api.ts";

describe.skipIf(!chromiumIsHere)("the policy on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  const open = async (api: FakeApi, path: string, size: Size = wide): Promise<Page> => {
    const { page, complaints } = await openPage(browser, api, path, size);
    await page.locator("h1").waitFor();
    expect(complaints).toEqual([]);
    return page;
  };
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
  const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
  const shot = async (page: Page, name: string): Promise<void> => {
    const folder = process.env.COUNTERSIGN_SCREENS;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };

  for (const size of [wide, slim])
    it(`[WEB-60] at ${size.width} px it says what runs, asks and is denied, and who made it so; nothing in it hides or runs out of the page`, async () => {
      const page = await open(exampleApi(), "/review", size);
      await page.getByRole("link", { name: "Policy" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Tools" }).waitFor();
      expect(await page.title()).toContain("Policy");
      const made = (await page.locator(".policy-made").innerText()).replaceAll("\n", " ");
      expect(made).toMatch(/Version 2, by grace 5 min ago: no pushing⟦U\+202E⟧/);
      const tools = await region(page, "Tools").locator("dl > div").allInnerTexts();
      expect(tools.map((text) => text.split("\n")[0])).toEqual(["Runs", "Asks", "Denied"]);
      expect(tools[2]).toContain("git_push");
      expect(await region(page, "Roles").locator("h3").allInnerTexts()).toEqual(["mayor", "deacon", "witness", "crew"]);
      expect(await region(page, "Roles").innerText()).toContain("any other");
      expect(await region(page, "Argument rules").innerText()).toMatch(/outside-workspace deny/);
      expect(await region(page, "Gates").innerText()).toMatch(/rule-of-two ask/);
      expect(await region(page, "Approvals").innerText()).toMatch(/own task\s+allow/);
      const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      expect(wider).toBe(0);
      await shot(page, `policy-${size.width}`);
    });
  it("[WEB-60] while it loads and when it cannot be had it says so; a path that is no version is no page", async () => {
    const api = exampleApi();
    api.policies = [];
    const page = await open(api, "/policy");
    await page.getByText("There is nothing here.").waitFor();
    await button(page, "Try again").first().waitFor();
    for (const path of ["/policy/x", "/policy/0", "/policy/1/2"])
      await (await openPage(browser, exampleApi(), path, wide)).page.getByText("There is no page here").waitFor();
  });
  it("[WEB-61] each version can be looked at, and what changes shows by itself", async () => {
    const api = exampleApi();
    const page = await open(api, "/policy");
    const versions = region(page, "Versions");
    await versions.getByRole("link", { name: "Version 1" }).click();
    await page.getByRole("heading", { name: "Policy, version 1" }).waitFor();
    expect(await page.locator(".policy-made").innerText()).toContain("by the service");
    expect(await button(page, "Change…").count()).toBe(0);
    await page.getByRole("link", { name: "The policy in force" }).click();
    await page.getByText("by grace").first().waitFor();
    api.policies.push(viewOf(3, edited, { changed_by: "zoe", reason: null }));
    api.tell(eventOf(9, "policy_changed", { task_id: null, actor: "zoe", detail: "version 3" }));
    await page.locator(".policy-made", { hasText: "Version 3, by zoe" }).waitFor({ timeout: 2_500 });
  });
  it("[WEB-62] one call is tried out by keyboard: what it would be answered, its rule and why; arguments that are no JSON are told", async () => {
    const api = exampleApi();
    const page = await open(api, "/policy", slim);
    await page.getByLabel("Tool", { exact: true }).fill("shell_execute");
    await page.getByLabel("Arguments, as JSON").fill("{");
    await page.getByLabel("Tool", { exact: true }).press("Enter");
    await page.getByText("This is not JSON").waitFor();
    expect(api.asked).toEqual([]);
    await page.getByLabel("Arguments, as JSON").fill('{"command":"ls src"}');
    await page.getByLabel("Tool", { exact: true }).press("Enter");
    await page.getByText("It would ask a person.").waitFor();
    expect(await page.locator(".policy-answer").innerText()).toContain("tool:shell_execute: the policy asks");
    await page.getByLabel("Role", { exact: true }).selectOption("witness");
    await button(page, "Try it").click();
    await page.getByText("It would be denied.").waitFor();
    expect(api.asked.at(-1)?.body).toEqual({
      call: { tool: "shell_execute", args: { command: "ls src" } },
      ...{ role: "witness", taint: "owner" },
    });
    await shot(page, "policy-try-390");
  });
  it("[WEB-63] an admin sees problems by their place and what changes before it is put in force, for the version it was made from", async () => {
    const api = exampleApi();
    const page = await open(api, "/policy");
    await button(page, "Change…").click();
    const area = page.getByLabel("The whole policy, as JSON");
    expect(await page.evaluate("document.activeElement?.id")).toBe("policy-text");
    await page.getByText("Nothing changes yet.").waitFor();
    const whole = await area.inputValue();
    await area.fill(whole.replace('"git_push": "deny"', '"git_push": "never"'));
    await page.getByText('tools.git_push: must be one of "auto_approve", "require_approval", "deny"').waitFor();
    await button(page, "Put it in force").click({ force: true });
    await area.fill(`${whole}x`);
    await page.getByText("This is not JSON").waitFor();
    expect(api.asked).toEqual([]);
    await area.fill(whole.replace('"git_push": "deny"', '"git_push": "require_approval"'));
    await page.getByText("tools.git_push").waitFor();
    expect((await page.locator("#policy-reading").innerText()).replaceAll("\n", " ")).toContain(
      "tools.git_push deny → require_approval",
    );
    await shot(page, "policy-edit-1280");
    await page.getByLabel("Reason (optional)").fill("pushes are asked for");
    await page.keyboard.press("Enter");
    await page.locator(".policy-made", { hasText: "Version 3, by ada" }).waitFor();
    expect(await page.evaluate("document.activeElement?.id")).toBe("policy-title");
    expect(api.asked).toMatchObject([{ method: "PUT", path: "/api/policy", body: { reason: "pushes are asked for" } }]);
  });
  it("[WEB-63] what came into force meanwhile is not undone: the text stays, and is compared with it first", async () => {
    const api = exampleApi();
    const page = await open(api, "/policy", slim);
    await button(page, "Change…").click();
    const area = page.getByLabel("The whole policy, as JSON");
    await area.fill((await area.inputValue()).replace('"git_push": "deny"', '"git_push": "auto_approve"'));
    const theirs = { ...edited, tools: { ...edited.tools, file_write: "deny" } };
    api.policies.push(viewOf(3, theirs, { changed_by: "zoe" }));
    api.tell(eventOf(9, "policy_changed", { task_id: null, actor: "zoe" }));
    await button(page, "Put it in force").click();
    await page.getByText("version 3 is in force, by zoe").waitFor();
    await shot(page, "policy-meanwhile-390");
    await button(page, /Compare my text/).click();
    await page.getByText("Made from version 3").waitFor();
    const moves = (await page.locator("#policy-reading li").allInnerTexts()).map((text) => text.replaceAll("\n", " "));
    expect(moves).toEqual(["tools.file_write deny → require_approval", "tools.git_push deny → auto_approve"]);
    await button(page, "Not now").click();
    await page.locator(".policy-made", { hasText: "Version 3, by zoe" }).waitFor();
  });
  it("[WEB-63] only an admin is offered a change", async () => {
    const api = exampleApi();
    api.role = "approver";
    const page = await open(api, "/policy");
    await region(page, "Tools").waitFor();
    expect(await button(page, "Change…").count()).toBe(0);
  });
});
