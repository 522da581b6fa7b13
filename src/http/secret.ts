/**
 * Makes and recognises the secrets that travel by HTTP: API tokens, session cookies, tickets. Only
 * their hash goes to an object, and only once the mac says that we made their scope. [HTTP-3]
 */
import {
  type CredentialPrefix,
  formatToken,
  parseToken,
  sameText,
  scopeMac,
  secretHash,
} from "../domain/credential.ts";
import { randomId } from "../domain/ids.ts";
import type { DoorPorts } from "./ports.ts";

export interface Minted {
  readonly id: string;
  /** The secret itself: shown once, stored nowhere. */
  readonly text: string;
  readonly hash: string;
}

export function mint(ports: DoorPorts, scope: string, prefix: CredentialPrefix): Minted {
  const text = formatToken(scope, scopeMac(ports.scopeMacKey, scope), hex(ports.random()), prefix);
  return { id: randomId(ports.random()), text, hash: secretHash(text) };
}

/** Null for what is not a credential of that prefix, or names a scope we never made. */
export function recognise(
  ports: DoorPorts,
  text: string,
  prefix: CredentialPrefix,
): { scope: string; hash: string } | null {
  const credential = parseToken(text, prefix);
  if (credential === null) return null;
  if (!sameText(credential.mac, scopeMac(ports.scopeMacKey, credential.scope))) return null;
  return { scope: credential.scope, hash: secretHash(text) };
}

export function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
