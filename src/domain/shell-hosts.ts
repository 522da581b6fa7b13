/** Which hosts the words of a command name, in the ways the programs that speak to one take them. [POL-61] */
import { anyScheme, hostOf } from "./hosts.ts";
import { optionTable } from "./shell-option-table.ts";
import { readOptions } from "./shell-options.ts";
import { valuesOf } from "./shell-path-words.ts";
import { programName, withoutVersion } from "./shell-peeled.ts";

/** Programs that speak to what their words name. */
const network =
  /^(?:curl|wget|git|ssh|scp|sftp|rsync|nc|ncat|netcat|telnet|ftp|lftp|http|https|httpie|xh|aria2c|axel|lynx|links|w3m|socat|openssl|npm|npx|yarn|pnpm|pnpx|bun|bunx|deno|pip|pipx|uv|uvx|poetry|cargo|go|gem|bundle|composer|docker|podman|skopeo|svn|hg|ping|ping6|dig|nslookup|host|traceroute|whois|mosh|gh|aws|gcloud|kubectl|helm)$/;
/** Programs whose bare operands are hosts, and the options of theirs that take the next word. */
const bare: Readonly<Record<string, { readonly valued: RegExp; readonly most: number }>> = {
  curl: {
    valued:
      /^-[a-zA-Z#]*[oHXuAebcdFTmwYyzrQtCDEKPUh]$|^--(?:output|header|request|user|user-agent|referer|cookie|cookie-jar|data.*|json|form.*|upload-file|max-time|write-out|range|cert.*|key.*|cacert|capath|config|ciphers|retry.*|connect-timeout|limit-rate|speed-.*|time-cond|trace.*|stderr|dump-header|output-dir|interface|local-port|max-.*|netrc-file|noproxy|oauth2-bearer|parallel-max|pass|pinnedpubkey|proto.*|proxy-.*|quote|rate|resolve|tls.*|unix-socket|url-query|variable|create-file-mode|aws-sigv4|delegation|engine|expect100-timeout|happy-eyeballs.*|hostpubmd5|hsts|keepalive-time|krb|login-options|mail-.*|service-name)$/,
    most: 50,
  },
  wget: {
    valued:
      /^-[a-zA-Z]*[oOaiPtTUQlADRXIBewY]$|^--(?:output-.*|append-output|directory-prefix|header|post-.*|body-.*|method|user.*|password|http-.*|tries|timeout|wait|level|accept.*|reject.*|execute|referer|load-cookies|save-cookies|ca-.*|certificate|private-key|input-file|limit-rate|quota|base|domains|exclude-.*)$/,
    most: 50,
  },
  ssh: { valued: /^-[a-zA-Z0-9]*[bcDEeFIiJLlmOopQRSWw]$/, most: 1 },
  sftp: { valued: /^-[a-zA-Z0-9]*[BbcDFiJloPRSsX]$/, most: 1 },
  mosh: { valued: /^$/, most: 1 },
  telnet: { valued: /^-[belnSX]$/, most: 1 },
  ftp: { valued: /^-[NoPqrsTu]$/, most: 1 },
  nc: { valued: /^-[a-zA-Z]*[eghiIMmOPpqsTVwXx]$/, most: 1 },
  ncat: { valued: /^-[a-zA-Z]*[cegGiopswx]$/, most: 1 },
  ping: { valued: /^-[a-zA-Z]*[cFiIlmMpQsStTwW]$/, most: 1 },
  dig: { valued: /^-[bcfkmpqtxy]$/, most: 3 },
  nslookup: { valued: /^$/, most: 2 },
  host: { valued: /^-[cNRtWm]$/, most: 2 },
};
/** Options whose value is a host, whatever stands in it. */
const hostOption =
  /^(?:-x|--proxy|--preproxy|--socks\w*|--connect-to|--doh-url|--url|--registry|--index-url|-i|--extra-index-url|--host|-H|-J|-W|--dns-servers)$/;

export function hostsOf(run: readonly string[]): string[] {
  const name = withoutVersion(programName(run[0] ?? ""));
  if (!network.test(name)) return [];
  const rest = run.slice(1);
  const named = rest.flatMap((word, at) => [
    ...addressesIn(word),
    ...(takesHost(name, word) ? hostsIn(rest[at + 1]) : []),
    ...joined(name, word),
    ...remoteIn(name, word),
    ...packageIn(name, word),
  ]);
  return [...named, ...repositoryIn(name, rest), ...hiddenHosts(name, run), ...bareHosts(name, rest)];
}

/** By these another host is reached than the address says, or nobody can tell which. */
const elsewhere = /^(?:--resolve|--connect-to|--execute|--config|-K)$/;
function hiddenHosts(name: string, run: readonly string[]): string[] {
  if (name !== "curl" && name !== "wget") return [];
  const proxies = valuesOf(run).filter(({ option }) => name === "curl" && option === "-x");
  const globbed = name === "curl" && run.some((word) => /^[^/]*:\/\/[^/]*[{}]/.test(word));
  const hidden =
    globbed ||
    run.some((word) => elsewhere.test(word.split("=")[0] ?? "") || (name === "wget" && /^-(?!-)[a-zA-Z]*e/.test(word)));
  return [
    ...(hidden ? [""] : []),
    ...proxies.flatMap(({ value }) => (anyScheme.test(value) ? [hostOf(value)] : hostsIn(value))),
  ];
}

/** `https://x/y`, `--registry=https://x`, `git+ssh://x`, `dst=https://x`. */
function addressesIn(word: string): string[] {
  const at = /(?:^|[=,@'"(])((?:git\+)?[a-z][a-z0-9+.-]*:\/\/.*)$/is.exec(word)?.[1];
  return at === undefined ? [] : [hostOf(at)];
}
function takesHost(name: string, word: string): boolean {
  if (!hostOption.test(word)) return false;
  // Letters that mean something else to others.
  if (word === "-x" || word === "--url") return name === "curl";
  if (word === "-i") return /^pip/.test(name);
  if (word === "-H") return /^(?:docker|podman)$/.test(name);
  if (word === "-J" || word === "-W") return /^(?:ssh|scp|sftp)$/.test(name);
  return true;
}
function joined(name: string, word: string): string[] {
  const [key = "", ...value] = word.split("=");
  return value.length > 0 && word.startsWith("--") && takesHost(name, key) ? hostsIn(value.join("=")) : [];
}
/** `--connect-to` holds a from and a to; `-J` may hold several. An address with a scheme is found already. */
function hostsIn(value: string | undefined): string[] {
  if (value === undefined || anyScheme.test(value)) return [];
  const parts = value.split(/[,]|::?(?=\D)/).filter((part) => part !== "" && !/^\d{1,5}$/.test(part));
  return parts.map((part) => hostOf(part));
}

/** `user@host:path` and `host:path`, as git, scp and rsync take it; `rsync` also takes `host::module`. */
function remoteIn(name: string, word: string): string[] {
  if (anyScheme.test(word) || !/^(?:git|scp|rsync|sftp|mosh)$/.test(name)) return [];
  const host = /^(?:[\w.+-]+@)?(\[[\da-f:.]+\]|[^\s/@:=]+):(?!\\)/i.exec(word)?.[1];
  if (host === undefined || word.startsWith("-")) return [];
  // `git show HEAD:file` names no host; for the commands that reach one see below.
  if (name === "git" && !word.includes("@")) return [];
  return [hostOf(host)];
}
/** `git push host:path`: of what reaches another repository the first operand is one; `remote add` has a name before. */
function repositoryIn(name: string, rest: readonly string[]): string[] {
  if (name !== "git") return [];
  const at = rest.findIndex((word) => /^(?:push|fetch|pull|clone|ls-remote|remote)$/.test(word));
  if (at < 0) return [];
  const operands = rest.slice(at + 1).filter((word) => !word.startsWith("-"));
  const named = rest[at] === "remote" ? operands.slice(2, 3) : operands.slice(0, 1);
  return named
    .filter((word) => !anyScheme.test(word) && /^[^/:]+:(?!:)/.test(word))
    .map((word) => hostOf(word.replace(/:.*$/s, "")));
}

const packagers = /^(?:npm|npx|yarn|pnpm|pnpx|bun|bunx)$/;
const forges: Readonly<Record<string, string>> = {
  ...{ github: "github.com", gist: "gist.github.com", gitlab: "gitlab.com", bitbucket: "bitbucket.org" },
};
/** What stands before a colon there and names no host. */
const ofRegistry = /^(?:npm|jsr|workspace|file|link|portal|catalog|patch|exec|root)$/i;
/** A package from elsewhere: `https:x/y`, `github:owner/name`, `user@host:path`, each behind an alias too. */
function packageIn(name: string, word: string): string[] {
  if (!packagers.test(name) || word.startsWith("-") || anyScheme.test(word)) return [];
  const spec = word.replace(/^(?:@[\w.-]+\/)?[\w.-]+@(?=[a-z+]+:)/i, "");
  const [, scheme = "", rest = ""] = /^([a-z][a-z+]*):(.*)$/is.exec(spec) ?? [];
  const forge = Object.hasOwn(forges, scheme.toLowerCase()) ? forges[scheme.toLowerCase()] : undefined;
  if (forge !== undefined) return [forge];
  if (/^(?:git\+)?(?:https?|ssh|git|ftp)$/i.test(scheme)) return [hostOf(`https://${rest.replace(/^\/+/, "")}`)];
  const [, host = ""] = /^[\w.+-]+@([^\s/@:]+):/.exec(spec) ?? [];
  return host === "" || ofRegistry.test(host) ? [] : [hostOf(host)];
}

function bareHosts(name: string, rest: readonly string[]): string[] {
  const rule = Object.hasOwn(bare, name) ? bare[name] : undefined;
  if (rule === undefined) return [];
  const fetches = name === "curl" || name === "wget";
  const { values, text } = readOptions(fetches ? (optionTable[name] ?? {}) : {}, rest);
  const taken = new Set(values.filter((one) => one.in !== one.at).map((one) => one.in));
  // Behind an option that is not known a word may be its value.
  const known = new Set([...text, ...taken, rest.indexOf("--")]);
  const found: string[] = [];
  for (let at = 0; at < rest.length && found.length < rule.most; at++) {
    const word = rest[at] ?? "";
    if (word.startsWith("-") && word !== "-") {
      if (rule.valued.test(word)) at++;
      continue;
    }
    // An address with a scheme is found already.
    if (anyScheme.test(word) || taken.has(at)) continue;
    if (looksLikeHost(name, word)) found.push(hostOf(word.replace(/^@/, "")));
    else if (!/^-/.test(rest[at - 1] ?? "") || known.has(at - 1))
      found.push(plainName.test(word) ? word.toLowerCase() : "");
  }
  return found;
}
/** Where an option that is not known takes a value, that value is no host unless it looks like one. */
const plainName = /^[\w-]+$/;
function looksLikeHost(name: string, word: string): boolean {
  if (name !== "curl" && name !== "wget") return word !== "" && !/^[{<"]/.test(word);
  const authority = /^[^/?#]*/.exec(word)?.[0] ?? "";
  // Longer than any host: it has none that could be allowed.
  if (authority.length > 300) return true;
  return /^(?:[^\s:@]+(?::[^\s@]*)?@)?(?:\[[\da-f:.]+\]|localhost|\d+|0x[\da-f]+|[^\s:@]+\.[^\s:@]+)(?::\d+)?$/iu.test(
    authority,
  );
}
