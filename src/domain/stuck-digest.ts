/**
 * What of a call that ended is kept to compare it by: the call as it was asked, and what came of it. Another argument is
 * another call, and another number another result; only what changes by itself does not count. A duration that a failed
 * check measured may be what the work is about: of a failure only those that a runner says of itself are left out. [STUCK-6]
 */
import { canonicalJson, hashOf } from "./canonical.ts";

/** One call that ended, as it is compared. */
export interface Digest {
  readonly call: string;
  readonly result: string;
  readonly failed: boolean;
}

const hashChars = 12;
const failedMark = "!";

export function digestOf(
  { tool, arguments: asked }: { tool: string; arguments: unknown },
  { text, is_error }: { text: string; is_error: boolean },
): string {
  const short = (value: unknown): string => hashOf(value).slice(0, hashChars);
  const result = short([steady(text, is_error), is_error]);
  return `${short([tool, asked])}:${result}${is_error ? failedMark : ""}`;
}
/** One that was kept by an older version is equal to its own kind alone, and none of them counts as a failure. */
export function readDigest(digest: string): Digest {
  const at = digest.indexOf(":");
  const call = at === -1 ? digest : digest.slice(0, at);
  return { call, result: digest.slice(call.length), failed: digest.endsWith(failedMark) };
}

/** The arguments as they are compared: canonical when they are JSON, else as they were written. */
export function comparable(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    canonicalJson(value);
    return value;
  } catch {
    return text.toWellFormed();
  }
}

