/**
 * What gates look for in a text: words, characters that nobody sees, and secrets by their known shapes. Each pattern
 * takes time in proportion to the text. [GATE-*]
 */

/** Formatting that has no mark of its own: it reorders, hides or carries text. Joiners and variation selectors stand apart. */
const invisible =
  /[\u{ad}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180e}\u{200b}\u{200e}\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff9}-\u{fffb}\u{e0000}-\u{e01ef}]/u;
/** Emoji and some scripts need single joiners and selectors; rows of them, or one inside a plain word, say something else. */
const rowOfJoiners = /(?:\u{200c}|\u{200d}|[\u{fe00}-\u{fe0f}]){3}|[!-~](?:\u{200c}|\u{200d})[!-~]/u;

/** The first character that nobody sees, by its code point; null when there is none. */
export function invisibleIn(text: string): string | null {
  const found = invisible.exec(text) ?? rowOfJoiners.exec(text);
  if (found === null) return null;
  const mark = [...found[0]].find((one) => (one.codePointAt(0) ?? 0) > 0x7e) ?? "";
  return `U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const secrets: readonly (readonly [kind: string, shape: RegExp])[] = [
  ["a private key", /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----/],
  ["a GitHub token", /(?:gh[opsur]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{30})/],
  ["a GitLab token", /glpat-[A-Za-z0-9_-]{20}/],
  ["an API key", /\bsk-[A-Za-z0-9_-]{20}/],
  ["an AWS access key", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ["a Google API key", /\bAIza[A-Za-z0-9_-]{35}/],
  ["a Slack token", /\bxox[abeoprs]-[A-Za-z0-9-]{10}/],
  ["an npm token", /\bnpm_[A-Za-z0-9]{36}/],
  ["a token of this service", /\bcs_[a-z0-9]{16}[A-Za-z0-9]*_[A-Za-z0-9_-]{20}/],
];

/** Which kind of secret the text seems to hold; never the secret itself. */
export function secretIn(text: string): string | null {
  return secrets.find(([, shape]) => shape.test(text))?.[0] ?? null;
}

/** The first of the words that the text holds, however it is written: case, width and characters between that nobody sees do not count. */
export function wordIn(words: readonly string[], text: string): string | null {
  const plain = plainly(text);
  const raw = text.toLowerCase();
  return words.find((word) => raw.includes(word.toLowerCase()) || plain.includes(plainly(word))) ?? null;
}
function plainly(text: string): string {
  const bare = text
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
  // A word of nothing but such characters is looked for as it is.
  return bare === "" ? text.toLowerCase() : bare;
}
