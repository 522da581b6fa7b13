/** Where a path that somebody wrote leads: inside the workspace, or out of it. Symbolic links are the sandbox's to check. */

/** Where every sandbox mounts the workspace. */
export const workspaceRoot = "/workspace";

/** The path relative to the workspace ("." for itself), or null when it leads out. `cwd` is relative to the workspace. */
export function insideWorkspace(path: string, cwd = ".", root: string = workspaceRoot): string | null {
  if (path === "" || path.includes("\0") || path.startsWith("~")) return null;
  const absolute = path.startsWith("/") ? path : `${root}/${cwd}/${path}`;
  const base = partsOf(root);
  const found: string[] = [];
  for (const part of partsOf(absolute)) {
    if (part !== "..") found.push(part);
    // Going up from the top of the workspace leaves it, even for a path that comes back.
    else if (found.length <= base.length) return null;
    else found.pop();
  }
  if (!base.every((part, index) => found[index] === part)) return null;
  return found.slice(base.length).join("/") || ".";
}

/** Whether the path lies in a git directory, in any spelling that some file system takes for `.git`. */
export function inGitDirectory(path: string): boolean {
  return partsOf(path).some((part) => /^(?:\.git|git~1)[. ]*$/i.test(part));
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
