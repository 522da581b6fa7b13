/**
 * What git is given to show a server, for one operation: by the environment of that one git process, for that one
 * origin. It stands in no argument, no file and no message; a redirect to elsewhere never gets it, for none is
 * followed. Other processes of the host's own user could read it there while git runs; a sandbox sees none of the
 * host's processes. [CRED-3] [CRED-5]
 */
import type { Credential } from "./protocol.ts";

/** What goes along with each run of git on a source. */
export interface Given {
  readonly env: Readonly<Record<string, string>>;
  /** Never to be passed on, in whatever git or a server says. */
  readonly secrets: readonly string[];
  /** Whether a server is shown a credential, so that a refusal means that it was refused. */
  readonly shown: boolean;
}

export function give(origin: string, { username, password }: Credential): Given {
  const pair = Buffer.from(`${username}:${password}`).toString("base64");
  const settings = [
    [`http.${origin}/.extraHeader`, `Authorization: Basic ${pair}`],
    ["http.followRedirects", "false"],
    ["credential.helper", ""],
  ];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length), GIT_TERMINAL_PROMPT: "0" };
  for (const [at, [key = "", value = ""]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  const secrets = [password, pair, encodeURIComponent(password), Buffer.from(password).toString("base64")];
  return { env, secrets, shown: true };
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((said, secret) => said.replaceAll(secret, "***"), text);
}
