/**
 * Text for text: an edit names what stands in the file to the letter, and where that is not so it is told how often it
 * was found and what stands near. Pure. [TOOL-8]
 */
export type Edited =
  | { readonly ok: true; readonly content: string; readonly count: number }
  | { readonly ok: false; readonly why: string };

export function edited(content: string, wanted: { old_text: string; new_text: string; replace_all: boolean }): Edited {
  // Models write lines that end in \n; in a file of another kind they mean the file's own.
  const dos = content.includes("\r\n") && !wanted.old_text.includes("\r");
  const old_text = dos ? wanted.old_text.replaceAll("\n", "\r\n") : wanted.old_text;
  const new_text = dos && !wanted.new_text.includes("\r") ? wanted.new_text.replaceAll("\n", "\r\n") : wanted.new_text;
  const places = placesOf(content, old_text);
  if (places.length === 0) return { ok: false, why: notFound(content, wanted.old_text) };
  if (places.length > 1 && !wanted.replace_all) return { ok: false, why: foundOften(content, places) };
  // `split` and not `replaceAll`: "$&" in the new text is only text.
  return { ok: true, content: content.split(old_text).join(new_text), count: places.length };
}

function placesOf(content: string, old_text: string): number[] {
  const places: number[] = [];
  for (let at = content.indexOf(old_text); at >= 0; at = content.indexOf(old_text, at + old_text.length))
    places.push(at);
  return places;
}

function foundOften(content: string, places: readonly number[]): string {
  const lines = places.slice(0, 10).map((at) => lineAt(content, at));
  return `old_text was found ${places.length} times, in lines ${lines.join(", ")}${places.length > 10 ? ", ..." : ""}. Give more of the lines around the one you mean, or set replace_all.`;
}

function notFound(content: string, old_text: string): string {
  const lines = content.split("\n");
  const near = nearest(lines, old_text);
  if (near === null) return "old_text was found 0 times, and nothing like it. Read the file again, then copy from it.";
  const from = Math.max(0, near - 2);
  const around = lines.slice(from, near + 4).map((line, index) => `${from + index + 1}\t${line.slice(0, 200)}`);
  return `old_text was found 0 times. It has to be the same to the letter, blanks included. Near it the file says:\n${around.join("\n")}`;
}

/** The line that has most in common with the first telling line of what was looked for. */
function nearest(lines: readonly string[], old_text: string): number | null {
  const wanted = old_text
    .split("\n")
    .map(plain)
    .filter((line) => line.length > 2)
    .slice(0, 3);
  for (const line of wanted) {
    const at = lines.findIndex((each) => plain(each) === line);
    if (at >= 0) return at;
  }
  const [first] = wanted;
  if (first === undefined) return null;
  const words = new Set(wordsIn(first));
  let best = { at: -1, score: 0 };
  lines.forEach((line, at) => {
    const score = new Set(wordsIn(line).filter((word) => words.has(word))).size;
    if (score > best.score) best = { at, score };
  });
  return best.score * 2 >= words.size && best.at >= 0 ? best.at : null;
}
function plain(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}
function wordsIn(line: string): string[] {
  return line.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

export function lineAt(content: string, at: number): number {
  return content.slice(0, at).split("\n").length;
}
