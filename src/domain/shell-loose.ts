/**
 * Words that the shell replaces by others of a known shape: names below a folder that is spelled, and how the last
 * command ended. To programs that only read, whatever stands there is one more file, or a number. [GR-93]
 */
import type { Assignment, Word, WordPart } from "unbash";

const globbing = /^(?:ls|cat|head|tail|wc|grep|egrep|fgrep)$/;
const telling = /^(?:echo|test|\[|exit)$/;
/** It begins with a folder, so that no name becomes an option, and no part of it begins with a dot or leads up. */
const below = /^(?:\.\/)?(?!.*(?:^|\/)\.(?!\/))[\w@+][\w@%+=,.-]*\/[\w@%+=,./*?-]+$/;

export function isLoose(program: string, word: Word | Assignment | undefined): boolean {
  if (word?.type !== "Word") return false;
  const parts: readonly WordPart[] = word.parts ?? [];
  if (globbing.test(program))
    return (
      parts.some((part) => part.type === "Glob") &&
      parts.every((part) => part.type === "Literal" || (part.type === "Glob" && part.kind !== "bracket")) &&
      below.test(word.text) &&
      !word.text.slice(2).includes("./")
    );
  const each = parts.flatMap<WordPart>((part) => (part.type === "DoubleQuoted" ? part.parts : [part]));
  return telling.test(program) && each.some(isStatus) && each.every((part) => isText(part) || isStatus(part));
}
function isText(part: WordPart): boolean {
  return part.type === "Literal" || part.type === "SingleQuoted";
}
function isStatus(part: WordPart): boolean {
  return part.type === "SimpleExpansion" && part.text === "$?";
}
