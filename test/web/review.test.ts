/** Review on the running service: a person with a keyboard, a window of either width, and a plan that waits. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import type { Page as ApiPage, TaskView } from "../../src/domain/view.ts";
import { type JourneyService, startService } from "../journeys/helpers.ts";
import { chromiumIsHere, openBrowser, type Size, slim, wide } from "./browser.ts";

const taskEndsWithinMs = 120_000;

describe.skipIf(!chromiumIsHere)("countersigning on the page", () => {
  let service: JourneyService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startService({ seed: true }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.discard();
  });

  async function api<T>(path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(service.url + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    // The caller names the shape the API promises for this path.
    return (await response.json()) as T;
  }
  async function signInLink(): Promise<string> {
    const { ticket } = await api<{ ticket: string }>("/api/tickets", { path: "/" });
    return `${service.url}/#ticket=${ticket}`;
  }
  async function visitor(size: Size): Promise<Page> {
    const context = await browser.newContext({ viewport: size });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    return page;
  }
  /** Another task like the sample's, waiting with its own card. */
  async function anotherTask(title: string): Promise<ApprovalView> {
    const [summary] = (await api<ApiPage<TaskView>>("/api/tasks")).items;
    const sample = await api<TaskView>(`/api/tasks/${summary?.id}`);
    const { id } = await api<TaskView>("/api/tasks", { title, repo: sample.repo, plan: sample.plan?.markdown });
    return cardOf(id);
  }
  async function cardOf(taskId: string): Promise<ApprovalView> {
    const find = async (): Promise<ApprovalView | undefined> =>
      (await api<ApiPage<ApprovalView>>("/api/approvals?status=pending")).items.find(
        (approval) => approval.task_id === taskId,
      );
    await expect.poll(find, { timeout: 30_000 }).toBeDefined();
    const found = await find();
    if (found === undefined) throw new Error("the card was there a moment ago");
    return found;
  }
  /** Tab until something with that name has the focus: no pointer, no shortcut. */
  async function tabTo(page: Page, name: string): Promise<void> {
    for (let presses = 0; presses < 120; presses += 1) {
      const text = String(await page.evaluate("document.activeElement?.closest('a, button')?.textContent ?? ''"));
      if (text.includes(name)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`no Tab leads to ${name}`);
  }
  function statusOf(taskId: string): () => Promise<string> {
    return async () => (await api<TaskView>(`/api/tasks/${taskId}`)).status;
  }

  it("[WEB-19] at 1280 px, by Tab and Enter alone; the task goes on to its branch, and two presses decide once", async () => {
    const [summary] = (await api<ApiPage<TaskView>>("/api/tasks")).items;
    const card = await cardOf(summary?.id ?? "");
    const page = await visitor(wide);
    await page.goto(await signInLink());
    await page.getByText("Your browser checked").waitFor();
    expect(page.url()).toContain(`/review/${card.id}`);
    await tabTo(page, "Approve…");
    await page.keyboard.press("Enter");
    await page.locator('button.sign:focus[aria-disabled="false"]', { hasText: "Countersign" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Countersigned" }).waitFor();
    const decided = await api<ApprovalView>(`/api/approvals/${card.id}`);
    expect(decided.decisions.map(({ decision }) => decision)).toEqual(["approve"]);
    await tabTo(page, "Follow the task");
    await page.keyboard.press("Enter");
    await page.getByText("Verified and published").waitFor({ timeout: taskEndsWithinMs });
    expect(await page.locator(".verification.pass").count()).toBeGreaterThan(0);
    expect(await page.locator(".hunks tr.add").count()).toBeGreaterThan(0);
    // Long after the attempt, its output is still there to read.
    await page.reload();
    await page.getByRole("button", { name: "Show what it printed" }).first().click();
    await expect.poll(() => page.locator(".output-text, .xterm-rows").first().textContent()).not.toBe("");
    expect(await statusOf(card.task_id)()).toBe("done");
  });

  it("[WEB-19] at 390 px, by shortcut; the task goes on to its branch", async () => {
    const card = await anotherTask("The same again, on a phone");
    const page = await visitor(slim);
    await page.goto(await signInLink());
    await page
      .getByRole("link", { name: /The same again|Plan/ })
      .first()
      .waitFor();
    await page.keyboard.press("j");
    await page.getByText("Your browser checked").waitFor();
    await page.keyboard.press("a");
    await page.locator('button.sign:focus[aria-disabled="false"]', { hasText: "Countersign" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Countersigned" }).waitFor();
    await expect.poll(statusOf(card.task_id), { timeout: taskEndsWithinMs }).toBe("done");
  });

  it("[WEB-20] a used sign-in link signs nobody in", async () => {
    const link = await signInLink();
    const first = await visitor(wide);
    await first.goto(link);
    await first.getByRole("heading", { name: "Review" }).waitFor();
    const second = await visitor(wide);
    await second.goto(link);
    await second.getByRole("alert").waitFor();
    expect(await second.getByRole("alert").textContent()).toContain("works once");
    expect(second.url()).not.toContain("ticket");
  });

  it("[WEB-20] a decision taken elsewhere shows on the open card by itself", async () => {
    const card = await anotherTask("Decided elsewhere");
    const page = await visitor(wide);
    await page.goto(await signInLink());
    await page.getByText("Your browser checked").waitFor();
    await page.locator("button.sign:enabled").waitFor();
    await page.keyboard.press("d");
    await page.getByLabel("Reason").fill("Half written when");
    await api(`/api/approvals/${card.id}/deny`, { reason: "Not this week", content_hash: card.content_hash });
    await page.getByRole("heading", { name: "Denied" }).waitFor();
    expect(await page.locator(".decisions").textContent()).toContain("Not this week");
    expect(await statusOf(card.task_id)()).toBe("denied");
  });
});
