/** Where a path that somebody wrote leads: inside the workspace, or out of it. Symbolic links are the sandbox's to check. */
import { limits } from "../limits.ts";

/** Where every sandbox mounts the workspace. */
export const workspaceRoot = "/workspace";

/** The path relative to the workspace ("." for itself), or null when it leads out. `cwd` is relative to the workspace. */
export function insideWorkspace(path: string, cwd = ".", root: string = workspaceRoot): string | null {
  if (path === "" || path.length > limits.path_chars || path.includes("\0") || path.startsWith("~")) return null;
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
  return partsOf(path).some((part) => /^(?:\.git|git~1)(?::.*)?$/.test(foldName(part)));
}

/** One name for all spellings that some file system takes for the same: case, form, unseen marks, dots at the end. */
export function foldName(name: string): string {
  if (/^[\w-][\w.-]*[\w-]$/.test(name)) return name.toLowerCase();
  const folded = name
    .normalize("NFKC")
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, "")
    .toLowerCase();
  return folded.replace(/[. ]+$/, "") || folded;
}

export function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
