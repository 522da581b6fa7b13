/**
 * Programs that run code their words do not show, or show as text in another language: interpreters, build
 * tools, package runners, what unpacks or fetches files, ordinary programs by any option not known to be harmless,
 * and every program nobody listed. Opaque is not forbidden: a grant that names the command runs it; nothing else
 * counts it as known. [SH-40] [SH-43] [SH-50] [SH-54] [SH-56]
 */
import { findWords } from "./shell-find.ts";
import { gitWords } from "./shell-git.ts";
import { harmlessOf } from "./shell-known.ts";
import { optionTable } from "./shell-option-table.ts";
import { type Harmless, readOptions } from "./shell-options.ts";
import type { Peeled } from "./shell-peeled.ts";
import { installed, notHarmless, readsInputHere, withoutVersion, wordsIn } from "./shell-peeled.ts";
import { codeWords, readsInput } from "./shell-runner-code.ts";
import { awkWords, sedWords } from "./shell-text-programs.ts";

const interpreters = wordsIn(`
  python pypy node nodejs deno bun perl ruby php lua luajit tclsh wish expect Rscript R julia ghc runghc
  groovy scala kotlin java jshell dotnet osascript tsx ts-node swipl guile racket sbcl erl elixir iex ocaml
  pwsh powershell irb
`);
const runners = wordsIn(`
  npm npx yarn pnpm pnpx bunx corepack uv uvx pipx pip poetry pipenv pdm make gmake ninja cmake ctest bazel
  meson scons just task rake gradle gradlew mvn mvnw ant sbt lein cargo rustc go bundle bundler gem composer
  mix cabal stack tox nox pytest unittest jest vitest mocha ava playwright cypress karma webpack vite rollup
  gulp grunt eslint prettier biome tsc turbo nx lerna rspec phpunit nodemon concurrently pre-commit husky
  lint-staged act direnv dotenv conda docker docker-compose podman buildah nerdctl kubectl helm vagrant
  terraform ansible ssh sftp mosh rsh telnet socat nc ncat netcat openssl gpg wrangler parallel watch script
  flock su runuser setpriv gosu su-exec pkexec unshare nsenter systemd-run systemctl service start-stop-daemon
  run-parts at batch crontab screen tmux dtach xvfb-run dbus-run-session xterm xdg-open open entr inotifywait
  hyperfine perf gdb lldb valgrind rr bpftrace prlimit torsocks proxychains firejail bwrap eatmydata vi vim
  nvim view ex ed emacs nano pico less more most man info sqlite3 psql mysql mongo mongosh redis-cli gcc g++
  cc c++ clang clang++ ld as apt apt-get dpkg yum dnf rpm apk pacman brew snap insmod modprobe ldconfig gh
  glab hub aws gcloud az fish_indent m4 cpp bc dc tclsh jq rundll32 cmd cmd.exe wsl rvim vimdiff vim.tiny vim.basic
  man prove choom ssh-agent logrotate latex pdflatex xelatex lualatex tex ctags etags cscope prisma alembic
`);
/** Each writes files that an archive, a patch or another machine names: the program itself stands in the grant. */
const unpackers = wordsIn(`
  patch gpatch unzip bsdunzip funzip cpio bsdcpio pax ar jar 7z 7za 7zr 7zz p7zip unar unrar unace unarj unsquashfs
  rpm2cpio dpkg-deb uudecode ripmime munpack shar unshar lha arj zoo cabextract innoextract debugfs
`);
/** `jq` and `bc` run no program, but read files and the environment by their text. */
const textOnly: readonly string[] = ["jq", "bc"];

/** Whatever else of their words makes a program of another machine run. */
const remote = /:/;
/** Of a listed program, alone, they only tell; the letter is another option to most. */
const telling = /^--(?:version|help)$/;
const tellingLetters = /^(?:node|nodejs|npm|yarn|pnpm|perl|ruby|php|make|gmake) -[vV]$/;

