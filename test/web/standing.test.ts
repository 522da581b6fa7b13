/** The page of standing approvals, in a real browser over a tame API. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, type Size, slim, wide } from "./browser.ts";
import { standingExamples } from "./example-standing.ts";
import { exampleApi } from "./examples.ts";
import type { FakeApi } from "./fake-api.ts";

describe.skipIf(!chromiumIsHere)("standing approvals on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  function withStanding(): FakeApi {
    const api = exampleApi();
    api.standing = standingExamples();
    return api;
  }
  const open = async (api: FakeApi, path: string, size: Size = wide): Promise<Page> =>
    (await openPage(browser, api, path, size)).page;
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
  async function shot(page: Page, name: string, size: Size): Promise<void> {
    const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(wider, "nothing is wider than the screen").toBeLessThanOrEqual(0);
    if (process.env.SCREENS !== undefined)
      await page.screenshot({ path: `${process.env.SCREENS}/standing-${name}-${size.width}.png`, fullPage: true });
  }

  for (const size of [wide, slim])
    it(`[WEB-64] at ${size.width} px it is reached from Review, lists them with their uses left, and leads to one by keyboard`, async () => {
      const page = await open(withStanding(), "/review", size);
      await page.getByRole("link", { name: "Approved in advance" }).click();
      await page.getByRole("heading", { name: "Approved in advance" }).waitFor();
      const rows = page.locator(".advance-row");
      await rows.nth(1).waitFor();
      const texts = await rows.allInnerTexts();
      expect(texts[0]).toMatch(/Small chores[\s\S]*In force[\s\S]*2 of 3 uses left · until/);
      expect(texts[1]).toMatch(/Documents⟦U\+202E⟧ only[\s\S]*Revoked/);
      await shot(page, "list", size);
      await page.keyboard.press("j");
      await page.getByRole("heading", { name: "Small chores", level: 1 }).waitFor();
      expect(await page.title()).toContain("Approved in advance");
    });

  it("[WEB-64] empty, it says where plans wait instead", async () => {
    const page = await open(exampleApi(), "/standing", slim);
    await page.getByText("Nothing is approved in advance").waitFor();
    await shot(page, "empty", slim);
  });

  for (const size of [wide, slim])
    it(`[WEB-65] at ${size.width} px one says its bounds in words, who made it and why, and the tasks it spoke for`, async () => {
      const page = await open(withStanding(), "/standing/s-chores", size);
      const one = page.getByRole("article");
      await one.waitFor();
      const text = (await one.textContent()) ?? "";
      for (const words of [
        "They are checked by tests",
        "Made by bob#def456",
        "Secretsnone",
        "Pathssrc/**",
        "2 of 3 uses left",
      ])
        expect(text).toContain(words);
      expect(await one.getByRole("link", { name: "task-2" }).getAttribute("href")).toBe("/tasks/task-2");
      await shot(page, "one", size);
      const revoked = await open(withStanding(), "/standing/s-docs", size);
      await revoked.getByText("It let too much pass").waitFor();
      expect(await button(revoked, /Revoke/).count()).toBe(0);
    });

  it("[WEB-66] revoking says what it does, asks for the reason, and Escape leaves it as it was", async () => {
    const api = withStanding();
    const page = await open(api, "/standing/s-chores", slim);
    await button(page, "Revoke…").click();
    await page.keyboard.press("Escape");
    await button(page, "Revoke…").click();
    await page.getByText("Work it approved that is not done stops").waitFor();
    await shot(page, "revoke", slim);
    await page.keyboard.press("Enter");
    await page.getByLabel("Reason").fill("   ");
    await page.keyboard.press("Enter");
    expect(api.asked).toEqual([]);
    await page.getByLabel("Reason").fill("too wide");
    await page.keyboard.press("Enter");
    await page.locator("article").getByText("Revoked", { exact: true }).waitFor();
    expect(api.asked.map(({ method, path, body }) => [method, path, body.reason])).toEqual([
      ["DELETE", "/api/standing-approvals/s-chores", "too wide"],
    ]);
    expect(await page.locator("article").textContent()).toContain("too wide");
  });

  for (const size of [wide, slim])
    it(`[WEB-67] at ${size.width} px making one shows what is wrong at its field; sent twice it is made once`, async () => {
      const api = withStanding();
      const page = await open(api, "/standing", size);
      await page.getByRole("link", { name: "Approve in advance…" }).click();
      const area = page.getByLabel("The standing approval, as JSON");
      const example = JSON.parse(await area.inputValue());
      expect(Object.keys(example)).toEqual(["name", "reason", "bounds", "until", "uses"]);
      const send = button(page, "Approve in advance");
      await area.fill("{");
      await send.click();
      await page.getByText("This is not JSON").waitFor();
      expect(api.asked).toEqual([]);
      await area.fill(JSON.stringify({ ...example, uses: 0 }));
      const errors = [{ path: "uses", message: "is at least 1" }];
      api.refuseNext = { status: 400, code: "bad_request", detail: "The body is not right.", extra: { errors } };
      await send.click();
      await page.getByRole("listitem").filter({ hasText: "is at least 1" }).waitFor();
      await shot(page, "form", size);
      await area.fill(JSON.stringify({ ...example, name: "Mine" }));
      api.asked.length = 0;
      await send.dblclick();
      await page.getByRole("heading", { name: "Mine", level: 1 }).waitFor();
      expect(api.asked.map(({ method, body }) => [method, body.name])).toEqual([["POST", "Mine"]]);
      expect(api.asked[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    });

  it("[WEB-68] who may not approve is offered neither making nor revoking", async () => {
    const api = withStanding();
    api.role = "submitter";
    const page = await open(api, "/standing/s-chores");
    await page.getByText("Revoking needs an approver.").waitFor();
    expect(await page.getByRole("link", { name: "Approve in advance…" }).count()).toBe(0);
    const form = await open(api, "/standing/new");
    await form.getByText("Approving in advance needs an approver.").waitFor();
    expect(await form.getByRole("textbox").count()).toBe(0);
  });

  for (const size of [wide, slim])
    it(`[WEB-69] at ${size.width} px a card that none spoke for says which came nearest and why`, async () => {
      const api = withStanding();
      const standing_notes = [
        { id: "s-chores", name: "Small\u202e chores", why: "fix: the path package.json is outside" },
      ];
      api.approvals = api.approvals.map((card) => (card.kind === "plan" ? { ...card, standing_notes } : card));
      const page = await open(api, "/review/card-1", size);
      const notes = page.getByRole("region", { name: "Not approved in advance" });
      await notes.waitFor();
      expect(await notes.textContent()).toContain("Small⟦U+202E⟧ chores: fix: the path package.json is outside");
      expect(await notes.getByRole("link").getAttribute("href")).toBe("/standing/s-chores");
      await shot(page, "notes", size);
    });

  it("[WEB-69] a card that a standing approval decided says so and leads to it; a name that only looks like one does not", async () => {
    const api = withStanding();
    for (const by of ["standing:schores", "standing:s#abc123"]) api.decide("card-1", "approve", by);
    const page = await open(api, "/review/card-1");
    const decided = page.getByRole("region", { name: "Decision" });
    await decided.getByText("standing:s#abc123").waitFor();
    const link = decided.getByRole("link", { name: "a standing approval" });
    expect(await link.getAttribute("href")).toBe("/standing/schores");
  });
});
