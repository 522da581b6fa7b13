/**
 * In a container, git has no way out but the outbound handler's, and no credential: it shows a ticket that is good for
 * the one operation, and the handler puts the credential on where this machine cannot see it. [CON-3]
 */
import { pathAtGate } from "../domain/gate.ts";
import type { Given } from "./credential.ts";
import type { Pass } from "./protocol.ts";

export interface Gated {
  readonly url: string;
  readonly options: readonly string[];
  readonly given: Given;
}

export function throughGate(gate: string, source: string, { ticket, lent }: Pass): Gated {
  const header = {
    GIT_CONFIG_KEY_0: `http.${gate}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Bearer ${ticket}`,
  };
  const env = { GIT_CONFIG_COUNT: "1", ...header, GIT_TERMINAL_PROMPT: "0" };
  const options = ["-c", "protocol.http.allow=always", "-c", "http.proxy="];
  return { url: gate + pathAtGate(source), options, given: { env, secrets: [ticket], shown: lent } };
}
