/**
 * Runs the Worker under wrangler's own development server, as `wrangler dev` does, but with what only its
 * programming interface can switch off: the inspector (it would let any local program read the secrets), the
 * registry shared between projects, and reloading on edits (which loses messages in flight).
 * Arguments: port, persistence folder, env files.
 */
import { unstable_startWorker as startWorker } from "wrangler";
import { failureLine } from "./log.ts";
import { inProject } from "./project.ts";

const [port, persist, ...envFiles] = process.argv.slice(2);
if (port === undefined || persist === undefined) throw new Error("usage: worker-process.ts PORT PERSIST ENV_FILE...");

const worker = await startWorker({
  config: inProject("wrangler.toml"),
  envFiles,
  dev: {
    server: { hostname: "127.0.0.1", port: Number(port) },
    inspector: false,
    watch: false,
    persist,
    remote: false,
    logLevel: "info",
    // With the inspector off nobody else would write down what the Worker says.
    structuredLogsHandler: ({ level, message }: { level: string; message: string }) =>
      process.stdout.write(`[worker:${level}] ${message}\n`),
  },
}).catch((error: unknown) => {
  process.stdout.write(`${failureLine(error)}\n`);
  process.exit(1);
});
// Its own answer to a failure is to wait for an edit, which never comes here.
for (const event of ["buildFailed", "error"])
  worker.raw.once(event, (failure: { reason?: string }) => {
    process.stdout.write(`${failure.reason ?? "the server failed"}\n`);
    process.exit(1);
  });
await worker.ready;
worker.raw
  .removeAllListeners("buildFailed")
  .removeAllListeners("error")
  .on("error", () => undefined);

let stopping = false;
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.on(signal, async () => {
    if (stopping) return;
    stopping = true;
    await worker.dispose();
    process.exit(0);
  });
