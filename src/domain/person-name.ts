/**
 * The name a token is made with: read by others on every card, and what says that two tokens are one person. A name
 * that can pose as another is refused; a letter such as a dotless i, which names are written in, is not known as a look-alike. [WHO-22]
 */
import { visibleLine } from "./visible.ts";

/** Scripts whose letters are drawn like one another's: a name that holds letters of two of them poses as a third. */
const alike = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
] as const;

/** Drawn like `#`; letters of phonetics and signs for clicks, which no name is written in and which look like others. */
const posing =
  /[\u{266f}\u{2317}\u{22d5}\u{fe5f}\u{ff03}\u{29e3}\u{29e4}\u{1c0}-\u{1c3}\u{250}-\u{2af}\u{1d00}-\u{1dbf}\u{2c60}-\u{2c7f}\u{a720}-\u{a7ff}\u{ab30}-\u{ab6f}]/u;

/** Why nobody may be called so; null when they may. */
export function nameProblem(name: string): string | null {
  const shown = visibleLine(name);
  if (shown !== name)
    return `a name holds no control, invisible or bidirectional character and no other blank than a space: ${shown}`;
  const letters = name.normalize("NFKC");
  if (/^\s*(?:github|hook|standing)\s*:/i.test(letters))
    return "a name does not begin like those of people of GitHub, hooks and standing approvals: github:, hook:, standing:";
  if (posing.test(name) || /#[A-Za-z0-9_-]{6}$/.test(letters))
    return "a name holds no sign that is drawn like # or like another letter, and does not end like the # and six signs behind a name";
  return alike.filter((script) => script.test(letters)).length > 1
    ? "a name does not mix letters of scripts that look alike, such as Latin with Cyrillic or Greek: write it in one"
    : null;
}
