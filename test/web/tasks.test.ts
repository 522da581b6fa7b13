/** Tasks and the page's general manners, in a real browser over a tame API. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, chromiumIsHere, discardPage, openBrowser, openPage, slim, wide } from "./browser.ts";
import { patch } from "./example-patch.ts";
import { doneTask, exampleApi, taskOf } from "./examples.ts";

describe.skipIf(!chromiumIsHere)("tasks on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    discardPage();
  });

  it("[WEB-12] a refused plan's problems stand at their lines and lead there", async () => {
    const api = exampleApi();
    const { page } = await openPage(browser, api, "/tasks/new", wide);
    await page.getByLabel("Title").fill("Try");
    await page.getByLabel("Repository").fill("https://git.example.org/acme/pager.git");
    await page.getByRole("button", { name: "Begin with an example" }).click();
    const problems = [
      { line: 7, column: 5, message: "unknown key `runer`" },
      { line: 9, column: 3, message: "no such item\u202e" },
    ];
    api.refuseNext = { status: 422, code: "invalid_plan", detail: "The plan has 2 problems.", extra: { problems } };
    await page.getByRole("button", { name: "Ask for it" }).click();
    await page.getByText("2 problems in the plan").waitFor();
    expect(await page.locator(".bad-line").allTextContents()).toEqual(["7", "9"]);
    expect(await page.locator(".problems .escaped").textContent()).toBe("⟦U+202E⟧");
    await page.getByRole("button", { name: "line 7, column 5" }).click();
    const before = await page.getByLabel("Plan").evaluate((area) => {
      const { value, selectionStart } = area as unknown as { value: string; selectionStart: number }; // a textarea, by its label
      return value.slice(0, selectionStart);
    });
    expect([before.split("\n").length, before.split("\n").at(-1)?.length]).toEqual([7, 4]);
  });
  it("[WEB-7] [TASK-6] asking twice at once asks once, with the title and the words", async () => {
    const api = exampleApi();
    let answered = (): void => {};
    api.hold = new Promise((resolve) => {
      answered = resolve;
    });
    const { page } = await openPage(browser, api, "/tasks/new", slim);
    await page.getByLabel("Title").fill("Try");
    await page.getByLabel("What should change").fill("It shows page 0 last.");
    await page.getByLabel("Repository").fill("file:///srv/pager");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    answered();
    await page.getByRole("heading", { name: "Show the last page" }).waitFor();
    expect(api.asked).toHaveLength(1);
    expect(api.asked[0]?.body).toEqual({
      title: "Try",
      description: "It shows page 0 last.",
      labels: [],
      repo: { url: "file:///srv/pager", ref: "HEAD" },
    });
  });
  it("[WEB-14] output comes live into a terminal that is loaded only then, and stays as text", async () => {
    const api = exampleApi();
    const finished = doneTask("task-2");
    const [, attempt] = finished.attempts;
    if (attempt === undefined) throw new Error("the example has two attempts");
    const running = { ...attempt, state: "running" as const, ended_at: null, patch: null, verifications: [] };
    api.tasks = [{ ...finished, status: "active", phase: "coding", attempts: [running] }];
    api.output = [
      "plain \u001b[31mred\u001b[0m\r\n",
      "10%\r50%\r100%\r\n",
      "\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007\r\n",
    ];
    const { page, complaints } = await openPage(browser, api, "/tasks", wide);
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(request.url()));
    await page.getByText("Show the last page").first().waitFor();
    expect(loaded.filter((url) => url.includes("terminal-screen"))).toEqual([]);
    await page.getByRole("link", { name: /Show the last page/ }).click();
    await page.locator(".xterm-rows").getByText("plain red").waitFor();
    expect(loaded.some((url) => url.includes("terminal-screen"))).toBe(true);
    await page.getByRole("button", { name: "Plain text" }).click();
    expect(await page.locator(".output-text").textContent()).toBe("plain red\n100%\nlink\n");
    expect(complaints).toEqual([]);
  });
  it("[WEB-15] a diff shows every changed line at its number, and a line cannot pose as a header", async () => {
    const api = exampleApi();
    api.patch = patch;
    const { page } = await openPage(browser, api, "/tasks/task-2", wide);
    await page.locator(".file").first().waitFor();
    expect(await page.locator(".file .path").allTextContents()).toEqual(["src/pager.js", "CHANGELOG.md"]);
    expect(await page.locator(".file .counts").allTextContents()).toEqual(["+2 −1", "+2 −0"]);
    const added = page.locator(".file").nth(1).locator("tr.add");
    expect(await added.last().locator("td").last().textContent()).toBe("--- Show the last page.");
    expect(await page.locator("tr.remove").first().locator(".number").allTextContents()).toEqual(["2", ""]);
  });
  it("[WEB-15] odd patches lose nothing: quoted names, modes, binary files, lines without an end", async () => {
    const api = exampleApi();
    api.patch = [
      'diff --git "a/na\\303\\257ve\\t.txt" "b/na\\303\\257ve\\t.txt"',
      "old mode 100644",
      "new mode 100755",
      "diff --git a/logo.png b/logo.png",
      "new file mode 100644",
      `index ${"0".repeat(40)}..${"1".repeat(40)}`,
      "GIT binary patch",
      "literal 5",
      "Mc${NkU|0",
      "",
      "diff --git a/end.txt b/end.txt",
      `index ${"1".repeat(40)}..${"2".repeat(40)} 100644`,
      "--- a/end.txt",
      "+++ b/end.txt",
      "@@ -1 +1 @@",
      "-a",
      "\\ No newline at end of file",
      "+diff --git a/x b/x",
      "\\ No newline at end of file",
      "",
    ].join("\n");
    const { page } = await openPage(browser, api, "/tasks/task-2", slim);
    await page.locator(".file").first().waitFor();
    expect(await page.locator(".file .path").allTextContents()).toEqual(["naïve⟦U+0009⟧.txt", "logo.png", "end.txt"]);
    expect(await page.locator(".file").first().locator("tr").allTextContents()).toEqual([
      "old mode 100644",
      "new mode 100755",
    ]);
    expect(await page.locator(".file").nth(1).textContent()).toContain("A binary file");
    expect(await page.locator("tr.add td:last-child").last().textContent()).toBe("diff --git a/x b/x");
    expect(await page.getByText("No newline at end of file").count()).toBe(2);
  });
  it("[WEB-18] cancelling asks for a reason first and says what it does", async () => {
    const api = exampleApi();
    const { page } = await openPage(browser, api, "/tasks/task-1", wide);
    await page.getByRole("button", { name: "Cancel this task…" }).click();
    await page.getByText("cannot be undone").waitFor();
    await page.keyboard.press("Enter");
    expect(api.asked).toEqual([]);
    await page.keyboard.type("Not needed any more");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => api.asked.map(({ path, body }) => [path, body.reason]))
      .toEqual([["/api/tasks/task-1/cancel", "Not needed any more"]]);
  });
  it("[WEB-13] an empty scope says what to do, everywhere", async () => {
    const api = exampleApi();
    Object.assign(api, { approvals: [], tasks: [], agents: [], events: [] });
    const { page } = await openPage(browser, api, "/review", slim);
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await page.getByRole("link", { name: "Tasks", exact: true }).click();
    await page.getByRole("heading", { name: "No task yet" }).waitFor();
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByText("No agent yet").waitFor();
    await page.goto("http://localhost:4321/nowhere/at/all");
    await page.getByRole("heading", { name: "There is no page here" }).waitFor();
  });

  const paths = [
    "/review",
    "/review/card-1",
    "/review/card-2",
    "/tasks",
    "/tasks/new",
    "/tasks/task-1",
    "/tasks/task-2",
    "/activity",
    "/queues",
    "/queues/executor_queue",
    "/queues/proxy",
    "/memory",
  ];
  for (const size of [wide, slim])
    it(`[WEB-16] at ${size.width} px every page fits, is named, and keeps to itself`, async () => {
      for (const path of paths) {
        const api = exampleApi();
        api.tasks = [taskOf("task-1", { title: "x".repeat(190) }), doneTask("task-2")];
        const { page, complaints } = await openPage(browser, api, path, size);
        const elsewhere: string[] = [];
        page.on(
          "request",
          (request) => request.url().startsWith("http://localhost:4321/") || elsewhere.push(request.url()),
        );
        await page.waitForLoadState("networkidle");
        // The last answer may still be on its way to the screen.
        await page.locator("h1").first().waitFor();
        const seen = await page.evaluate(manners);
        expect({ path, ...JSON.parse(String(seen)) }).toEqual({ path, overflow: 0, headings: 1, nameless: [] });
        expect(complaints).toEqual([]);
        expect(elsewhere).toEqual([]);
        await page.context().close();
      }
    });
});

/** Run inside the page; a text because this project does not know the browser's types. */
const manners = `JSON.stringify({
  overflow: document.documentElement.scrollWidth - innerWidth,
  headings: document.querySelectorAll("h1").length,
  nameless: [...document.querySelectorAll("button, a, input, textarea, summary")]
    .filter((e) => !(e.textContent.trim() || e.ariaLabel || (e.labels && e.labels.length > 0) || e.closest("label")))
    .map((e) => e.outerHTML),
})`;
