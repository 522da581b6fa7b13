/** Which files a command names: to change them, to read them, or as the directory to change to; and what removes a tree. [SH-44] [SH-45] */
import { findChanges, findsDeep, startsOf } from "./shell-find.ts";
import { optionTable } from "./shell-option-table.ts";
import { readOptions } from "./shell-options.ts";
import { valuesOf } from "./shell-path-words.ts";
import { programName } from "./shell-peeled.ts";
import { runnerWrites } from "./shell-runner-files.ts";

export interface NamedFiles {
  /** Every file the command names as its own business, read or written. */
  readonly named: readonly string[];
  /** Those it may change. */
  readonly written: readonly string[];
}
const none: NamedFiles = { named: [], written: [] };

/** Programs that change the files they name. */
const writers =
  /^(?:rm|rmdir|touch|mkdir|tee|chmod|chown|chgrp|chattr|setfacl|truncate|unlink|shred|mkfifo|mknod|patch|gzip|gunzip|bzip2|bunzip2|xz|unxz|unlzma|lzma|zstd|unzstd|uncompress|lz4|unlz4|brotli|sponge|ed|ex|vi|vim|nano|dos2unix|unix2dos|mktemp|split|csplit|xxd|uniq)$/;
/** Of those, the ones that write the file without its last ending. */
const packers = /^(?:gzip|gunzip|bzip2|bunzip2|xz|unxz|unlzma|lzma|zstd|unzstd|uncompress|lz4|unlz4|brotli)$/;
/** Programs that write into their last operand, or the folder given by `-t`. */
const copiers = /^(?:cp|mv|ln|install|rsync|link|scp)$/;
const movers = /^(?:cd|pushd)$/;
const packed = /^(?:-o|--output-dir-(?:flat|mirror))$/;
/** Options by which a program writes to a file of its own choosing. */
const outputs: Readonly<Record<string, RegExp>> = {
  curl: /^(?:-o|--output|-D|--dump-header|-c|--cookie-jar|--output-dir|--trace|--trace-ascii|--stderr)$/,
  wget: /^(?:-O|--output-document|-o|--output-file|-P|--directory-prefix|-a)$/,
  sort: /^(?:-o|--output)$/,
  tar: /^(?:-C|--directory|-f|--file)$/,
  unzip: /^-d$/,
  git: /^(?:-C|-o|--output|--output-directory)$/,
  gcc: /^-o$/,
  cc: /^-o$/,
  clang: /^-o$/,
  tsc: /^(?:--outDir|--outFile)$/,
  go: /^--?o$/,
  openssl: /^-out$/,
  make: /^(?:-C|--directory)$/,
  npm: /^(?:--prefix|-C)$/,
  find: /^-f(?:print0?|printf|ls)$/,
  csplit: /^(?:-f|--prefix)$/,
  mktemp: /^(?:-p|--tmpdir)$/,
  brotli: /^(?:-o|--output)$/,
  shuf: /^(?:-o|--output)$/,
  tree: /^-o$/,
  ...{ zstd: packed, unzstd: packed, zstdcat: packed },
  zip: /^(?:-O|--out|--output-file)$/,
  time: /^(?:-o|--output)$/,
  ...{ strace: /^(?:-o|--output)$/, ltrace: /^(?:-o|--output)$/ },
};

/** Whether the program changes the files its operands name, whichever they are. */
export function changesOperands(run: readonly string[]): boolean {
  const name = programName(run[0] ?? "");
  return writers.test(name) || copiers.test(name) || /^g?sed$/.test(name);
}

