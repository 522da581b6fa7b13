/** Whether a grant covers a path, and whether it may be written unasked. [GR-4] [GR-62] [GR-100] */
import { matchesAny } from "./glob.ts";
import type { Grant } from "./plan-shape.ts";
import { namesProtected, protectedFile } from "./protected-files.ts";
import { inGitDirectory, insideWorkspace } from "./workspace-path.ts";

/** Whether a part of it leads up: behind a link to a folder that is elsewhere than the words say. */
export function goesUp(path: string): boolean {
  return /(?:^|\/)\.\.(?:\/|$)/.test(path);
}
export function pathGranted(path: string, allow: Pick<Grant, "paths">, cwd = "."): boolean {
  const inside = insideWorkspace(path, cwd);
  return inside !== null && !inGitDirectory(inside) && matchesAny(allow.paths, inside);
}
/** A protected file is only covered by a glob over it: to be written it is named. */
export function writeGranted(path: string, allow: Pick<Grant, "paths">, cwd = "."): boolean {
  return pathGranted(path, allow, cwd) && !isUnnamedProtected(insideWorkspace(path, cwd) ?? path, allow);
}
/** A folder with all that may lie in it. */
export function wholeGranted(path: string, allow: Pick<Grant, "paths">, cwd = "."): boolean {
  return [`${path}/x`, `${path}/x/x`].every((one) => pathGranted(one, allow, cwd));
}
export function isUnnamedProtected(inside: string, allow: Pick<Grant, "paths">): boolean {
  const guarded = protectedFile(inside);
  return guarded !== null && !namesProtected(allow.paths, inside, guarded);
}
