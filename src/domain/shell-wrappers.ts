/** Programs that run another program: what stands behind `sudo`, `env`, `timeout`, `sh -c` and their like. [SH-*] */

export interface Unwrapped {
  /** The words as given, then those of each program inside. */
  readonly layers: readonly (readonly string[])[];
  /** Scripts that would be read as shell source. */
  readonly scripts: readonly string[];
  /** A wrapper is used in a way that is not known here: what it runs is not known. */
  readonly opaque: boolean;
}

interface Wrapper {
  /** Options that stand alone. Letters may be joined. */
  readonly flags: string;
  /** Options whose value is the next word. */
  readonly valued: string;
  readonly long?: readonly string[];
  readonly longValued?: readonly string[];
  /** Words of its own before the program. */
  readonly operands?: number;
  /** `NAME=value` words may stand before the program. */
  readonly sets?: boolean;
}

const wrappers: Record<string, Wrapper> = {
  sudo: {
    flags: "nEHSbkKPA",
    valued: "ugpChUDrtTR",
    sets: true,
    long: ["--non-interactive", "--preserve-env"],
    longValued: ["--user", "--group"],
  },
  doas: { flags: "nL", valued: "uC" },
  env: { flags: "i0v", valued: "uC", sets: true, long: ["--ignore-environment"], longValued: ["--unset", "--chdir"] },
  command: { flags: "p", valued: "" },
  builtin: { flags: "", valued: "" },
  exec: { flags: "cl", valued: "a" },
  nohup: { flags: "", valued: "" },
  setsid: { flags: "cfw", valued: "" },
  time: { flags: "pv", valued: "fo" },
  nice: { flags: "", valued: "n", longValued: ["--adjustment"] },
  ionice: { flags: "t", valued: "cnp" },
  stdbuf: { flags: "", valued: "ioe" },
  timeout: {
    flags: "v",
    valued: "ks",
    operands: 1,
    long: ["--foreground", "--preserve-status", "--verbose"],
    longValued: ["--signal", "--kill-after"],
  },
  xargs: {
    flags: "0rtpx",
    valued: "nLPIdEsa",
    long: ["--null", "--no-run-if-empty"],
    longValued: ["--max-args", "--max-procs", "--delimiter"],
  },
  busybox: { flags: "", valued: "" },
};
const shells: readonly string[] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];
const maxLayers = 8;

export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

export function unwrap(argv: readonly string[]): Unwrapped {
  const layers: (readonly string[])[] = [argv];
  for (let words = argv; layers.length <= maxLayers; ) {
    const name = programName(words[0] ?? "");
    if (shells.includes(name)) return { layers, ...shellScript(words) };
    if (name === "eval") return { layers, scripts: [words.slice(1).join(" ")], opaque: false };
    const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
    if (wrapper === undefined) return { layers, scripts: [], opaque: false };
    const inner = behind(wrapper, words);
    if (inner === null) return { layers, scripts: [], opaque: true };
    if (inner.length === 0) return { layers, scripts: [], opaque: false };
    layers.push(inner);
    words = inner;
  }
  return { layers, scripts: [], opaque: true };
}

/** `sh -c script`: its script, the first word that is no option. A bare `sh` runs what cannot be read here. */
function shellScript(words: readonly string[]): { scripts: readonly string[]; opaque: boolean } {
  let at = 1;
  let fromWord = false;
  for (let word = words[at]; word !== undefined && /^[-+][a-z]+$/.test(word); word = words[at]) {
    at += word.includes("o") ? 2 : 1;
    if (word.startsWith("-") && word.includes("c")) fromWord = true;
  }
  const next = words[at];
  if (next === undefined || /^[-+]/.test(next)) return { scripts: [], opaque: true };
  return { scripts: fromWord ? [next] : [], opaque: false };
}

/** The words of the program behind a wrapper; null when an option is not known. */
function behind(wrapper: Wrapper, words: readonly string[]): readonly string[] | null {
  let at = 1;
  for (let word = words[at]; word?.startsWith("-") === true && word !== "-"; word = words[at]) {
    at++;
    if (word === "--") break;
    const step = optionWords(wrapper, word);
    if (step === null) return null;
    at += step;
  }
  if (wrapper.sets === true) while (/^[A-Za-z_]\w*=/.test(words[at] ?? "")) at++;
  return words.slice(at + (wrapper.operands ?? 0));
}

/** How many further words the option takes. */
function optionWords(wrapper: Wrapper, word: string): number | null {
  if (word.startsWith("--")) {
    const name = word.split("=")[0] ?? word;
    if (wrapper.long?.includes(name) === true) return 0;
    if (wrapper.longValued?.includes(name) === true) return word.includes("=") ? 0 : 1;
    return null;
  }
  for (let index = 1; index < word.length; index++) {
    const letter = word[index] ?? "";
    // The rest of the word is the value; with nothing left it is the next word.
    if (wrapper.valued.includes(letter)) return index === word.length - 1 ? 1 : 0;
    if (!wrapper.flags.includes(letter)) return null;
  }
  return 0;
}
