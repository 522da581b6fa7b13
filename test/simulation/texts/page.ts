/** What GitHub's own parser of Markdown, cmark-gfm, shows of a text, and whether a model reads no other words. */
import { spawn, spawnSync } from "node:child_process";
import { defaultTreeAdapter, html, parseFragment } from "parse5";
import { cleanText } from "../../../src/domain/github/text.ts";
import { unread } from "../../../src/domain/github/text-judge.ts";
import { unescaped } from "../../../src/domain/github/text-page.ts";
import { shownOf } from "../../../src/domain/github/text-shown.ts";
import { withoutUnseen } from "../../../src/domain/github/text-unseen.ts";
import { inOrder, untagged } from "../../../src/domain/github/text-words.ts";

const extensions = ["table", "strikethrough", "autolink", "tagfilter", "footnotes"];
export const githubIsHere = spawnSync("cmark-gfm", ["--version"]).status === 0;

export function pageOf(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = ["--unsafe", "--hardbreaks", ...extensions.flatMap((name) => ["-e", name])];
    const child = spawn("cmark-gfm", args, { stdio: ["pipe", "pipe", "ignore"] });
    let page = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (part: string) => {
      page += part;
    });
    child.on("error", reject);
    child.on("close", () => resolve(page));
    child.stdin.end(text);
  });
}

/** Only the words that a random text is made of: marks and names of tags are not compared. */
const words = /zq\d+q|\b(?:the|tests|all|read|delete|now|hidden)\b/g;
/** Tags that end a word. */
const apart = /<\/?(?:blockquote|br|details|div|h[1-6r]|img|li|[op]l?|pre|summary|t[dhr]|table|tbody|ul)[ \t\n]*\/?>/gi;

export interface Judged {
  readonly read: boolean;
  /** Words that a model reads, and those of the page, where they are not all there in their order. */
  readonly miss: { readonly model: string; readonly page: string } | null;
}
export async function judge(text: string, cleaned = cleanText(text).clean): Promise<Judged> {
  if (cleaned === unread) return { read: false, miss: null };
  const context = defaultTreeAdapter.createElement("div", html.NS.HTML, []);
  const page = withoutUnseen(shownOf(parseFragment(context, await pageOf(text), { scriptingEnabled: false }))).clean;
  const addressed = cleaned.replace(/\]\([^)\s]*\)/g, "]");
  const model = unescaped(untagged(addressed.replace(apart, " "), () => ""));
  const there = inOrder(model.match(words) ?? [], page.match(words) ?? []);
  return { read: true, miss: there ? null : { model: cleaned, page } };
}
