/**
 * Debian's Chromium with the built page in it. `openPage` serves the page and a tame API from memory under one
 * origin that browsers trust; `openBrowser` alone is for journeys over the whole service.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { type Browser, chromium, type Page, type Route } from "playwright-core";
import { build } from "vite";
import type { FakeApi } from "./fake-api.ts";

const executablePath = "/usr/bin/chromium";
const project = join(import.meta.dirname, "../..");
const origin = "http://localhost:4321";

export const chromiumIsHere = existsSync(executablePath);
export const wide = { width: 1280, height: 900 } as const;
export const slim = { width: 390, height: 844 } as const;
export type Size = typeof wide | typeof slim;

const quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
export function openBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", ...quiet, "--disable-component-update", "--disable-sync"];
  return chromium.launch({ executablePath, headless: true, args });
}

/** Where this process built the page: a folder of its own, so that runs side by side do not mix. */
let built = "";

/** Under vitest React builds as in development, so what it would warn of becomes a complaint of the page. */
export async function buildPage(): Promise<void> {
  built = mkdtempSync(join(tmpdir(), "countersign-page-"));
  await build({ root: join(project, "web"), logLevel: "error", build: { outDir: built, emptyOutDir: true } });
}

export function discardPage(): void {
  if (built !== "") rmSync(built, { recursive: true, force: true });
}

const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** The file's own headers, so that what they forbid is forbidden here too. */
function pageHeaders(): Record<string, string> {
  const lines = readFileSync(join(built, "_headers"), "utf8").split("\n");
  const ours = lines.slice(
    1,
    lines.findIndex((line) => line.startsWith("/assets")),
  );
  return Object.fromEntries(
    ours.map((line) => [line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim()]),
  );
}

export interface OpenPage {
  readonly page: Page;
  /** Errors of the page itself: script errors, and whatever its content policy refused. */
  readonly complaints: string[];
}

/** A fresh visitor: nothing of an earlier page is left. */
export async function openPage(browser: Browser, api: FakeApi, path: string, size: Size): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: size, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (said) => {
    if (said.type() === "error" && !said.text().startsWith("Failed to load resource")) complaints.push(said.text());
  });
  await page.route(`${origin}/**`, (route) => answer(route, api));
  await page.routeWebSocket(/\/api\/(events|attempts\/)/, (socket) => api.socket(socket));
  await page.goto(`${origin}${path}`);
  return { page, complaints };
}

async function answer(route: Route, api: FakeApi): Promise<void> {
  const request = route.request();
  const { pathname, searchParams } = new URL(request.url());
  if (/^\/(api|auth)\//.test(pathname)) return api.answer(route, pathname, searchParams);
  const file = join(built, pathname.startsWith("/assets/") ? pathname : "index.html");
  if (!existsSync(file)) return route.fulfill({ status: 404 });
  await route.fulfill({
    body: readFileSync(file),
    contentType: types[extname(file)] ?? "application/octet-stream",
    headers: pageHeaders(),
  });
}
