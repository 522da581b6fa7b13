/**
 * Programs that run code their words do not show, or show as text in another language: interpreters, build
 * tools, package runners, what unpacks or fetches files, and ordinary programs by some of their options. Opaque
 * is not forbidden: a grant that names the command runs it; nothing else counts it as known. [SH-40] [SH-43] [SH-50]
 */
import { findWords } from "./shell-find.ts";
import { gitWords } from "./shell-git.ts";
import type { Peeled } from "./shell-peeled.ts";
import { withoutVersion, wordsIn } from "./shell-peeled.ts";
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
  glab hub aws gcloud az fish_indent m4 cpp bc dc tclsh jq yq rundll32 cmd cmd.exe wsl
`);
/** Each runs the program that its words name somewhere: no wildcard stands for any of them. */
const launchers = wordsIn(`
  parallel watch script flock su runuser setpriv gosu su-exec pkexec unshare nsenter systemd-run start-stop-daemon
  run-parts at batch crontab screen tmux dtach xvfb-run dbus-run-session xterm entr inotifywait hyperfine perf gdb
  lldb valgrind rr bpftrace prlimit torsocks proxychains firejail bwrap eatmydata ssh mosh rsh docker docker-compose
  podman nerdctl kubectl nodemon concurrently act dotenv direnv wsl cmd cmd.exe
`);
/** Each writes files that an archive, a patch or another machine names: the program itself stands in the grant. */
const unpackers = wordsIn(`
  patch gpatch unzip bsdunzip funzip cpio bsdcpio pax ar jar 7z 7za 7zr 7zz p7zip unar unrar unace unarj unsquashfs
  rpm2cpio dpkg-deb uudecode ripmime munpack shar unshar lha arj zoo cabextract innoextract debugfs
`);
/** Each runs the package that its first operand names. */
const packageRunners = wordsIn("npx pnpx bunx uvx pipx");
/** Words of a runner that stand for a command, a script or a setting: a wildcard never stands for one. */
const runnerCode =
  /^(?:exec|x|dlx|explore|config|set|pkg|eval|run-script|--?c|--call(?:=.*)?|--script-shell.*|--node-options.*|--prefix.*|--userconfig.*|--globalconfig.*|--package(?:=.*)?|--eval(?:=.*)?|--config(?:=.*)?|[A-Za-z_]\w*=.*|-f|--file(?:=.*)?|--makefile(?:=.*)?|-toolexec.*|-exec.*|--require(?:=.*)?|-r|-o.*)$/;
/** `jq`, `bc` and their like run no program, but read files and the environment by their text. */
const textOnly: readonly string[] = ["jq", "yq", "bc", "dc"];

/** Ordinary programs that run another program by these options. */
const byOption: Readonly<Record<string, RegExp>> = {
  tar: /^--(?:ch|to-c|us|rs|rm|in|ne|abs).*|^-[a-zA-Z]*[IFP].*|^[a-zA-Z]*[IFP][a-zA-Z]*$|:/,
  bsdtar: /^--use.*|^-[a-zA-Z]*[I].*/,
  rsync: /^-[a-zA-Z]*e.*|^--rs.*|^--(?:daemon|config|files-from|log-file).*/,
  scp: /^-[a-zA-Z0-9]*[SoFJ].*/,
  sort: /^--(?:comp|files0).*/,
  split: /^--filt.*/,
  zip: /^-[a-zA-Z]*T.*|^--unz.*/,
  curl: /^-[a-zA-Z]*K.*|^--(?:config|unix|abstract|eng|proto|resolve|connect-to|doh|alt-svc|hsts|netrc).*/,
  wget: /^-[a-zA-Z]*[ei].*|^--(?:exec|use-ask|config|input).*/,
  date: /^-[a-zA-Z]*[sf].*|^--(?:set|file).*/,
};
const versionOnly: readonly string[] = ["--version", "-v", "-V", "--help", "-h"];
/** A program of the workspace is whatever the agent wrote there. */
const installed = /^(?:[^/]+|\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+)$/;

export function hiddenCode(name: string, words: readonly string[]): Peeled {
  const rest = words.slice(1);
  const plain = withoutVersion(name);
  if (/^ld(?:-linux.*)?(?:\.so.*)?$/.test(name)) return { opaque: "it loads a program" };
  if (!installed.test(words[0] ?? "")) return { opaque: "it runs a program that is a file", code: [words[0] ?? ""] };
  if (rest.length === 1 && versionOnly.includes(rest[0] ?? "")) return {};
  if (name === "find" || name === "gfind" || name === "fd") return findWords(name, words);
  if (name === "git") return gitWords(rest);
  if (name === "sed" || name === "gsed") return sedWords(rest);
  if (/^[gmno]?awk$/.test(name)) return awkWords(rest);
  if (unpackers.includes(name) || unpackers.includes(plain))
    return { opaque: `what ${plain} writes is not in its words`, code: words.slice(0, 1) };
  const unpacking = unpackingWords(name, words);
  if (unpacking !== null) return unpacking;
  if (interpreters.includes(plain)) return interpreted(plain, rest);
  if (runners.includes(name) || runners.includes(plain)) {
    if (textOnly.includes(plain)) return rest.length === 0 ? { opaque: "it reads a program from its input" } : {};
    return { opaque: `what ${plain} runs is not in its words`, code: codeWords(plain, rest) };
  }
  const by = optionCode(name, rest);
  return by.length === 0 ? {} : { opaque: `"${(by[0] ?? "").slice(0, 40)}" makes it run another program`, code: by };
}

function optionCode(name: string, rest: readonly string[]): readonly string[] {
  const option = Object.hasOwn(byOption, name) ? byOption[name] : undefined;
  return option === undefined ? [] : rest.filter((word) => option.test(word));
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
  if (name === "curl") return rest.filter((word) => /^-[a-zA-Z#]*[OJ]|^--remote-(?:n|h)/.test(word));
  const named = rest.some((word) => /^-[a-zA-Z]*O|^--output-d|^--spider$/.test(word));
  return name === "wget" && !named ? words.slice(0, 1) : [];
}

function codeWords(name: string, rest: readonly string[]): readonly string[] {
  if (launchers.includes(name)) return rest;
  const values = new Set<string>();
  if (packageRunners.includes(name)) {
    const first = rest.findIndex((word) => !word.startsWith("-"));
    for (const word of rest.slice(0, first < 0 ? undefined : first + 1)) values.add(word);
  }
  rest.forEach((word, at) => {
    if (!runnerCode.test(word) || (name === "make" && /^-o.*/.test(word))) return;
    values.add(word);
    const next = rest[at + 1];
    if (/^-/.test(word) && !word.includes("=") && next !== undefined) values.add(next);
  });
  return [...values];
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
  }
  const file = rest[at];
  if ((file === undefined && !brings) || rest.includes("-"))
    return { dynamic: true, opaque: `${name} runs what its input holds`, code };
  return { opaque: `what ${name} runs is not in its words`, code };
}
