/**
 * Runs inside a sandbox that was given a way out: programs know proxies by TCP port only, so it listens on the
 * sandbox's own loopback and hands every connection to the host's unix socket. Then it runs the command.
 */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [socketPath = "", port = "", file = "", ...args] = process.argv.slice(2);
const server = createServer((client) => {
  const host = connect(socketPath);
  client.on("error", () => host.destroy());
  host.on("error", () => client.destroy());
  client.pipe(host).pipe(client);
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(file, args, { stdio: "inherit" });
  child.once("error", (error) => {
    console.error(error.message);
    process.exit(127);
  });
  child.once("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
});
