/**
 * Folders that a command brings to a place as a whole: what lies in them its words do not say, and some names are
 * protected only by the place where they arrive. [POL-100]
 */
import { filesOf } from "./shell-files.ts";
import { programName } from "./shell-peeled.ts";
import { foldName, partsOf } from "./workspace-path.ts";

/** The folders as they would be called where they land, relative to where the command runs. */
export function broughtFolders(run: readonly string[]): readonly string[] {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  if (name === "cp" && !rest.some((word) => /^-(?!-)[a-zA-Z]*[rRa]|^--(?:rec|arch|par)/.test(word))) return [];
  if (name === "zstd" || name === "unzstd") return rest.some((word) => /^--output-dir-m/.test(word)) ? ["."] : [];
  if (name === "git" ? rest.find((word) => !word.startsWith("-")) !== "mv" : !/^(?:cp|mv|rsync)$/.test(name)) return [];
  const operands = rest.filter((word) => !word.startsWith("-"));
  const files =
    name === "mv" && operands.length === rest.length && operands.slice(0, -1).every((path) => ending.test(path));
  if (files) return [];
  // Into the workspace itself something comes under its own name, unless its content does.
  const whole = name === "rsync" ? /^-(?!-)[a-zA-Z]*R|^--rel|\/$/ : /^-(?!-)[a-zA-Z]*T|^--(?:no-target-d|par)/;
  const content = rest.some((word) => whole.test(word) || /.\/\.{1,2}\/?$|^\.\.\/?$|^\.\/./.test(word));
  return filesOf(run).written.filter((path) => content || partsOf(path).length > 0);
}

const ending = /\w\.\w+$/;
const groups = /^(?:apps|crates|libs|modules|packages|plugins|projects|services|tools)$/;
/** Whether a name of a file in that folder may be protected by where the folder lies, and by nothing else. */
export function mayBringProtected(folder: string): boolean {
  const parts = partsOf(folder).map(foldName);
  if (parts.length === 0) return true;
  if (parts.length <= 2 && groups.test(parts[0] ?? "")) return true;
  return /^(?:cypress|jest)$/.test(parts.at(-1) ?? "");
}
