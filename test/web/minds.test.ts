/** What a person sees of thinking, in a real browser over a tame API: a task's calls, rungs and recoveries, cards, memory. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, type Size, slim, wide } from "./browser.ts";
import { budgetCard, loopsCard, memoriesOf, thinkingTask, thoughtsOf } from "./example-minds.ts";
import { exampleApi, taskOf } from "./examples.ts";
import type { FakeApi } from "./fake-api.ts";

describe.skipIf(!chromiumIsHere)("thinking on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  function withMinds(): FakeApi {
    const api = exampleApi();
    api.approvals = [budgetCard("card-1"), loopsCard("card-2")];
    api.tasks = [thinkingTask("task-1")];
    api.thoughts = thoughtsOf();
    api.memories = memoriesOf();
    return api;
  }
  const open = async (api: FakeApi, path: string, size: Size = wide): Promise<Page> => {
    const { page, complaints } = await openPage(browser, api, path, size);
    said = complaints;
    return page;
  };
  let said: readonly string[] = [];
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
  async function shot(page: Page, name: string, size: Size): Promise<void> {
    const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(wider, "nothing is wider than the screen").toBeLessThanOrEqual(0);
    expect(said).toEqual([]);
    if (process.env.SCREENS !== undefined)
      await page.screenshot({ path: `${process.env.SCREENS}/minds-${name}-${size.width}.png`, fullPage: true });
  }

  for (const size of [wide, slim])
    it(`[WEB-83] at ${size.width} px a task says what its model calls cost, what was asked, each rung, and on request each call`, async () => {
      const page = await open(withMinds(), "/tasks/task-1", size);
      const thinking = page.getByRole("region", { name: "Thinking" });
      await thinking.waitFor();
      const facts = await thinking.locator("dl").innerText();
      expect(facts).toMatch(/41,200 tokens in, 1,930 out, price unknown, partly estimated/);
      expect(facts).toMatch(/156,870 tokens\s/);
      expect(facts).toMatch(/4 questions: 1 open, 2 answered, 1 not answered in time/);
      const rungs = await page.getByRole("list", { name: "The ladder" }).locator("li").allInnerTexts();
      expect(rungs[0]).toMatch(
        /guidance after attempt 1 of Correct the page count[\s\S]*answered[\s\S]*verification failed/,
      );
      expect(rungs[0]).toContain("Round up⟦U+200B⟧ instead.");
      expect(rungs[1]).toMatch(/Ask a person after attempt 2[\s\S]*Passed over: replan\./);
      expect(await page.locator(".thoughts").count()).toBe(0);
      await button(page, "3 calls of a model").focus();
      await page.keyboard.press("Enter");
      const calls = page.locator(".thoughts li");
      await calls.nth(2).waitFor();
      const texts = await calls.allInnerTexts();
      expect(texts[0]).toMatch(/planner anthropic\/claude-haiku-4-5\s*charged/);
      expect(texts[0]).toMatch(
        /plan, planner · prompt planner\/plan@1 · 20,400 tokens in \(18,000 cached\), 900 out · \$0\.0123/,
      );
      expect(texts[1]).toMatch(/executor compatible\/qwen⟦U\+202E⟧\s*estimated[\s\S]*crew-1[\s\S]*price unknown/);
      expect(texts[1]).toContain("the stream <b>died</b> after 12 words");
      expect(texts[2]).toMatch(/no model yet\s*under way[\s\S]*tokens not known yet · not charged yet/);
      await shot(page, "task", size);
    });
  it("[WEB-83] a known price is shown, and a task that never thought has no such place", async () => {
    const api = withMinds();
    const { spent } = thinkingTask("task-1");
    if (spent === undefined) throw new Error("the example has spent");
    const known = { ...spent, calls: 1, usd: 0.0411, unknown_price: false, estimated: false, remaining_usd: 1.9589 };
    const { research, ...rest } = thinkingTask("task-1", { spent: known, rungs: [] });
    api.tasks = [rest, taskOf("task-2", { spent: { ...known, calls: 0 }, rungs: [] })];
    const page = await open(api, "/tasks/task-1");
    const thinking = page.getByRole("region", { name: "Thinking" });
    await thinking.getByText("41,200 tokens in, 1,930 out, $0.0411", { exact: true }).waitFor();
    await thinking.getByText("156,870 tokens, $1.9589").waitFor();
    await button(page, "1 call of a model").waitFor();
    expect(await thinking.getByText("Research").count()).toBe(0);
    await page.goto("http://localhost:4321/tasks/task-2");
    await page.getByRole("heading", { name: "Record" }).waitFor();
    expect(await page.getByRole("region", { name: "Thinking" }).count()).toBe(0);
  });
  it("[WEB-84] an attempt that got stuck says what was done about it, in order", async () => {
    const page = await open(withMinds(), "/tasks/task-1");
    await page.getByText("Attempt 1: failed").click();
    const done = await page.getByRole("list", { name: "Recoveries" }).locator("li").allInnerTexts();
    expect(done).toEqual([
      "Left out old results: it went round in circles the same call 3 times in a row",
      "Asked in simpler words: it stood still nothing was said⟦U+202E⟧ for 10 minutes",
    ]);
  });
  it("[WEB-87] a budget card says what is spent and left and takes an amount; the words before a loop's call hide nothing", async () => {
    const api = withMinds();
    const page = await open(api, "/review/card-1", slim);
    await page.getByText("Left: 0 tokens, and the next call of a model may take more").waitFor();
    await page.getByText("Spent: 48100 tokens in").waitFor();
    await shot(page, "budget", slim);
    await button(page, "Add to the budget…").click();
    await page.getByLabel("Tokens").fill("20000");
    await page.waitForTimeout(550); // the confirming button rests for half a second [WEB-22]
    await button(page, "Add to the budget").click();
    await expect.poll(() => api.asked.map(({ body }) => body.amount)).toEqual([{ tokens: 20_000 }]);
    await page.goto("http://localhost:4321/review/card-2");
    await page.getByText('(its words, not checked): "The <b>owner</b>⟦U+202E⟧ said yes."').waitFor();
  });

  for (const size of [wide, slim])
    it(`[WEB-85] at ${size.width} px memory is reached from the bar, searched by keyboard, and says whose words it holds`, async () => {
      const page = await open(withMinds(), "/tasks", size);
      await page.getByRole("link", { name: "Memory" }).click();
      const rows = page.locator(".memory-row");
      await rows.nth(2).waitFor();
      expect(await rows.first().innerText()).toMatch(
        /The pager rounds down[\s\S]*Gotcha[\s\S]*words of: web[\s\S]*its task/,
      );
      expect(await rows.nth(2).innerText()).toMatch(/Forgotten decision/);
      await button(page, "Show all of it").click();
      await page.getByText("So round up⟦U+202E⟧.").waitFor();
      await shot(page, "memory", size);
      await page.keyboard.press("Escape");
      await page.locator("h1").click();
      await page.keyboard.press("/");
      await page.keyboard.type("items");
      await page.keyboard.press("Enter");
      await expect.poll(() => rows.count()).toBe(1);
      expect(await rows.first().innerText()).toContain("Show the last page");
      await page.getByLabel("Kind").selectOption("pattern");
      await page.getByText("Nothing fits").waitFor();
      await button(page, "Show all").click();
      await rows.nth(2).waitFor();
    });
  it("[WEB-85] an empty memory says how it fills, and one that cannot be read can be tried again", async () => {
    const api = withMinds();
    api.memories = [];
    const page = await open(api, "/memory", slim);
    await page.getByText("Nothing is remembered yet").waitFor();
    const onlyPlans = "**/api/memory?*kind=plan*";
    await page.route(onlyPlans, (route) => route.fulfill({ status: 403, json: { code: "forbidden" } }));
    await page.getByLabel("Kind").selectOption("plan");
    await page.getByText("Your role does not allow this").waitFor();
    await page.unroute(onlyPlans);
    await button(page, "Try again").click();
    await page.getByText("Nothing fits").waitFor();
    await button(page, "Show all").click();
    await page.getByText("Nothing is remembered yet").waitFor();
    await shot(page, "empty", slim);
    expect(await page.title()).toContain("Memory");
  });
  it("[WEB-86] an admin has one forgotten: it says what that does, asks for the reason, Escape changes nothing, twice is once", async () => {
    const api = withMinds();
    const page = await open(api, "/memory");
    const forget = button(page, "Forget…").first();
    await forget.click();
    await page.getByText("Its title and text are wiped").waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    expect(api.asked).toEqual([]);
    await expect.poll(() => forget.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await forget.click();
    let answered = (): void => {};
    api.hold = new Promise((resolve) => {
      answered = resolve;
    });
    await page.getByLabel("Reason").fill("It names a customer");
    await page.keyboard.press("Enter");
    await button(page, "Forgetting…").waitFor();
    await page.keyboard.press("Enter");
    answered();
    await page.getByText("Forgotten gotcha").waitFor();
    expect(api.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["DELETE", "/api/memory/m1", { reason: "It names a customer" }],
    ]);
  });
  it("[WEB-86] nobody else is offered it", async () => {
    const api = withMinds();
    api.role = "approver";
    const page = await open(api, "/memory");
    await page.locator(".memory-row").first().waitFor();
    expect(await button(page, "Forget…").count()).toBe(0);
  });
});
