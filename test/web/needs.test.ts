/** Several people and one card, on the page: who is still needed, who may not, and until when. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import { madeBy, openCard } from "../fakes/views.ts";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, slim, wide } from "./browser.ts";
import { cardOf, exampleApi } from "./examples.ts";
import type { FakeApi } from "./fake-api.ts";

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe.skipIf(!chromiumIsHere)("what a card needs, on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  const needs = (change: Partial<ApprovalView["needs"]>) => ({ ...openCard.needs, ...change });
  function withCard(change: Partial<ApprovalView>): FakeApi {
    const api = exampleApi();
    api.approvals = api.approvals.map((card) => (card.id === "card-1" ? { ...card, ...change } : card));
    return api;
  }
  const yes = (by: string) => madeBy(by, "approve", { content_hash: cardOf("card-1").content_hash, at: inHours(-1) });
  async function open(
    api: FakeApi,
    size: typeof wide | typeof slim = wide,
  ): Promise<{ page: Page; complaints: string[] }> {
    const opened = await openPage(browser, api, "/review/card-1", size);
    await opened.page.getByRole("heading", { name: "Show the last page", level: 1 }).waitFor();
    await opened.page.getByText("Your browser checked").waitFor();
    return opened;
  }
  const list = (page: Page) => page.getByRole("list", { name: "What this card needs" });

  it("[WEB-70] says until when it waits, how many approvals it needs and by whom it has them, at both sizes", async () => {
    const change = {
      ...{
        expires_at: inHours(3),
        needs: needs({ approvers: 2, not_by: "sue\u202e#tok001", proof: "session" as const }),
      },
      decisions: [{ ...yes("bob#tok002"), proof: "session" as const }],
    };
    for (const size of [wide, slim]) {
      const { page, complaints } = await open(withCard(change), size);
      const text = await list(page).innerText();
      expect(text).toMatch(/Expires in 2 h 59 min|Expires in 3 h 0 min/);
      expect(text).toMatch(/1 of 2 approvals\s*: by bob#tok002 1 h ago/);
      expect(text).toContain("Not by sue⟦U+202E⟧#tok001, who asked for the task.");
      expect(text).toContain("signed in on this page");
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      if (process.env.SCREENS !== undefined) {
        mkdirSync(process.env.SCREENS, { recursive: true });
        await page.screenshot({ path: join(process.env.SCREENS, `needs-${size.width}.png`) });
      }
      expect(complaints).toEqual([]);
    }
    const { page } = await open(exampleApi());
    expect(await list(page).count()).toBe(0);
  });

  it("[WHO-25] says whose approval counts no more since their token was revoked, and does not count it", async () => {
    const revoked = ["bob\u202e#tok002"];
    const change = { needs: needs({ approvers: 2, revoked }), decisions: [yes("bob\u202e#tok002")] };
    const { page, complaints } = await open(withCard(change), slim);
    const text = await list(page).innerText();
    expect(text).toContain("0 of 2 approvals");
    expect(text).toContain("The approval of bob⟦U+202E⟧#tok002 no longer counts: their token was revoked.");
    expect(complaints).toEqual([]);
  });

  it("[WEB-71] who may not approve sees why and can deny by keyboard; the first of two sees the card stay", async () => {
    const may: [Partial<ApprovalView>, RegExp][] = [
      [{ needs: needs({ not_by: "ada" }) }, /the policy lets nobody approve their own/],
      [
        { needs: needs({ approvers: 2 }), decisions: [yes("ada#tok009")] },
        /You approved this at .* Another person must/,
      ],
    ];
    for (const [change, why] of may) {
      const api = withCard(change);
      const { page } = await open(api);
      await page.getByText(why).waitFor();
      expect(await page.locator("button.sign").first().isDisabled()).toBe(true);
      await page.keyboard.press("a");
      expect(await page.locator("form.answer").count()).toBe(0);
      await page.keyboard.press("d");
      await page.getByLabel("Reason").fill("not mine to give");
      await page.getByRole("button", { name: "Deny" }).click();
      await page.getByRole("heading", { name: "Denied" }).waitFor();
      expect(api.asked[0]?.body).toMatchObject({ reason: "not mine to give" });
    }
    const api = withCard({ needs: needs({ approvers: 2 }) });
    const { page } = await open(api);
    await page.getByText("two different people must approve").waitFor();
    await page.keyboard.press("a");
    await page.locator('form .sign[aria-disabled="false"]').waitFor();
    await page.keyboard.press("Enter");
    await page.getByText(/You approved this at/).waitFor();
    expect(await list(page).innerText()).toMatch(/1 of 2 approvals\s*: by ada just now/);
    expect(await page.locator("form.answer").count()).toBe(0);
    expect(api.asked).toHaveLength(1);
  });

  it("[WEB-72] a card that ended undecided says how; a plan revised as often as it may be takes a yes or a no", async () => {
    const ends = [
      [
        "expired",
        { by: "runtime", what: "expire", at: inHours(-1), reason: "the approval expired" },
        "Expired without a decision",
      ],
      ["superseded", { by: "eve", what: "cancel", at: inHours(-1), reason: "the task is cancelled" }, "Taken back"],
    ] as const;
    for (const [status, winner, title] of ends) {
      const { page } = await open(withCard({ status, winner, resolved_at: winner.at }));
      await page.getByRole("heading", { name: title }).waitFor();
      expect(await page.getByRole("region", { name: "Decision", exact: true }).innerText()).toContain(
        `by ${winner.by}: ${winner.reason}`,
      );
    }
    const { page } = await open(withCard({ needs: needs({ revisions_left: 0 }) }));
    expect(await page.getByRole("button", { name: "Request changes…" }).count()).toBe(0);
    await page.keyboard.press("r");
    expect(await page.locator("form.answer").count()).toBe(0);
  });
});
