/** The entry of `npm run keys`. */
import { runKeys } from "./key-commands.ts";

process.exitCode = runKeys(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
});