/** Whether it changes files by names that it makes up, or all that git knows or does not know. */
export function changesUnnamed(run: readonly string[]): boolean {
  const name = programName(run[0] ?? "");
  if (/^(?:split|csplit|mktemp)$/.test(name)) return true;
  // `#1` stands for what a part of the address is.
  if (name === "curl")
    return valuesOf(run).some(({ option, value }) => outputs.curl?.test(option) === true && /#\d/.test(value));
  if (name !== "git") return false;
  const at = run.findIndex((word) => /^(?:clean|stash|format-patch)$/.test(word));
  return at > 0 && !(run[at] === "stash" && /^(?:list|show|create|drop|clear)$/.test(run[at + 1] ?? ""));
}

export function filesOf(run: readonly string[]): NamedFiles {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  if (name === "sed" || name === "gsed" || name === "perl") return both(inPlace(name === "perl", rest));
  if (name === "dd") return dd(rest);
  if (movers.test(name)) return { named: operands(rest), written: [] };
  if (copiers.test(name)) return copied(name, rest);
  if (packers.test(name))
    return withOutputs(
      run,
      operands(rest).flatMap((file) => unpacked(run, [...new Set([file, file.replace(/(?:\.[^./]+|[-_]g?z)$/i, "")])])),
    );
  if (name === "uniq") return uniqFiles(rest);
  if (writers.test(name)) return withOutputs(run, operands(rest));
  if (name === "git") return withOutputs(run, gitFiles(rest));
  if (name === "find" || name === "gfind") return found(run);
  if (name === "zip") return withOutputs(run, archives(rest));
  return withOutputs(run, runnerWrites(run));
}
/** It reads the first and writes the second. */
function uniqFiles(rest: readonly string[]): NamedFiles {
  const { values } = readOptions(optionTable.uniq ?? {}, rest);
  const named = operands(rest.filter((_, at) => !values.some((one) => one.in === at && one.in !== one.at)));
  return { named, written: named.slice(1) };
}
function both(files: readonly string[]): NamedFiles {
  return { named: files, written: files };
}

/** Beside the packed files, or in the folder of their own that an option names. */
function unpacked(run: readonly string[], files: readonly string[]): readonly string[] {
  const folders = valuesOf(run).flatMap(({ option, value }) => (/^--output-dir-/.test(option) ? [value] : []));
  return [...files, ...folders.flatMap((folder) => files.map((file) => `${folder}/${baseOf(file)}`))];
}

/** Where `find` starts is changed when it removes, or runs what does not only read, and what it writes to. */
function found(run: readonly string[]): NamedFiles {
  const starts = startsOf(run);
  const told = withOutputs(run, []);
  if (!findChanges(run)) return { named: [...starts, ...told.named], written: told.written };
  const names = run.filter((_, at) => /^-i?name$/.test(run[at - 1] ?? ""));
  const below = starts.flatMap((start) => names.map((name) => `${start}/${name}`));
  return both([...starts, ...below, ...told.written]);
}

/** The archive, by the name it gets. */
function archives(rest: readonly string[]): readonly string[] {
  const { values } = readOptions(optionTable.zip ?? {}, rest);
  const [archive] = operands(rest.filter((_, at) => !values.some((one) => one.in === at && one.in !== one.at)));
  return archive === undefined || archive === "-"
    ? []
    : [archive, ...(/\.[^./]*$/.test(archive) ? [] : [`${archive}.zip`])];
}

/** Words that are no option; after `--` all of them. */
function operands(rest: readonly string[]): string[] {
  const end = rest.indexOf("--");
  const before = end < 0 ? rest : rest.slice(0, end);
  return [...before.filter((word) => !/^-./.test(word)), ...(end < 0 ? [] : rest.slice(end + 1))];
}

/** The files, and the copies that are kept of them: `-iSUFFIX`, where `*` stands for the file's own name. */
function inPlace(perl: boolean, words: readonly string[]): string[] {
  const joined = perl ? /^-[acdfhlnpsStTuUvVwWX0-9]*i(.*)$/s : /^(?:-[nErszub]*i|--i[a-z-]*=)(.*)$/s;
  const suffix = words.map((word) => joined.exec(word)?.[1] ?? "").find((text) => text !== "");
  const files = sedFiles(words);
  return suffix === undefined ? files : files.flatMap((file) => [file, ...copiesOf(file, suffix)]);
}
function copiesOf(file: string, suffix: string): string[] {
  const base = baseOf(file);
  const folder = file.slice(0, file.length - base.length);
  const copy = suffix.includes("*") ? suffix.replaceAll("*", base) : `${base}${suffix}`;
  // A suffix with a folder in it is one from here.
  return suffix.includes("/") && folder !== "" ? [`${folder}${copy}`, copy] : [`${folder}${copy}`];
}
/** `sed` changes files only in place, and its first operand is a program unless an option brought one. */
function sedFiles(words: readonly string[]): string[] {
  if (!words.some((word) => /^-[a-zA-Z]*i|^--i/.test(word))) return [];
  const brings = /^(?:-[a-zA-Z]*[ef]|--expression|--file)$/;
  const files = words.filter((word, index) => !word.startsWith("-") && !brings.test(words[index - 1] ?? ""));
  return words.some((word) => brings.test(word) || /^--(?:expression|file)=|^-e./.test(word)) ? files : files.slice(1);
}

function dd(rest: readonly string[]): NamedFiles {
  const value = (key: string) => rest.flatMap((word) => (word.startsWith(key) ? [word.slice(key.length)] : []));
  return { named: [...value("if="), ...value("of=")], written: value("of=") };
}

/** The target, and what a source would be called in it; for `mv` the sources are changed too. */
function copied(name: string, rest: readonly string[]): NamedFiles {
  const { folder, files } = landingFolder(name, rest);
  const target = folder ?? (files.length > 1 ? files.at(-1) : undefined);
  const sources = folder === undefined && files.length > 1 ? files.slice(0, -1) : files;
  const remote = name === "rsync" || name === "scp" ? /^[^/]*:/ : /^$/;
  const landing =
    target === undefined
      ? sources.map(baseOf)
      : [target, ...sources.map((source) => `${target.replace(/\/+$/, "")}/${baseOf(source)}`)];
  const here = (paths: readonly string[]) => paths.filter((path) => path !== "" && !remote.test(path));
  const named = here([...files, ...(folder === undefined ? [] : [folder])]);
  return { named, written: here([...landing, ...(name === "mv" || name === "install" ? sources : [])]) };
}
/** The folder that `-t` names, in any spelling, and the words that are no option and no value of one. */
function landingFolder(
  name: string,
  rest: readonly string[],
): { readonly folder: string | undefined; readonly files: readonly string[] } {
  const { odd, values } = readOptions(Object.hasOwn(optionTable, name) ? (optionTable[name] ?? {}) : {}, rest);
  const known = values.find(({ option }) => /^(?:-t|--target-directory)$/.test(option));
  const spelled = odd.find((at) => /^(?:-[a-zA-Z]*t|--t[a-z-]*)$/.test(rest[at] ?? ""));
  const oddWords = odd.map((at) => rest[at] ?? "");
  const taken = new Set(values.flatMap((one) => (one.in === one.at ? [] : [one.in])));
  if (known === undefined && spelled !== undefined) taken.add(spelled + 1);
  const folder =
    known?.value ??
    (spelled === undefined ? joinedValue(oddWords, /^(?:--t[a-z-]*=|-[a-su-zA-Z]*t(?=.))/) : rest[spelled + 1]);
  return { folder, files: operands(rest.filter((_, at) => !taken.has(at))) };
}
function baseOf(path: string): string {
  return programName(path.replace(/\/+$/, ""));
}

/** `git mv`, `rm`, `checkout`, `restore`: the files they name change; a name given to a new branch is none. */
function gitFiles(rest: readonly string[]): readonly string[] {
  const at = rest.findIndex((word, index) => !word.startsWith("-") && !/^-[cC]$/.test(rest[index - 1] ?? ""));
  const command = rest[at] ?? "";
  const words = rest.slice(at + 1);
  if (command === "mv") return copied("mv", words).written;
  if (command === "bundle") return words[0] === "create" ? operands(words.slice(1)).slice(0, 1) : [];
  if (!/^(?:rm|checkout|restore|init|clone|worktree|archive)$/.test(command)) return [];
  const taken = words.flatMap((word, index) => (command === "checkout" && word === "-b" ? [index + 1] : []));
  const files = operands(words.filter((_, index) => !taken.includes(index))).filter((word) => !word.includes("://"));
  return command === "checkout" && /^(?:HEAD|@)$/.test(files[0] ?? "") ? files.slice(1) : files;
}

function withOutputs(run: readonly string[], files: readonly string[]): NamedFiles {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  const option = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
  if (option === undefined) return files.length === 0 ? none : both(files);
  const found = rest.flatMap((word, at) => {
    const [key = "", ...value] = word.split("=");
    if (value.length > 0 && word.startsWith("--")) return option.test(key) ? [value.join("=")] : [];
    if (option.test(word)) return rest[at + 1] === undefined ? [] : [rest[at + 1] ?? ""];
    // `-ofile`, for options of one letter.
    const short = /^(-[a-zA-Z])(.+)$/.exec(word);
    return short !== null && option.test(short[1] ?? "") && !word.startsWith("--") && name !== "find"
      ? [short[2] ?? ""]
      : [];
  });
  const joined = name === "find" ? [] : valuesOf(run).flatMap((one) => (option.test(one.option) ? [one.value] : []));
  return both([...new Set([...files, ...found, ...joined])].filter((path) => path !== "-"));
}
function joinedValue(rest: readonly string[], joined: RegExp): string | undefined {
  return rest.find((word) => joined.test(word))?.replace(joined, "");
}

/** Letters in any order, joined or apart; long options in any abbreviation that still tells them apart. */
function hasOption(words: readonly string[], letters: RegExp, ...longs: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end < 0 ? words : words.slice(0, end)).some((word) =>
    word.startsWith("--")
      ? word.length > 2 && longs.some((long) => long.startsWith(word))
      : word.startsWith("-") && letters.test(word),
  );
}
const destroyers = /^(?:rm|unlink|shred|rmdir)$/;