const number = String.raw`\d{1,9}(?:[.,]\d{1,9})?`;
const hours = String.raw`(?:\d{1,9} ?h(?:ours?|rs?)? ?)?(?:\d{1,9} ?m(?:in(?:ute)?s?)? ?)?`;
const duration = String.raw`(?:${hours}${number} ?(?:ns|[µμu]s|ms|s|secs?|seconds?)|${number} ?(?:min(?:ute)?s?|hours?|hrs?))\b`;
type Patterns = readonly (readonly [RegExp, string])[];
/** Each pattern is bounded: it is laid on whatever a program printed. What is another each time though nothing else is new: */
const stamps: Patterns = [
  // Time stamps: with a date, of the day alone, and in milliseconds, which bundlers set into names.
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?: ?Z\b| ?[+-]\d\d:?\d\d\b)?/g, "#"],
  [/(?<![\w.:])(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?: ?[AP]M\b)?(?![\w:])/g, "#"],
  [/\b1[5-9]\d{11}(?:-[0-9a-f]{1,32})?\b/g, "#"],
];
/** Durations, by their unit or by their name, and what is reckoned from them. */
const durations: Patterns = [
  [new RegExp(String.raw`\b${number} ?[KMG]?i?B/s\b`, "g"), "#"],
  [new RegExp(String.raw`\b${hours}${number} ?(?:ns|[µμu]s|ms|s|secs?|seconds?)\b`, "g"), "#"],
  [new RegExp(String.raw`\b${number} ?(?:min(?:ute)?s?|hours?|hrs?)\b`, "g"), "#"],
  [
    new RegExp(String.raw`\b((?:duration|elapsed|time)_(?:ms|s|secs?|seconds?)\b["']?[ :=]{0,3}["']?)${number}`, "gi"),
    "$1#",
  ],
  [new RegExp(String.raw`\b((?:duration|elapsed|time)["']? ?[:=] ?["']?)${number}`, "gi"), "$1#"],
];
const names = "duration|elapsed|time";
const between = String.raw`(?: \(real\))?[ \t]{0,16}[:=]?[ \t]{0,16}`;
/** No word stands before it: `response time: 900 ms` is measured. */
const first = String.raw`(?<![\w%][ \t])\b`;
const ending = String.raw`finished|successfully|built|compiled|passed|failed|passing|failing|skipped|(?:test|suite|file|error|failure|warning)s?|target\(s\)`;
/** Those that a runner says of itself, by where they stand: any other may be what was measured. */
const ofRunner: Patterns = [
  [new RegExp(String.raw`((?:\bended [^\n]{1,60},|\bwas still running) after )${duration}`, "g"), "$1#"],
  // All of a line such as vitest's `Duration  1.2s (tests 5ms)`.
  [new RegExp(String.raw`${duration}(?<=^[ \t]{0,16}(?:Duration|Time:)[ \t]{1,16}[\d#][^\n]{0,300})`, "gm"), "#"],
  // `(12 ms)`; `1 failed in 0.3s`; `Time elapsed: 1.2 s`, `real 0m1.2s`; `time="0.1"`, `duration_ms 7`.
  [new RegExp(String.raw`([([])${duration}(?=[)\]])`, "g"), "$1#"],
  [new RegExp(String.raw`(\b(?:${ending}) (?:in|took) )${duration}`, "gi"), "$1#"],
  [
    new RegExp(
      String.raw`${first}((?:(?:total|test|time)[ \t]){0,2}(?:${names}|real|user|sys)${between})${duration}`,
      "gi",
    ),
    "$1#",
  ],
  [
    new RegExp(
      String.raw`${first}((?:${names})(?:_(?:ms|s|secs?|seconds?)\b["']?[ :=]{0,3}|["']? ?[:=] ?)["']?)${number}`,
      "gi",
    ),
    "$1#",
  ],
  // `✓ name 12 ms`, and in a column of its own.
  [new RegExp(String.raw`^([ \t]{0,32}[✓✔√×✗✘✖❯][^\n]{1,400}[ \t])${duration}$`, "gm"), "$1#"],
  [
    new RegExp(
      String.raw`^((?:ok|FAIL|PASS)[ \t][^\n]{1,400}\t|[^\n]{1,400}(?:Passed|Failed)[ \t]{2,16})${duration}$`,
      "gm",
    ),
    "$1#",
  ],
];
const others: Patterns = [
  // Ids of processes, as they are named, and as node, a shell and checkers of memory put them before their words.
  [/\b(pid["']?[ \t]?[:=#]?[ \t]?)\d{1,10}\b/gi, "$1#"],
  [/(\(node:|==)\d{1,10}(?=\)|==)/g, "$1#"],
  [
    /(\bline \d{1,9}:)[ \t]{1,16}\d{1,10}(?=[ \t]{1,16}(?:Killed|Terminated|Aborted|Segmentation|Bus|Floating|Illegal)\b)/g,
    "$1 #",
  ],
  // Addresses in memory, and names of temporary files and folders.
  [/\b0x[0-9a-f]{8,16}\b/gi, "#"],
  [/(\/(?:var\/)?tmp|\/var\/folders\/\w{1,64}\/\w{1,64}\/T)\/[^\s/"'`:;,()<>[\]{}|]{1,255}/g, "$1/#"],
  [/\bpytest-\d{1,9}\b/g, "#"],
  [/\btmp[._-]?(?=[a-z_]{0,12}[A-Z0-9])\w{6,12}\b/g, "#"],
  // A number is set in as wide a column as its digits need.
  [/[ \t]{2,64}(?=#)/g, " "],
];

const ofSuccess: Patterns = [...stamps, ...durations, ...others];
const ofFailure: Patterns = [...stamps, ...ofRunner, ...others];

/** The text without what changes by itself: durations, time stamps, ids of processes, addresses, temporary names. */
export function steady(text: string, failed = false): string {
  const byItself = failed ? ofFailure : ofSuccess;
  return byItself.reduce((rest, [pattern, word]) => rest.replace(pattern, word), withoutCut(text.toWellFormed()));
}
/** Where a long output was cut moves with the length of what changes by itself: the lines that end there do not count. */
function withoutCut(text: string): string {
  const lines = text.split("\n");
  const cuts = lines.flatMap((line, at) => (/^\[\.\.\. \d+ (?:of \d+ )?bytes left out/.test(line) ? [at] : []));
  if (cuts.length === 0) return text;
  return lines.filter((_, at) => !cuts.some((cut) => Math.abs(cut - at) <= 1)).join("\n");
}
