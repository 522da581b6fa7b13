/** Ordinary programs: what their words say is all they do, and which of them only read. [SH-56] [SH-57] */
import { findChanges } from "./shell-find.ts";
import { gitKeepsFiles } from "./shell-git.ts";
import { optionTable } from "./shell-option-table.ts";
import { type Harmless, readOptions } from "./shell-options.ts";
import { installed, programName, wordsIn } from "./shell-peeled.ts";

/** They change no file that their words name. */
const readers = new Set(
  wordsIn(`
    : [ arch ag b2sum base32 base64 basename basenc bzcat bzgrep cal cat cd cksum cmp column comm cut df diff dir dirname
    dirs du echo egrep expand expr factor false fd fgrep file find fmt fold free getconf getent git grep groups
    head hexdump hostid id jobs join jq kill locale logname look ls lsblk lsof md5sum nl nproc numfmt od
    paste pathchk pgrep pinky popd pr printenv printf ps pushd pwd readlink realpath rev rg seq sha1sum sha224sum sha256sum
    sha384sum sha512sum shasum sleep stat strings sum tac tail test tr tree true tsort tty type uname unexpand
    uptime users vdir wait wc which whereis who whoami xzcat yes zcat zgrep zstdcat
  `),
);
/** They change what their words name, as `filesOf` tells, and nothing else. */
const writers = new Set(
  wordsIn(`
    bunzip2 bzip2 brotli chattr chgrp chmod chown cp csplit dd dos2unix gunzip gzip install link ln lz4 lzma mkdir mkfifo
    mknod mktemp mv rm rmdir setfacl shred sponge sync tee touch truncate uncompress uniq unix2dos unlink
    unlz4 unlzma unxz unzstd xxd xz zstd
  `),
);
/** Words of the shell that stand where a program does. */
const shellWords = new Set(
  wordsIn(`
    bg break caller command continue disown exit fg logout return shift suspend times ulimit umask
  `),
);

export function isPlainProgram(name: string): boolean {
  return readers.has(name) || writers.has(name) || shellWords.has(name);
}

const none: Harmless = {};
/** Of an ordinary program that has no entry every option is odd; undefined for one that nobody listed. */
export function harmlessOf(name: string): Harmless | undefined {
  if (Object.hasOwn(optionTable, name)) return optionTable[name];
  return isPlainProgram(name) ? none : undefined;
}

/** Whether the run changes no file that its words name; an option not known to be harmless may. */
export function onlyReads(run: readonly string[]): boolean {
  const name = programName(run[0] ?? "");
  if (!readers.has(name) || !installed.test(run[0] ?? "")) return false;
  if (name === "git") return gitKeepsFiles(run.slice(1));
  // What it writes is told by `filesOf`, as is where it starts to remove or to run something.
  if (name === "find") return !findChanges(run);
  return readOptions(harmlessOf(name) ?? none, run.slice(1)).odd.length === 0;
}
