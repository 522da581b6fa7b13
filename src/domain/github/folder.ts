/** GitHub's own folder of a repository: what lies there runs in its CI, or tells it what to do. [GHR-60] [GHR-61] */
import { foldName, partsOf } from "../workspace-path.ts";

/** Of a path or a glob from the workspace down. What is wild only covers the folder, and what is covered asks anyway. */
export function inGithubFolder(path: string): boolean {
  return foldName(partsOf(path)[0] ?? "") === ".github";
}
