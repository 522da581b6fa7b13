/** The page alone, in a real browser, over a tame API. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, type Size, wide } from "./browser.ts";
import { cardOf, eventOf, exampleApi, plan, taskOf } from "./examples.ts";
import { type FakeApi, hashOfPlan, sealed } from "./fake-api.ts";

if (!chromiumIsHere) console.warn("/usr/bin/chromium is not here: the page's tests are skipped");

describe.skipIf(!chromiumIsHere)("the page", () => {
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
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

  describe("coming in", () => {
    it("[WEB-1] a ticket is exchanged once and is gone from the address", async () => {
      const api = exampleApi();
      api.signedIn = false;
      const { page } = await open(api, "/#ticket=cst_good");
      await page.getByRole("heading", { name: "Show the last page" }).waitFor();
      expect(page.url()).not.toContain("ticket");
      expect(api.ticket).toBe("");
    });
    it("[WEB-1] a used link says so and how to get another", async () => {
      const api = exampleApi();
      api.signedIn = false;
      const { page } = await open(api, "/#ticket=cst_used");
      await page.getByRole("alert").waitFor();
      expect(await page.getByRole("alert").textContent()).toContain("works once");
      expect(await page.locator("main").textContent()).toContain("npm start");
      expect(page.url()).not.toContain("ticket");
    });
    it("[WEB-2] a pasted token opens the page, is stored nowhere, and is forgotten by a reload", async () => {
      const api = exampleApi();
      api.signedIn = false;
      const { page } = await open(api, "/review");
      await page.getByLabel("API token").fill("cs_wrong");
      await page.keyboard.press("Enter");
      expect(await page.getByRole("alert").textContent()).toContain("does not know this token");
      await page.getByLabel("API token").fill("cs_good");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Show the last page" }).waitFor();
      const stored = await page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
      );
      expect(stored).toBe('[{},{},""]');
      await page.reload();
      await page.getByLabel("API token").waitFor();
    });
    it("[WEB-17] a viewer is offered no decision and no new task", async () => {
      const api = exampleApi();
      api.role = "viewer";
      const { page } = await open(api, "/review/card-1");
      await page.getByText("Deciding it needs an approver").waitFor();
      expect(await button(page, /Approve|Deny/).count()).toBe(0);
      await page.keyboard.press("a");
      expect(await page.locator("form").count()).toBe(0);
      await page.getByRole("link", { name: "Tasks" }).click();
      await page.getByRole("heading", { name: "Tasks" }).waitFor();
      expect(await page.getByRole("link", { name: "New task" }).count()).toBe(0);
    });
  });

  describe("reading a card", () => {
    it("[WEB-3] characters that hide or reorder text appear by name, marked", async () => {
      const api = exampleApi();
      const card = cardOf("card-1", plan, { title: "Harmless\u202egnihton\u200b", facts: ["zero\u200dwidth"] });
      const item = card.card.items[0];
      if (item === undefined) throw new Error("the example has items");
      const sly = {
        ...item,
        steps: ["rm -rf build\u2028 # ⟦U+202E⟧ as text\n"],
        grants: { ...item.grants, paths: ["src/\u00a0**"] },
      };
      api.approvals = [sealed({ ...card, card: { ...card.card, items: [sly] } })];
      const { page } = await open(api, "/review/card-1");
      await page.getByText("Your browser checked").waitFor();
      expect(await page.locator("h1 .escaped").allTextContents()).toEqual(["⟦U+202E⟧", "⟦U+200B⟧"]);
      expect(await page.locator(".before .escaped").allTextContents()).toEqual(["⟦U+200D⟧"]);
      expect(await page.locator(".words .escaped").allTextContents()).toEqual(["⟦U+00A0⟧"]);
      // What only looks like a written-out character is the text's own, and is not marked.
      expect(await page.locator(".steps .escaped").allTextContents()).toEqual(["⟦U+2028⟧"]);
    });
    it("[WEB-4] a plan brings no HTML, link or image, and hides nothing", async () => {
      const hostile = `${plan}\n<img src=x onerror="document.title='owned'"> <script>document.title='owned'</script> [here](https://evil.example) <!-- unseen -->\n\n~~~\nnever closed <b>`;
      const api = exampleApi();
      const task = taskOf("task-1");
      if (task.plan === null) throw new Error("the example has a plan");
      api.tasks = [{ ...task, plan: { ...task.plan, markdown: hostile, plan_hash: hashOfPlan(hostile) } }];
      api.approvals = [cardOf("card-1", hostile)];
      const { page, complaints } = await open(api, "/review/card-1");
      const document = page.locator(".document");
      await document.waitFor();
      expect(await document.locator("img, script, a, b, iframe").count()).toBe(0);
      const text = (await document.textContent()) ?? "";
      for (const part of ["<img src=x", "[here](https://evil.example)", "<!-- unseen -->", "never closed <b>"])
        expect(text).toContain(part);
      expect(await document.locator("h3").first().textContent()).toBe("Why");
      expect(await document.locator("strong").first().textContent()).toBe("never");
      expect(await document.locator("ol li").allTextContents()).toEqual(["first here", "then there"]);
      await button(page, "Show exact text").click();
      expect((await page.locator(".plan > .source").textContent())?.trimEnd()).toBe(hostile);
      expect(await page.title()).not.toContain("owned");
      expect(complaints).toEqual([]);
    });
    it("[WEB-5] what is granted stands there verbatim, and what is not is said", async () => {
      const { page } = await open(exampleApi(), "/review/card-1");
      const grants = page.getByRole("region", { name: "What approving grants" });
      const first = (await grants.locator(".item").first().textContent()) ?? "";
      for (const part of [
        "src/**",
        "npx vitest *",
        "Networkclosed",
        "Secretsnone",
        ".npmrc",
        "sed -i 's/Math.floor/Math.ceil/' src/pager.js",
      ])
        expect(first).toContain(part);
      expect(await grants.locator(".loud").allTextContents()).toEqual(["Networkdocs.example.org"]);
    });
    it("[MNB-6] what an item's model is told stands there word for word, with what it may spend", async () => {
      const api = exampleApi();
      const [item] = cardOf("card-1").card.items;
      if (item === undefined) throw new Error("the example has an item");
      const told = {
        ...{ runner: "loop", steps: [], protect: ["**/package.json", "!package.json"], skills: ["paging"] },
        ...{ section: "Mend it.\u202e\nThen rest.", on_stuck: "replan" },
        budget: { tokens: 77_000, usd: null, minutes: null },
      };
      api.approvals = [cardOf("card-1", undefined, { items: [{ ...item, ...told }] })];
      const { page } = await open(api, "/review/card-1");
      const first = page.getByRole("region", { name: "What approving grants" }).locator(".item").first();
      const text = (await first.textContent()) ?? "";
      for (const part of ["Mend it.", "U+202E", "Then rest.", "77,000 tokens", "paging", "replan", "word for word"])
        expect(text).toContain(part);
      expect(text).toContain("Of those it may changepackage.json");
    });
    it("[WEB-88] the goal of the card, files that are given and times of checks stand there; no dollars are no limit", async () => {
      const api = exampleApi();
      const [item] = cardOf("card-1").card.items;
      if (item === undefined) throw new Error("the example has an item");
      const budget = { tokens: 77_000, usd: 0, minutes: null };
      const checks = { verify: [["npm", "test"]], verify_timeouts_s: [90] };
      const thinks = { ...item, ...checks, budget, runner: "loop", steps: [], section: "x", touches: ["src/given.ts"] };
      const goal = "A goal of the card's own";
      api.approvals = [cardOf("card-1", undefined, { goal, budget, items: [thinks] })];
      const { page } = await open(api, "/review/card-1");
      const first = page.getByRole("region", { name: "What approving grants" }).locator(".item").first();
      const text = (await first.textContent()) ?? "";
      for (const part of ["src/given.ts", "npm test (at most 90 s)", "no limit in dollars"])
        expect(text).toContain(part);
      expect(await page.locator(".goal").textContent()).toBe(goal);
      expect(await page.locator(".facts").first().textContent()).toContain("Budget77,000 tokens, no limit in dollars");
    });
    it("[WEB-10] a tool call shows its tool, each argument and the facts, and marks text from outside", async () => {
      const { page } = await open(exampleApi(), "/review/card-2");
      const call = page.getByRole("region", { name: "The call" });
      expect(await call.locator("h2").textContent()).toContain("shell_execute");
      expect(await call.locator("pre").allTextContents()).toEqual(["npm publish --dry-run", "60"]);
      expect(await page.locator(".before li").count()).toBe(2);
      expect(await page.locator(".untrusted").textContent()).toContain("fetched from the web");
      expect(await button(page, "Request changes…").count()).toBe(0);
    });
  });

  describe("staying true", () => {
    it("[WEB-11] an event brings the open card up to date", async () => {
      const api = exampleApi();
      const { page } = await open(api, "/review/card-1");
      await page.locator("button.sign:enabled").waitFor();
      api.decide("card-1", "approve", "grace");
      api.tell(eventOf(7, "approval_resolved"));
      await page.getByText("Approved by grace").waitFor();
      await expect.poll(() => page.title()).toBe("(1) Review · Countersign");
    });
    it("[WEB-11] a lost link is said, comes back by itself, and misses no event", async () => {
      const api = exampleApi();
      const { page } = await open(api, "/activity");
      await page.getByText("A plan of 2 items is ready").waitFor();
      await api.dropFeeds();
      await page.getByText("The link to the service is lost").waitFor();
      api.events.push(eventOf(7, "task_complete", { detail: "Finished while you were away", surfaces: ["stream"] }));
      await page.getByText("Finished while you were away").waitFor();
      expect(await page.getByText("The link to the service is lost").count()).toBe(0);
      expect(await page.getByText("A plan of 2 items is ready").count()).toBe(1);
      await page.getByText("Stream", { exact: true }).click();
      expect(await page.locator(".event").count()).toBe(2);
    });
    it("[WEB-13] a failure is told in plain words, and trying again works", async () => {
      const api = exampleApi();
      const { page } = await open(api, "/tasks/task-9");
      const alert = page.getByRole("alert");
      await alert.waitFor();
      expect(await alert.textContent()).toContain("There is nothing here.");
      // The page asks again by itself when its link comes up; this is about asking by hand.
      await page.waitForLoadState("networkidle");
      api.tasks = [taskOf("task-9")];
      await button(page, "Try again").click();
      await page.getByRole("heading", { name: "Show the last page" }).waitFor();
    });
    it("[WEB-13] a session that ended says so", async () => {
      const api = exampleApi();
      const { page } = await open(api, "/tasks");
      await page.getByRole("heading", { name: "Tasks" }).waitFor();
      api.signedIn = false;
      api.tell(eventOf(7, "approval_requested"));
      await page.getByText("Your session has ended").waitFor();
    });
  });
});
