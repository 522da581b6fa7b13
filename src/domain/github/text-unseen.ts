/** Characters of a GitHub text that no screen shows are taken out of it, and told. [GHI-42] */
import { limits } from "../../limits.ts";
import { hidden as unseen, visible } from "../visible.ts";

/** Pictures are made with joiners and selectors, and three flags with tag characters: those hide nothing. */
const flag =
  "\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}";
const drawn = "\\p{Extended_Pictographic}[\\u{1F3FB}-\\u{1F3FF}\\u{FE0E}\\u{FE0F}]?";
const picture = `${flag}|${drawn}(?:\\u{200D}${drawn})*|[0-9#*]\\u{FE0F}\\u{20E3}`;
const pictureOrUnseen = new RegExp(`(${picture})|${unseen.source}`, "gv");
const tagCharacters = /[\u{e0020}-\u{e007e}]/gu;

/** Other spaces than the usual become it. */
export function withoutUnseen(text: string): { clean: string; runs: string[] } {
  const runs = new Map<string, number>();
  let run = "";
  let end = -1;
  const settle = () => {
    if (run !== "") runs.set(run, (runs.get(run) ?? 0) + 1);
    run = "";
  };
  const clean = text.replace(pictureOrUnseen, (mark, whole: string | undefined, at: number) => {
    if (whole !== undefined || mark === "\n" || mark === "\t") return mark;
    if (/^\p{Zs}$/u.test(mark)) return " ";
    if (at !== end) settle();
    run += mark;
    end = at + mark.length;
    return "";
  });
  settle();
  return { clean, runs: [...runs].map(([marks, times]) => told(marks, times)) };
}

/** Tag characters are letters that no screen shows: what they spell is said beside them. */
function told(whole: string, times: number): string {
  const run = whole.slice(0, limits.github_hidden_chars);
  const spelt = run.replace(tagCharacters, (mark) => String.fromCodePoint((mark.codePointAt(0) ?? 0) - 0xe0000));
  const reads = spelt === run ? "" : ` (reads "${visible(spelt)}")`;
  const more = whole.length > run.length ? ` … and ${whole.length - run.length} more` : "";
  return `${visible(run)}${reads}${more}${times > 1 ? ` (${times} times)` : ""}`;
}
