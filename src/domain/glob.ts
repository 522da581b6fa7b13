/**
 * Globs over workspace paths: `*` and `?` inside one name, `**` for any number of folders, anchored
 * at the workspace. Everything else stands for itself, dot-files included. Matching takes time
 * proportional to pattern times path, whatever the pattern. [GLOB-*]
 */
const maxGlobLength = 512;

/** Null when the glob can be used, else what to write instead. */
export function globProblem(glob: string): string | null {
  if (glob === "") return "a glob is empty";
  if (glob.length > maxGlobLength) return `a glob has at most ${maxGlobLength} characters`;
  if (glob.includes("\\")) return `${quote(glob)} has a backslash: separate folders with /`;
  if (glob.startsWith("/")) return `${quote(glob)} starts with /: write it relative to the workspace`;
  if (glob.startsWith("!")) return `${quote(glob)} starts with !: a glob only includes; list what is meant`;
  if (/\{[^}]*(?:,|\.\.)[^}]*\}/.test(glob)) return `${quote(glob)} has {a,b}: write one glob for each`;
  if (/\[[!^]?(?:\w-\w)+\w*\]/.test(glob)) return `${quote(glob)} has a character range: only *, ** and ? are wild`;
  for (const segment of glob.split("/")) {
    if (segment === "") return `${quote(glob)} has an empty folder name: for everything in a folder write folder/**`;
    if (segment === "." || segment === "..")
      return `${quote(glob)} has a "${segment}" folder: write the path from the workspace down`;
    if (segment !== "**" && segment.includes("**")) return `${quote(glob)}: ** stands alone between slashes`;
  }
  return null;
}

export function globMatches(glob: string, path: string): boolean {
  return matchList(segmentsOf(glob), path.split("/"), (pattern) => pattern === "**", segmentMatches);
}

/** A `!path` in the list takes that one path out again; only the product writes such an entry, never a plan. */
export function matchesAny(globs: readonly string[], path: string): boolean {
  return !globs.includes(`!${path}`) && globs.some((glob) => globMatches(glob, path));
}

/** Whether some path could match both. */
export function globsOverlap(left: string, right: string): boolean {
  return overlap(segmentsOf(left), segmentsOf(right), (pattern) => pattern === "**", segmentsOverlap);
}

/** A pattern without `*` and `?` names one file. */
export function isLiteralGlob(glob: string): boolean {
  return !/[*?]/.test(glob);
}

/** A last `**` needs something to match: `src/**` is what is below `src`, not `src` itself. */
export function segmentsOf(glob: string): readonly string[] {
  const segments = glob.split("/");
  return segments.at(-1) === "**" ? [...segments, "*"] : segments;
}

function segmentMatches(pattern: string, text: string): boolean {
  return matchList([...pattern], [...text], (sign) => sign === "*", characterMatches);
}
/** Where only `*` is wild: the words of a command. */
export function starMatches(pattern: string, text: string): boolean {
  return matchList(
    [...pattern],
    [...text],
    (sign) => sign === "*",
    (sign, character) => sign === character,
  );
}
function characterMatches(sign: string, character: string): boolean {
  return sign === "?" || sign === character;
}

/** Wildcard matching with one step back: only the last star is ever tried again. */
export function matchList(
  pattern: readonly string[],
  text: readonly string[],
  isStar: (sign: string) => boolean,
  one: (sign: string, item: string) => boolean,
): boolean {
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  for (let index = 0; index < text.length; ) {
    const sign = pattern[at];
    const item = text[index] ?? "";
    if (sign !== undefined && isStar(sign)) {
      star = at++;
      resumeAt = index;
    } else if (sign !== undefined && one(sign, item)) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resumeAt;
    } else return false;
  }
  return pattern.slice(at).every(isStar);
}

function segmentsOverlap(left: string, right: string): boolean {
  return overlap(
    [...left],
    [...right],
    (sign) => sign === "*",
    (a, b) => a === "?" || b === "?" || a === b,
  );
}

/** Whether two patterns share a text. `reach[j]` says that the rest of `left` and `right.slice(j)` share one. */
function overlap(
  left: readonly string[],
  right: readonly string[],
  isStar: (sign: string) => boolean,
  one: (a: string, b: string) => boolean,
): boolean {
  let below: boolean[] = [];
  for (let i = left.length; i >= 0; i--) {
    const reach: boolean[] = [];
    for (let j = right.length; j >= 0; j--) {
      const a = left[i];
      const b = right[j];
      const skipLeft = a !== undefined && isStar(a);
      const skipRight = b !== undefined && isStar(b);
      if (a === undefined && b === undefined) reach[j] = true;
      else if (skipLeft || skipRight)
        // A star ends here, or it takes the other side's next item.
        reach[j] = (a !== undefined && below[j] === true) || (b !== undefined && reach[j + 1] === true);
      else reach[j] = a !== undefined && b !== undefined && one(a, b) && below[j + 1] === true;
    }
    below = reach;
  }
  return below[0] === true;
}

function quote(glob: string): string {
  return `"${glob.length > 60 ? `${glob.slice(0, 57)}...` : glob}"`;
}
