/** What `npm`, `pip`, `cargo`, `go` and `apt` mean on this machine: the hosts its own configuration names. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Preset {
  /** Reached on port 443, wherever they are: whoever set up this machine chose them. */
  readonly hosts: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Environment that points the program's cache to a folder. */
  readonly cache: (folder: string) => Readonly<Record<string, string>>;
}
export const presetNames = ["npm", "pip", "cargo", "go", "apt"] as const;
type PresetName = (typeof presetNames)[number];
const known = new Map<PresetName, Promise<Preset>>();

/** Asked of the machine once; null when the word is no preset. */
export function preset(word: string): Promise<Preset> | null {
  const name = presetNames.find((each) => each === word);
  if (name === undefined) return null;
  const answer = known.get(name) ?? makers[name]();
  known.set(name, answer);
  return answer;
}

/** What each preset's word opens here. */
export async function presetHosts(): Promise<Record<string, string[]>> {
  const hosts = async (name: PresetName) => [...((await preset(name))?.hosts ?? [])].map((host) => host.toLowerCase());
  return Object.fromEntries(await Promise.all(presetNames.map(async (name) => [name, await hosts(name)] as const)));
}

const makers: Record<PresetName, () => Promise<Preset>> = {
  npm: async () => {
    const registry = (await said("npm", ["config", "get", "registry"])) ?? "";
    const cafile = await said("npm", ["config", "get", "cafile"]);
    const env: Record<string, string> = {
      npm_config_registry: registry,
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
    };
    if (cafile?.startsWith("/")) env.npm_config_cafile = cafile;
    return { hosts: hostsOf(registry), env, cache: (folder) => ({ npm_config_cache: folder }) };
  },
  pip: async () => {
    const builtIn =
      "from pip._internal.models.index import PyPI as p; print(p.simple_url, 'https://' + p.file_storage_domain)";
    const [index = "", ...files] = ((await said("python3", ["-c", builtIn])) ?? "").split(" ");
    const configured = (await said("pip3", ["config", "get", "global.index-url"])) ?? index;
    const env = { PIP_INDEX_URL: configured, PIP_DISABLE_PIP_VERSION_CHECK: "1" };
    return { hosts: [configured, ...files].flatMap(hostsOf), env, cache: (folder) => ({ PIP_CACHE_DIR: folder }) };
  },
  cargo: async () => ({ hosts: cargoHosts(), env: {}, cache: (folder) => ({ CARGO_HOME: folder }) }),
  go: async () => {
    const proxy = (await said("go", ["env", "GOPROXY"])) ?? "";
    const sums = (await said("go", ["env", "GOSUMDB"])) ?? "off";
    const hosts = [...proxy.split(/[,|]/), `https://${sums.split(/[+ ]/)[0]}`]
      .flatMap(hostsOf)
      .filter((name) => name !== "off");
    return { hosts, env: { GOPROXY: proxy, GOFLAGS: "-modcacherw" }, cache: (folder) => ({ GOMODCACHE: folder }) };
  },
  apt: async () => ({ hosts: aptHosts(), env: {}, cache: () => ({}) }),
};

/** What a program of the machine prints, null when it is not there or has no answer. */
async function said(program: string, args: string[]): Promise<string | null> {
  try {
    const { stdout } = await run(program, args, { cwd: "/", timeout: 15_000 });
    const text = stdout.trim();
    return text === "" || text === "null" || text === "undefined" ? null : text;
  } catch {
    return null;
  }
}

function hostsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const parsed = new URL(url);
  return parsed.protocol === "https:" && (parsed.port === "" || parsed.port === "443") ? [parsed.hostname] : [];
}

/** Cargo has no word for its own default: only what a configuration file names is known. */
function cargoHosts(): string[] {
  const file = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "config.toml");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return [...new Set(text.match(/https:\/\/[^\s"']+/g)?.flatMap(hostsOf) ?? [])];
}

function aptHosts(): string[] {
  const folder = "/etc/apt/sources.list.d";
  const files = [
    "/etc/apt/sources.list",
    ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []),
  ];
  const text = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8"));
  const hosts =
    text
      .join("\n")
      .match(/https:\/\/[^\s/]+\//g)
      ?.flatMap(hostsOf) ?? [];
  return [...new Set(hosts)];
}