export function hiddenCode(name: string, words: readonly string[]): Peeled {
  const rest = words.slice(1);
  const plain = withoutVersion(name);
  if (/^ld(?:-linux.*)?(?:\.so.*)?$/.test(name)) return { opaque: "it loads a program" };
  if (!installed.test(words[0] ?? "")) return { opaque: "it runs a program that is a file", code: [words[0] ?? ""] };
  if (onlyTells(name, rest)) return {};
  if (name === "find" || name === "gfind" || name === "fd") return findWords(name, words);
  if (name === "git") return gitWords(rest);
  if (name === "sed" || name === "gsed") return sedWords(rest);
  if (/^[gmno]?awk$/.test(name)) return awkWords(rest);
  if (unpackers.includes(name) || unpackers.includes(plain))
    return { opaque: `what ${plain} writes is not in its words`, code: words.slice(0, 1) };
  const unpacking = unpackingWords(name, words);
  if (unpacking !== null) return unpacking;
  if (plain === "bun" || plain === "deno")
    return rest.every((word) => word.startsWith("-")) || readsInputHere(rest)
      ? { dynamic: true, opaque: `${plain} runs what its input holds`, code: rest }
      : { opaque: `what ${plain} runs is not in its words`, code: codeWords(plain, rest) };
  if (interpreters.includes(plain)) return interpreted(plain, rest);
  if (isRunner(name) || isRunner(plain)) {
    if (textOnly.includes(plain)) return rest.length === 0 ? { opaque: "it reads a program from its input" } : {};
    const code = codeWords(plain, rest);
    if (readsInput(plain, rest) || readsInputHere(rest))
      return { dynamic: true, opaque: `${plain} runs what its input holds`, code };
    return { opaque: `what ${plain} runs is not in its words`, code };
  }
  const by = optionCode(name, rest);
  if (by.length > 0) return { opaque: notHarmless(by), code: by };
  return harmlessOf(name) !== undefined ? {} : { opaque: unlisted };
}
function onlyTells(name: string, rest: readonly string[]): boolean {
  if (rest.length !== 1) return false;
  if (tellingLetters.test(`${name} ${rest[0] ?? ""}`)) return true;
  const listed = [name, withoutVersion(name)].some((one) => isRunner(one) || interpreters.includes(one));
  return telling.test(rest[0] ?? "") && (listed || Object.hasOwn(optionTable, name) || name === "git");
}
/** Why a program nobody listed is opaque. A grant that names it runs it, with any words. */
export const unlisted = "what it runs and writes is not known";

/** The options of the words that the program is not known to take without harm. */
export function oddOptions(harmless: Harmless, rest: readonly string[]): readonly string[] {
  return readOptions(harmless, rest).odd.map((at) => rest[at] ?? "");
}
function optionCode(name: string, rest: readonly string[]): readonly string[] {
  const harmless = harmlessOf(name);
  if (harmless === undefined) return [];
  const odd = oddOptions(harmless, rest);
  return /tar$/.test(name) ? [...odd, ...rest.filter((word) => remote.test(word))] : odd;
}

const bringing = "it writes files that its words do not name";
/** `tar x`, a copy from another machine, a download named by its address: the words that make it so. */
function unpackingWords(name: string, words: readonly string[]): Peeled | null {
  const rest = words.slice(1);
  const code = bringingWords(name, words, rest);
  return code.length === 0 ? null : { opaque: bringing, code: [...code, ...optionCode(name, rest)] };
}
function bringingWords(name: string, words: readonly string[], rest: readonly string[]): readonly string[] {
  if (/^(?:bsd|g|s)?tar$/.test(name))
    // The first word needs no dash; a letter after one that takes a value belongs to the value.
    return rest.filter(
      (word, at) =>
        /^--(?:ext|get)|^-[^-fbCTXIKNLVHgFP]*x/.test(word) || (at === 0 && /^[a-zA-Z]*x[a-zA-Z]*$/.test(word)),
    );
  if (/^(?:rsync|scp|rcp)$/.test(name))
    return rest
      .filter((word) => !word.startsWith("-"))
      .slice(0, -1)
      .filter((word) => /^[^/]*:/.test(word));
  // `#1` in a file's name stands for what braces and brackets of the address are.
  if (name === "curl")
    return rest.filter(
      (word) => /^-[a-zA-Z#]*[OJ]|^--remote-(?:n|h)/.test(word) || (!/:\/\//.test(word) && /#\d/.test(word)),
    );
  if (name !== "wget") return [];
  const { values } = readOptions(harmlessOf(name) ?? {}, rest);
  const named =
    values.some(({ option }) => option === "-O") || rest.some((word) => /^--output-d|^--spider$/.test(word));
  return named ? [] : words.slice(0, 1);
}

function isRunner(name: string): boolean {
  return runners.includes(name);
}
const takesCode = /^-[a-zA-Z0-9]*[ceErpmMIRf]$|^--(?:eval|print|require|import|loader|experimental-loader|env-file)$/;
/** Options before the script decide what runs; without a script or code it reads its input. */
function interpreted(name: string, rest: readonly string[]): Peeled {
  const code: string[] = [];
  let brings = false;
  let at = 0;
  for (let word = rest[at]; word?.startsWith("-") === true; word = rest[at]) {
    at++;
    if (word === "-" || word === "--") break;
    code.push(word);
    if (!takesCode.test(word)) {
      if (/^-[a-zA-Z0-9]*[ceErpmM]|^--(?:eval|print|test|import)/.test(word)) brings = true;
      continue;
    }
    brings = true;
    const value = rest[at];
    if (value !== undefined) code.push(value);
    at++;
    // `-m pytest`: what follows is the module's, under its own name.
    if (/^-[a-zA-Z]*m$/.test(word) && /^py/.test(name)) {
      if (value !== undefined && isRunner(value)) code.push(...codeWords(value, rest.slice(at)));
      break;
    }
  }
  const file = rest[at];
  if ((file === undefined && !brings) || readsInputHere(rest))
    return { dynamic: true, opaque: `${name} runs what its input holds`, code };
  return { opaque: `what ${name} runs is not in its words`, code };
}
