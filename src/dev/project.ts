/** Where this project stands, and the environment its tools run in: offline, quiet, asking nobody anything. */
import { join, resolve } from "node:path";

export const project = resolve(import.meta.dirname, "../..");

export function inProject(...parts: readonly string[]): string {
  return join(project, ...parts);
}

/** Cloudflare's tools with every connection to the outside, and the local data browser, switched off. */
export function toolEnv(stateRoot: string): NodeJS.ProcessEnv {
  const { CLOUDFLARE_API_TOKEN: _token, CLOUDFLARE_ACCOUNT_ID: _account, ...inherited } = process.env;
  return {
    ...inherited,
    CI: "1",
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(stateRoot, "wrangler-logs"),
    WRANGLER_REGISTRY_PATH: join(stateRoot, "registry"),
    X_LOCAL_EXPLORER: "false",
  };
}
