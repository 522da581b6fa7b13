/** The wrappers whose options are known, each as data. An option that is not listed makes the use of it unknown. [SH-6] */

export interface Wrapper {
  /** Options that stand alone. Letters may be joined. */
  readonly flags: string;
  /** Options whose value is the rest of the word or the next word. */
  readonly valued: string;
  readonly long?: readonly string[];
  readonly longValued?: readonly string[];
  /** Words of its own before the program. */
  readonly operands?: number;
  /** `NAME=value` words may stand before the program. */
  readonly sets?: boolean;
  /** A lone `-` is an option. */
  readonly dash?: boolean;
  /** Letters with which it runs nothing and only tells. */
  readonly looks?: string;
  /** It takes a text that it splits into words: `env -S`. */
  readonly split?: boolean;
  /** Options that put input into the middle of the words. */
  readonly replacing?: readonly string[];
  /** It adds words from its input. */
  readonly open?: boolean;
  /** It always runs the program in another directory; or with these letters. */
  readonly moves?: boolean;
  readonly movesBy?: string;
  /** It runs more than its words show, whatever they are. */
  readonly opaque?: string;
}

const alone: Wrapper = { flags: "", valued: "" };
const elsewhere = "it runs the program in another place or as somebody else";

export const wrappers: Readonly<Record<string, Wrapper>> = {
  sudo: {
    ...{ flags: "nEHSbkKPAB", valued: "ugpChUDrtTR", movesBy: "DR", sets: true, opaque: elsewhere },
    long: ["--non-interactive", "--preserve-env", "--background", "--set-home", "--stdin"],
    longValued: ["--user", "--group", "--chdir", "--host", "--prompt"],
  },
  doas: { flags: "nL", valued: "uC", opaque: elsewhere },
  env: {
    ...{ flags: "i0v", valued: "uC", movesBy: "C", sets: true, dash: true, split: true },
    long: ["--ignore-environment", "--null", "--debug"],
    longValued: ["--unset", "--chdir"],
  },
  command: { flags: "p", valued: "", looks: "vV" },
  builtin: alone,
  exec: { flags: "cl", valued: "a" },
  nohup: alone,
  setsid: { flags: "cfw", valued: "", long: ["--ctty", "--fork", "--wait"] },
  time: { flags: "pvaq", valued: "fo", long: ["--portability", "--verbose", "--append", "--quiet"] },
  nice: { flags: "0123456789", valued: "n", longValued: ["--adjustment"] },
  ionice: { flags: "t", valued: "cn", long: ["--ignore"], longValued: ["--class", "--classdata"] },
  chrt: { flags: "abfiorRmv", valued: "TPD", operands: 1 },
  taskset: { flags: "a", valued: "", operands: 1 },
  stdbuf: { flags: "", valued: "ioe", longValued: ["--input", "--output", "--error"] },
  timeout: {
    ...{ flags: "v", valued: "ks", operands: 1 },
    long: ["--foreground", "--preserve-status", "--verbose"],
    longValued: ["--signal", "--kill-after"],
  },
  xargs: {
    ...{ flags: "0rtpx", valued: "nLPdEsa", open: true, replacing: ["-I", "-i", "-J", "--replace"] },
    long: ["--null", "--no-run-if-empty", "--verbose", "--exit"],
    longValued: ["--max-args", "--max-procs", "--max-lines", "--max-chars", "--delimiter", "--arg-file", "--eof"],
  },
  busybox: alone,
  toybox: alone,
  chroot: {
    flags: "",
    valued: "",
    operands: 1,
    moves: true,
    opaque: elsewhere,
    longValued: ["--userspec", "--groups"],
  },
  setarch: { flags: "vR", valued: "", opaque: elsewhere },
  unbuffer: { flags: "p", valued: "" },
  fakeroot: alone,
  strace: { flags: "fFvqcCdi", valued: "eopPsSuE", opaque: "it writes what it saw" },
  ltrace: { flags: "fSc", valued: "eopsu", opaque: "it writes what it saw" },
  "cross-env": { flags: "", valued: "", sets: true },
  nocorrect: alone,
  noglob: alone,
};