/** Whether the run removes a tree by force. `runs` are the layers around it, the outermost first. */
export function removesTree(runs: readonly (readonly string[])[]): readonly string[] | null {
  const found = runs.find((run) => removesByItself(run));
  if (found !== undefined) return found;
  // What `find` hands to a program that removes is a tree, whatever that program's own options.
  const finds = runs.findIndex((run) => /^(?:find|gfind|fd)$/.test(programName(run[0] ?? "")) && findsDeep(run));
  const inside =
    finds < 0 ? undefined : runs.slice(finds + 1).find((run) => destroyers.test(programName(run[0] ?? "")));
  return inside === undefined ? null : (runs[finds] ?? null);
}
function removesByItself(run: readonly string[]): boolean {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  if (name === "rm") return hasOption(rest, /[rR]/, "--recursive") && hasOption(rest, /f/, "--force");
  if (name === "find" || name === "gfind") return rest.includes("-delete") && findsDeep(rest);
  if (name === "rsync") return rest.some((word) => /^--(?:del|remove)/.test(word));
  // What an archiver took in, it removes.
  if (/^(?:bsd|g|s)?tar$/.test(name)) return rest.some((word) => /^--rem/.test(word));
  if (name === "zip") return hasOption(rest, /m/, "--move") && hasOption(rest, /[rR]/, "--recurse-paths");
  if (/^7z[arz]?$/.test(name)) return rest.includes("-sdel");
  if (name !== "git") return false;
  const at = rest.findIndex((word, index) => /^(?:clean|rm)$/.test(word) && !/^-[cC]$/.test(rest[index - 1] ?? ""));
  const options = rest.slice(at + 1);
  if (at < 0 || hasOption(options, /n/, "--dry-run")) return false;
  // What git does not know is gone for good; a bare `git clean -f` leaves folders alone.
  if (rest[at] === "clean") return hasOption(options, /f/, "--force") && hasOption(options, /[dxX]/);
  return hasOption(options, /r/) && hasOption(options, /f/, "--force") && !options.includes("--cached");
}
