/** The package registry that this machine is told to use, where it can be reached: else there is nothing to try. */
import { execFileSync } from "node:child_process";

export async function registryUrl(): Promise<string | null> {
  try {
    const url = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8", cwd: "/" }).trim();
    return (await fetch(`${url}is-number`, { signal: AbortSignal.timeout(5_000) })).ok ? url : null;
  } catch {
    return null;
  }
}
