/** The page of queues, in a real browser over a tame API. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, type Size, slim, wide } from "./browser.ts";
import { eventOf, exampleApi } from "./examples.ts";
import type { FakeApi } from "./fake-api.ts";

describe.skipIf(!chromiumIsHere)("queues on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  const open = async (api: FakeApi, path: string, size: Size = wide): Promise<Page> =>
    (await openPage(browser, api, path, size)).page;
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
  const asked = (api: FakeApi) => api.asked.map(({ path, body }) => [path.replace("/api/queues/", ""), body.reason]);

  for (const size of [wide, slim])
    it(`[WEB-30] at ${size.width} px it lists each queue with its depth, age and standing, and leads to one by keyboard`, async () => {
      const page = await open(exampleApi(), "/review", size);
      await page.getByRole("link", { name: "Queues" }).click();
      await page.getByRole("heading", { name: "Queues" }).waitFor();
      const rows = await page.locator(".queue-row").allInnerTexts();
      expect(rows[1]).toMatch(/executor_queue[\s\S]*Open[\s\S]*3 waiting, 1 held · oldest 9 min ago/);
      expect(rows[2]).toContain("2 given up");
      expect(rows[3]).toContain("Paused");
      await page.keyboard.press("j");
      await page.getByRole("heading", { name: "runtime_queue" }).waitFor();
      await page.keyboard.press("j");
      await page.getByRole("heading", { name: "executor_queue" }).waitFor();
      expect(await page.title()).toContain("Queues");
    });
  it("[WEB-31] it shows who holds what until when, and why and by whom a queue stands still", async () => {
    const page = await open(exampleApi(), "/queues/executor_queue");
    const held = page.getByRole("region", { name: "Held now" });
    await held.getByText("crew-1").waitFor();
    const text = (await held.textContent()) ?? "";
    expect(text).toMatch(/crew-1execution request 77aa2c3d\w+since \d\d:\d\d:\d\d, until \d\d:\d\d:\d\d/);
    expect(text).toContain("12 heartbeats");
    const still = await open(exampleApi(), "/queues/planner");
    await still.getByText("A wrong model is configured").waitFor();
    expect(await still.locator(".queue header").textContent()).toMatch(/By grace 30 min ago/);
  });
  it("[WEB-32] it follows what happens: by event, and by the clock", async () => {
    const api = exampleApi();
    const page = await open(api, "/queues/executor_queue");
    await page.getByText("Held now").waitFor();
    const first = api.queues[1];
    if (first === undefined) throw new Error("the example has queues");
    api.queues[1] = { ...first, queued: 8 };
    api.tell(eventOf(7, "queue_changed", { task_id: null }));
    await page.getByText("8 waiting").waitFor({ timeout: 2_500 });
    api.queues[1] = { ...first, queued: 9 };
    await page.getByText("9 waiting").waitFor();
  });
  it("[WEB-33] pausing and draining say what they do and need a reason; resuming may have one; Escape changes nothing", async () => {
    const api = exampleApi();
    const page = await open(api, "/queues/executor_queue");
    await button(page, "Pause…").click();
    await page.getByText("Nothing more is handed out").waitFor();
    await page.keyboard.press("Enter");
    expect(api.asked).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator("button:focus", { hasText: "Pause…" }).waitFor();
    await button(page, "Drain…").click();
    await page.getByText("No new message comes in").waitFor();
    await page.keyboard.type("Moving house");
    expect(api.asked).toEqual([]);
    await button(page, "Yes, drain it").click();
    await page.locator(".queue .standing.draining").waitFor();
    await button(page, "Resume…").click();
    await page.keyboard.press("Enter");
    await page.locator(".queue .standing.open").waitFor();
    expect(asked(api)).toEqual([
      ["executor_queue/drain", "Moving house"],
      ["executor_queue/resume", ""],
    ]);
    expect(await button(page, "Resume…").count()).toBe(0);
  });
  it("[WEB-34] dead letters show why and where; characters that hide appear by name; a waiting card is one press away", async () => {
    const page = await open(exampleApi(), "/queues/proxy");
    const letters = page.getByRole("region", { name: "Given up" });
    await letters.locator(".letter").first().waitFor();
    expect(await letters.locator(".letter-what").allTextContents()).toEqual([
      "agent message from crew-1 to proxy",
      "agent message from proxy to zoe",
    ]);
    expect(await letters.locator(".escaped").allTextContents()).toEqual(["⟦U+202E⟧"]);
    expect(await letters.locator(".letter").nth(1).textContent()).toContain("Never arrived");
    await letters.getByRole("link", { name: "waits in Review" }).click();
    await page.getByRole("heading", { name: "Show the last page" }).waitFor();
  });
  it("[WEB-35] one letter or all are sent again; two presses send once; the answer is said", async () => {
    const api = exampleApi();
    let answered = (): void => {};
    api.hold = new Promise((resolve) => {
      answered = resolve;
    });
    const page = await open(api, "/queues/proxy", slim);
    await button(page, /Send again: ffee/).dblclick();
    answered();
    await page.getByText("1 sent again, 1 left.").waitFor();
    expect(asked(api)).toEqual([["proxy/dead-letters/ffee2c3d4e5f60718293a4b5c6d7e8f9/requeue", undefined]]);
    const all = exampleApi();
    const again = await open(all, "/queues/proxy");
    await button(again, "Send all again").click();
    await again.getByText("Nothing was given up.").waitFor();
    expect(asked(all)).toEqual([["proxy/dead-letters/requeue", undefined]]);
  });
  it("[WEB-35] what was decided first is told in plain words, and a dropped letter offers nothing", async () => {
    const api = exampleApi();
    const [first, second] = api.letters.proxy ?? [];
    if (first === undefined || second === undefined) throw new Error("the example has letters");
    api.letters.proxy = [{ ...first, card: { id: "card-1", status: "denied" } }, second];
    api.refuseNext = { status: 409, code: "not_in_this_state", detail: "grace dropped this letter in Review." };
    const page = await open(api, "/queues/proxy");
    await page.getByText("Somebody dropped it in Review").waitFor();
    expect(await button(page, /Send again/).count()).toBe(1);
    await button(page, /Send again: ffee/).click();
    expect(await page.getByRole("alert").textContent()).toContain("grace dropped this letter in Review.");
  });
  it("[WEB-36] who may only read is offered no change; an approver sends again but does not pause", async () => {
    const offered = async (role: string): Promise<string[]> => {
      const api = exampleApi();
      api.role = role;
      const page = await open(api, "/queues/proxy");
      await page.locator(".letter").first().waitFor();
      const words = await page.locator(".queue button").allTextContents();
      await page.context().close();
      return words;
    };
    expect(await offered("viewer")).toEqual([]);
    expect(await offered("approver")).toEqual(["Send all again", "Send again", "Send again"]);
    expect((await offered("admin")).slice(0, 2)).toEqual(["Pause…", "Drain…"]);
  });
  it("[WEB-37] an empty queue and one that is not there are said; what could not be shown comes by itself once it can", async () => {
    const api = exampleApi();
    const page = await open(api, "/queues/planner");
    await page.getByText("Nobody holds a message.").waitFor();
    await page.getByText("Nothing was given up.").waitFor();
    api.queues = [];
    const gone = await open(api, "/queues/nobody", slim);
    const alert = gone.getByRole("alert").first();
    await alert.waitFor();
    expect(await gone.locator("h1").textContent()).toBe("nobody");
    await gone.getByRole("button", { name: "Try again" }).waitFor();
    api.queues = exampleApi().queues.map((queue) => ({
      ...queue,
      name: queue.name === "proxy" ? "nobody" : queue.name,
    }));
    await gone.getByText("Held now").waitFor();
  });
});
