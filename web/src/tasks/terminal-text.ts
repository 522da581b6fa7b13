/** A terminal's bytes as plain text: colours and cursor moves gone, a rewritten line as it last stood. Pure. */

// Control sequences as ECMA-48 and xterm define them: CSI, OSC and the other strings, then two-character escapes.
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being removed
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]/g;

export function plainText(output: string): string {
  return output
    .replace(sequences, "")
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1).replace(/\r+$/, ""))
    .join("\n");
}
