/**
 * Entry of the local sandbox host. Configured by its environment only; prints one line of JSON when it listens.
 * Given a pipe as its input it ends when the other end closes, so that it never outlives a program that asks for that.
 */
import { closeSync, existsSync, fstatSync, readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { readConfig } from "./config.ts";
import { watchDisk } from "./disk.ts";
import { writeGitConfig } from "./git.ts";
import { Host } from "./host.ts";
import { serve } from "./server.ts";
import { takeStage } from "./stage.ts";

function main(): void {
  process.umask(0o022);
  closeInherited();
  const config = readConfig(process.env);
  takeStage(config);
  for (const name of ["SANDBOX_SECRET", "SANDBOX_STAGE"]) delete process.env[name]; // No process it starts needs it.
  const host = new Host(config);
  writeGitConfig(host);
  const server = serve(host);
  server.once("error", (error) => stop(`the sandbox host cannot listen on port ${config.port}: ${error.message}`));
  server.listen(config.port, config.address, () => {
    // An address of a TCP server that listens is never a path.
    host.port = (server.address() as AddressInfo).port;
    watchDisk(host);
    console.log(JSON.stringify({ ready: true, port: host.port }));
  });
  // Every sandbox dies with its host; what ran is answered as `unknown` by the next one.
  if (fstatSync(0).isFIFO() || fstatSync(0).isSocket()) process.stdin.resume().once("end", () => process.exit(0));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(0));
}

/** Files the starting program left open would be open in every sandbox too. Node's own are marked to end at a start. */
function closeInherited(): void {
  if (!existsSync("/proc/self/fdinfo")) return;
  for (const name of readdirSync("/proc/self/fdinfo")) {
    const path = `/proc/self/fdinfo/${name}`;
    if (Number(name) <= 2 || !existsSync(path)) continue;
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(readFileSync(path, "utf8"))?.[1] ?? "0", 8);
    if ((flags & closeOnExec) === 0) closeSync(Number(name));
  }
}
const closeOnExec = 0o2000000;

function stop(line: string): never {
  console.error(line);
  process.exit(1);
}

try {
  main();
} catch (thrown) {
  stop(thrown instanceof Error ? thrown.message : String(thrown));
}
