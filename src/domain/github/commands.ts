/**
 * `/countersign ...` in a comment: what its author asks for, if anything. What decides stands alone, first in its
 * comment, and one that could be read two ways decides nothing; a wish may stand on a line of its own below other
 * words. [GHI-10] [GHI-11] [GHI-47]
 */
import { limits } from "../../limits.ts";
import { commandLines, couldCommand, isMeant, type Line } from "./command-lines.ts";
import { cleanText } from "./text.ts";
import { withoutUnseen } from "./text-unseen.ts";

export type Command =
  | { readonly what: "wish" }
  | { readonly what: "approve"; readonly hash: string | null }
  | { readonly what: "deny"; readonly hash: string | null; readonly reason: string | null }
  /** Of one task, where it is named. */
  | { readonly what: "cancel"; readonly task: string | null }
  | { readonly what: "status" }
  | { readonly what: "help" }
  /** It may be meant so, or as something else, or be somebody else's words. */
  | { readonly what: "unclear" };

const unclear: Command = { what: "unclear" };

/**
 * Null when the comment asks nothing of us. `slug`: our App's name, by which people may call it first. `called`: who says
 * it and no command means to give one; not so where any comment is heard as a wish.
 */
export function readCommand(comment: string, slug = "", called = true): Command | null {
  const seeable = withoutUnseen(comment).clean;
  const none = isMeant(seeable, called ? slug : "") ? unclear : null;
  // Most comments ask nothing of us, and anybody writes them: they are not parsed, nor is one that would take long.
  if (!couldCommand(seeable)) return none;
  if (comment.length > limits.github_command_chars) return unclear;
  const text = comment.replace(/\r\n?/g, "\n").replace(/\p{Zs}/gu, " ");
  const { clean, hidden } = cleanText(text);
  // As the page shows it, and as it is written: what is not in both is not surely what its author said.
  const shown = commandLines(clean, slug);
  const wrote = commandLines(text, slug);
  const all = [...shown, ...wrote];
  if (all.length === 0) return none;
  if (all.some(decides)) return decisionOf(text, { clean, hidden, shown, wrote });
  const free = shown.filter(isFree);
  const [seen] = free;
  if (seen === undefined || !wrote.some(isFree)) return unclear;
  if (/^help[ \t]*[.!?]?$/i.test(seen.rest)) return { what: "help" };
  return free.every(({ rest }) => isWish(rest)) ? { what: "wish" } : unclear;
}
/**
 * One word alone may be a yes or a no in other words. Nothing at all asks for the thread; where words are not parted by
 * spaces, so many letters are a sentence; `do:` makes a wish of anything.
 */
function isWish(rest: string): boolean {
  const told = /^do:(.*)$/isu.exec(rest)?.[1]?.trim();
  if (told !== undefined) return told !== "";
  const [word = "", ...more] = rest.trim().split(/\s+/u);
  if (word === "") return true;
  const words = [word, ...more].map(bare);
  // Of two scripts: what looks like a yes may be one.
  if (words.some((one) => latin.test(one) && lookalikes.test(one))) return false;
  if (more.length > 0)
    return !(words.some((one) => answering.test(one)) && words.every((one) => polite.test(one) || answering.test(one)));
  if ((word.match(unspaced)?.length ?? 0) >= limits.github_unspaced_wish) return true;
  return /[a-z]{3}|#\d/i.test(word) && !/[`<]/.test(word) && !answering.test(words[0] ?? "");
}
/** As it sounds: without what is around it, and of usual letters. */
function bare(word: string): string {
  return word.normalize("NFKC").replace(/^(?:&#?\w+;|[\p{P}\p{S}])+|<[^<>]*>/gu, "");
}
const latin = /\p{sc=Latin}/u;
const lookalikes = /[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}]/u;
/** What may follow such a word and adds nothing to it. */
const polite =
  /^(?:you|all|it|i|the|a|my|your|task|plan|lot|both|and|by|not|do|this|that|them|to|me|ahead|now|then|for|good|great|[0-9a-f]{7,64}|\p{P}+|\p{So}+|)[\p{P}\p{S}]*$/iu;
/** Beginnings of words that answer a question, however they go on or are misspelled. */
const answering =
  /^(?:(?:dis|un|re)?a+p+(?:r|orv)|ac+ept|agree|allow|confirm|consent|den[iy]|declin|disagree|disallow|refus|reject|can+[ce]|stop|abort|halt|end|quit|kill|never|close|don'?t|stat|help|yes|yep|yea|yup|nope|nah|okay|sure|lgtm|good|great|nice|fine|perfect|merge|ship|sign(?!up|in)|counter|done|wait|hold|pause|proceed|continue|resume|start|thank|thx|ack|nack|veto|pass|fail|please|pls|looks|sounds|nein|genehmig|ab(?:ge)?lehn|zustimm|rechaz|rejet|(?:go|ok|no|non|k|y|n|ja|oui|s[ií]|da|nyet)(?![a-z]))/i;
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu;
function decides({ rest, odd }: Line): boolean {
  return !odd && /^(?:approve|deny|cancel|status)(?![\p{L}\p{N}_-])/iu.test(rest);
}
function isFree({ held, odd }: Line): boolean {
  return !held && !odd;
}

const denial = /^\/countersign[ \t]+deny(?![\p{L}\p{N}_-])[.!:,]*(.*)$/isu;
const named = /^\s*(`?)([0-9a-f]{12,64})\1(?![\p{L}\p{N}_`-])[.:,;]?(.*)$/isu;
const approval = /^\/countersign[ \t]+approve(?:[ \t]+(`?)([0-9a-f]{8,64})\1)?[ \t]*\.?$/i;
const cancelling = /^\/countersign[ \t]+cancel(?:[ \t]+(`?)(t[a-z0-9]{8,63})\1)?[ \t]*\.?$/i;
const asking = /^\/countersign[ \t]+status[ \t]*\.?$/i;

interface Read {
  readonly clean: string;
  readonly hidden: readonly string[];
  readonly shown: readonly Line[];
  readonly wrote: readonly Line[];
}
/** The one command of the comment, with nothing above it. */
function decisionOf(text: string, { clean, hidden, shown, wrote }: Read): Command {
  const [[seen, again], [first, ...more]] = [shown, wrote];
  if (seen === undefined || again !== undefined || first === undefined || more.length > 0) return unclear;
  if (!decides(first) || first.indented || seen.indented || text.slice(0, first.at).trim() !== "") return unclear;
  const denied = denial.exec(clean.slice(seen.at))?.[1];
  if (denied !== undefined) {
    const [, , hash = null, reason = denied] = named.exec(denied) ?? [];
    return { what: "deny", hash: hash?.toLowerCase() ?? null, reason: reasonOf(reason) };
  }
  return hidden.length > 0 ? unclear : onlyLine(text.trim());
}
/** Of all that is in the comment: nothing but the one line. */
function onlyLine(whole: string): Command {
  const approved = approval.exec(whole);
  if (approved !== null) return { what: "approve", hash: approved[2]?.toLowerCase() ?? null };
  const cancelled = cancelling.exec(whole);
  if (cancelled !== null) return { what: "cancel", task: cancelled[2]?.toLowerCase() ?? null };
  return asking.test(whole) ? { what: "status" } : unclear;
}
function reasonOf(text: string): string | null {
  const reason = text.trim().slice(0, limits.github_reason_chars).toWellFormed();
  return reason === "" ? null : reason;
}
