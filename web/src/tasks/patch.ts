/** Reads a git patch into files and lines. Lines it does not know stay in the file they stand in: nothing is dropped. Pure. */
export interface PatchLine {
  readonly kind: "meta" | "hunk" | "add" | "remove" | "same";
  readonly text: string;
  readonly old: number | null;
  readonly new: number | null;
}
export interface PatchFile {
  readonly path: string;
  readonly was: string | null;
  readonly change: "added" | "modified" | "deleted" | "renamed";
  readonly binary: boolean;
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly PatchLine[];
}

export function parsePatch(patch: string): readonly PatchFile[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const starts = lines.flatMap((line, index) => (isStart(line) ? [index] : []));
  // What stands before the first header (there should be nothing) is shown as a file of its own.
  if (lines.length > 0 && starts[0] !== 0) starts.unshift(0);
  return starts.map((start, index) => readFile(lines.slice(start, starts[index + 1])));
}

/** Lines of a hunk begin with a space, a sign or a backslash, so this at a line's beginning is always a header. */
function isStart(line: string): boolean {
  return line.startsWith("diff --git ");
}

function readFile(lines: readonly string[]): PatchFile {
  const read: PatchLine[] = [];
  let old = 0;
  let fresh = 0;
  // How much of the hunk is still to come: only inside one is a leading sign a change and not a header.
  let oldLeft = 0;
  let newLeft = 0;
  for (const text of lines) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
    const sign = text[0] ?? " ";
    if (oldLeft + newLeft > 0 && sign === "+") {
      read.push({ kind: "add", text: text.slice(1), old: null, new: fresh++ });
      newLeft -= 1;
    } else if (oldLeft + newLeft > 0 && sign === "-") {
      read.push({ kind: "remove", text: text.slice(1), old: old++, new: null });
      oldLeft -= 1;
    } else if (oldLeft + newLeft > 0 && sign === " ") {
      read.push({ kind: "same", text: text.slice(1), old: old++, new: fresh++ });
      oldLeft -= 1;
      newLeft -= 1;
    } else if (hunk !== null) {
      old = Number(hunk[1]);
      fresh = Number(hunk[3]);
      oldLeft = Number(hunk[2] ?? 1);
      newLeft = Number(hunk[4] ?? 1);
      read.push({ kind: "hunk", text, old: null, new: null });
    } else read.push({ kind: "meta", text, old: null, new: null });
  }
  return {
    ...header(read.filter((line) => line.kind === "meta").map((line) => line.text)),
    ...count(read),
    lines: read,
  };
}

function count(lines: readonly PatchLine[]): { added: number; removed: number } {
  return {
    added: lines.filter((line) => line.kind === "add").length,
    removed: lines.filter((line) => line.kind === "remove").length,
  };
}

function header(meta: readonly string[]): Pick<PatchFile, "path" | "was" | "change" | "binary"> {
  const after = (start: string): string | null => {
    const line = meta.find((text) => text.startsWith(start));
    return line === undefined ? null : unquote(line.slice(start.length).replace(/\t$/, ""));
  };
  const strip = (path: string | null): string | null =>
    path === null || path === "/dev/null" ? null : path.replace(/^[ab]\//, "");
  const from = after("rename from ") ?? strip(after("--- "));
  const to = after("rename to ") ?? strip(after("+++ "));
  const change = meta.some((line) => line.startsWith("new file mode"))
    ? "added"
    : meta.some((line) => line.startsWith("deleted file mode"))
      ? "deleted"
      : from !== null && to !== null && from !== to
        ? "renamed"
        : "modified";
  return {
    path: to ?? from ?? sameInBoth(meta[0] ?? ""),
    was: change === "renamed" ? from : null,
    change,
    binary: meta.some((line) => /^(GIT binary patch|Binary files )/.test(line)),
  };
}

/** A binary or mode-only change has no ---/+++ lines: both halves of `diff --git a/x b/x` are the same path. */
function sameInBoth(line: string): string {
  const rest = line.replace(/^diff --git /, "");
  const half = rest.slice(0, (rest.length - 1) / 2);
  return unquote(half).replace(/^a\//, "");
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** git quotes a path that holds unusual bytes, octal escapes being bytes of UTF-8. */
function unquote(path: string): string {
  if (!path.startsWith('"') || !path.endsWith('"')) return path;
  const bytes: number[] = [];
  for (const part of path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (part[1] !== undefined) bytes.push(Number.parseInt(part[1], 8));
    else if (part[2] !== undefined) bytes.push(escapes[part[2]] ?? part[2].charCodeAt(0));
    else bytes.push(...new TextEncoder().encode(part[3] ?? ""));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
