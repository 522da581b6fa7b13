/**
 * The name a token is made with: read by others on every card, and what says that two tokens are one person. A name
 * that can pose as another is refused; look-alikes inside one script are not known here. [WHO-22]
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

/** Why nobody may be called so; null when they may. */
export function nameProblem(name: string): string | null {
  const shown = visibleLine(name);
  if (shown !== name)
    return `a name holds no control, invisible or bidirectional character and no other blank than a space: ${shown}`;
  const letters = name.normalize("NFKC");
  return alike.filter((script) => script.test(letters)).length > 1
    ? "a name does not mix letters of scripts that look alike, such as Latin with Cyrillic or Greek: write it in one"
    : null;
}
