/** Redis and PostgreSQL for one run: on loopback, on the measured disk, at a port nobody else has. */
import { execFile, execFileSync } from "node:child_process";
import { chownSync, existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../../src/dev/worker.ts";
import { type Ground, output } from "../ground.ts";

const startsWithinMs = 30_000;
const installMs = 300_000;
export const howToInstall = "apt-get install redis-server postgresql";

/** As root on Debian the servers are installed; elsewhere the rows say how. They are not to run by themselves. */
export async function installServers(say: (line: string) => void): Promise<void> {
  if (redisBinary() !== null && postgresFolder() !== null) return;
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return;
  say(`installing the servers (${howToInstall})`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const apt = (...args: string[]) => promisify(execFile)("apt-get", args, { env, timeout: installMs });
  try {
    await apt("update");
    await apt("install", "-y", "--no-install-recommends", "redis-server", "postgresql");
  } catch {
    say("they could not be installed");
  }
}

export const redisBinary = (): string | null => output("sh", ["-c", "command -v redis-server"]);

/** The newest of Debian's, or the one on the path. */
export function postgresFolder(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(debian, version, "bin"))
    .find((bin) => existsSync(join(bin, "postgres")));
  return found ?? output("pg_config", ["--bindir"]);
}

export async function startRedis(ground: Ground, appendfsync: "always" | "everysec"): Promise<number> {
  const binary = redisBinary();
  if (binary === null) throw new Error("redis-server is not installed");
  const port = await freePort(0);
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir: ground.folder("redis"),
    appendonly: "yes",
    appendfsync,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  ground.spawn(`redis-${appendfsync}`, binary, [...args, "--save", "", "--maxmemory-policy", "noeviction"]);
  await listening(port, () => ground.tail(`redis-${appendfsync}`));
  return port;
}

/** PostgreSQL refuses to run as root: there it runs as the user its package made. */
export async function startPostgres(ground: Ground): Promise<number> {
  const bin = postgresFolder();
  if (bin === null) throw new Error("postgresql is not installed");
  const user = process.getuid?.() === 0 ? postgresUser() : null;
  const folder = ground.folder("postgres");
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const asUser = user ?? {};
  const data = join(folder, "data");
  const make = ["-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  execFileSync(join(bin, "initdb"), make, { ...asUser, cwd: folder, stdio: "pipe" });
  const port = await freePort(0);
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "on",
    synchronous_commit: "on",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  ground.spawn("postgres", join(bin, "postgres"), ["-D", data, ...args], { ...asUser, cwd: folder });
  await listening(port, () => ground.tail("postgres"));
  return port;
}

function postgresUser(): { uid: number; gid: number } {
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(output("id", [flag, "postgres"]) ?? Number.NaN));
  if (uid === undefined || gid === undefined || Number.isNaN(uid + gid)) throw new Error("there is no user postgres");
  return { uid, gid };
}

async function listening(port: number, tail: () => string): Promise<void> {
  const until = Date.now() + startsWithinMs;
  while (!(await accepts(port))) {
    if (Date.now() > until) throw new Error(`nobody listens on port ${port}: ${tail()}`);
    await sleep(50);
  }
}
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => done(true)).once("error", () => done(false));
  });
}
