/**
 * A wish from GitHub as a task: its words with what nobody sees taken out and kept for the approver, what strangers
 * wrote fenced as data, and how far all of it is trusted, by its authors. [GHR-30] to [GHR-35]
 */
import { limits } from "../../limits.ts";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { asData } from "../context.ts";
import { joinTaint, type Taint } from "../message.ts";
import { visibleLine } from "../visible.ts";
import { githubSubject } from "./identity.ts";
import { type Happening, mayWrite, type Permission } from "./shapes.ts";
import { cleanText, cleanTitle } from "./text.ts";

export type Wish = Extract<Happening, { kind: "wish" }>;
type People = Readonly<Record<string, Permission>>;

/** A login can be a name that every object has. */
export function permissionOf(people: People, login: string): Permission {
  return Object.hasOwn(people, login) ? (people[login] ?? "none") : "none";
}
/** A bot comes this far only when the repository's triggers list it; nobody pulled the trigger of a failed check. */
export function mayAsk({ by, trigger }: Wish, people: People): boolean {
  if (by === null) return trigger === "failed_check";
  return by.is_bot || mayWrite(permissionOf(people, by.login));
}

/** The same asked again on the same thread: without words of its own, a trigger asks for the thread itself. */
export function askOf({ trigger, texts }: Wish): string {
  if (trigger === "failed_check") return "check";
  const said = trigger === "comment" || trigger === "review_comment" ? texts.at(-1) : undefined;
  if (said === undefined) return "thread";
  const { text, place } = said;
  return `said:${sha256Hex(canonicalJson(place === undefined ? text : { text, place }))}`;
}

export interface WishedTask {
  readonly title: string;
  readonly description: string;
  readonly labels: string[];
  /** The labels were set by somebody who may write: to a standing approval they count as an approver's. */
  readonly vouched: boolean;
  readonly taint: Taint;
  readonly sources: readonly { readonly taint: Taint; readonly source: string }[];
  /** What no reader of the page sees, escaped. */
  readonly hidden: string[];
}

export function taskOf(wish: Wish, people: People): WishedTask {
  const where = `${wish.thread.kind === "issue" ? "issue" : "pull request"} #${wish.thread.number}`;
  const trust = (login: string): Taint => (mayWrite(permissionOf(people, login)) ? "member" : "outsider");
  const [own] = wish.texts;
  const title = cleanTitle(wish.thread.title);
  const sources = [
    { taint: own === undefined ? ("outsider" as const) : trust(own.by.login), source: `title of ${where}` },
  ];
  const hidden = [...title.hidden];
  const parts: string[] = [];
  // What was asked last is kept whole first; what stands above it is cut for it.
  let room: number = limits.github_task_chars;
  for (const [at, said] of [...wish.texts.entries()].reverse()) {
    const { clean, hidden: unseen } = cleanText(said.text);
    hidden.unshift(...unseen);
    const taint = trust(said.by.login);
    const what = wish.trigger === "failed_check" ? "failed check" : at === 0 ? "text" : "comment";
    const source = `${what} of ${where} by ${githubSubject(said.by.login)}`;
    sources.push({ taint, source });
    // Named by whoever made the pull request: beside the words of who speaks of it, and never among them.
    const named = said.place === undefined ? null : placeText(said.place, trust(own?.by.login ?? ""), where);
    if (named !== null) {
      hidden.unshift(...named.hidden);
      sources.push(named.from);
    }
    const text = clean.trim();
    if (text === "") continue;
    const kept = text.slice(0, room).toWellFormed();
    room -= kept.length;
    const whole = kept.length === text.length && !said.cut ? kept : `${kept}\n[cut: the rest stands on GitHub]`;
    parts.unshift(taint === "member" ? whole : asData(whole, { taint, source }));
    if (named !== null) parts.unshift(asData(named.text, named.from));
  }
  const shown = visibleLine(title.clean.replaceAll(/\s+/gu, " ").trim())
    .slice(0, limits.github_title_chars)
    .toWellFormed();
  return {
    title: shown === "" ? where : shown,
    description: parts.join("\n\n"),
    ...labelsOf(wish, people),
    taint: joinTaint(...sources.map(({ taint }) => taint)),
    sources,
    hidden: shownHidden(hidden),
  };
}

/** The line that a review comment stands at: data, on one line, with nothing in it that does anything. */
function placeText({ path, line }: NonNullable<Wish["texts"][number]["place"]>, taint: Taint, where: string) {
  const { clean, hidden } = cleanTitle(path);
  const whole = visibleLine(clean);
  const most = limits.github_path_chars;
  const shown = whole.length > most ? `${whole.slice(0, most).toWellFormed()} [cut]` : whole;
  const text = `${shown}${line === null ? "" : `, line ${line}`}`;
  return { text, hidden, from: { taint, source: `file of ${where} that a comment is about` } };
}

/** Labels may have been set by whoever wrote the issue's form: only the one that was just set is known to be its setter's. */
function labelsOf({ trigger, by, label, labels }: Wish, people: People): Pick<WishedTask, "labels" | "vouched"> {
  const writer = by !== null && !by.is_bot && mayWrite(permissionOf(people, by.login));
  const own = trigger === "label" && typeof label === "string" && writer ? [label] : null;
  const plain = (own ?? labels).filter(
    (each) => each.length <= limits.github_label_chars && visibleLine(each) === each,
  );
  return { labels: plain.filter((each) => each !== "").slice(0, limits.github_task_labels), vouched: own !== null };
}

/** Each part is bounded already, and says by how much: another cut would take those words away. */
function shownHidden(hidden: readonly string[]): string[] {
  const most = limits.github_card_hidden;
  const kept = hidden.slice(0, most);
  const more = `and at least ${hidden.length - most} more hidden parts: read them on GitHub`;
  return hidden.length > most ? [...kept, more] : kept;
}
