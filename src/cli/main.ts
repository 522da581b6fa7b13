#!/usr/bin/env node
/** The `countersign` command: a client of the HTTP API and nothing more. */
import { createInterface } from "node:readline/promises";
import { run } from "./run.ts";

const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true;

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

// A reader that closes early (`| head`) is not an error of ours.
process.stdout.on("error", () => process.exit(0));
process.exitCode = await run(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  ask: interactive ? ask : null,
  cwd: process.cwd(),
  input: process.stdin,
  onInterrupt: (stop) => {
    const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    for (const name of names) process.once(name, stop);
    return () => {
      for (const name of names) process.off(name, stop);
    };
  },
});
