/**
 * The secrets of a local service, made once and kept in one file that only its owner may read. They reach
 * the Worker through that file and the sandbox host through its environment, never a command line. [START-6]
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { parseEnv } from "node:util";
import { z } from "zod";
import { type SigningKeys, signingKeys } from "../adapters/signer.ts";
import { thumbprint } from "../domain/jws.ts";
import { readText, StartError, writePrivate } from "./files.ts";
import type { StateFolder } from "./state.ts";

const secrets = z.object({
  COUNTERSIGN_ADMIN_TOKEN: z.string().min(32),
  SCOPE_MAC_KEY: z.string().regex(/^[0-9a-f]{64}$/),
  SIGNING_KEYS: z.string().min(2),
  SANDBOX_SECRET: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Secrets = z.infer<typeof secrets>;

export function localSecrets(folder: StateFolder): Secrets {
  if (!existsSync(folder.secrets)) writePrivate(folder.secrets, envFile(madeSecrets()));
  return readSecrets(folder);
}

/** Throws when they were never made, or are damaged: nothing is put in their place. */
export function readSecrets(folder: StateFolder): Secrets {
  chmodSync(folder.secrets, 0o600);
  const parsed = secrets.safeParse(parseEnv(readText(folder.secrets) ?? ""));
  if (parsed.success) return parsed.data;
  const names = parsed.error.issues.map((issue) => issue.path.join(".")).join(", ");
  throw new StartError(
    `${folder.secrets} is damaged (${names}). Without its keys this folder's data cannot be used: restore it, or start with another folder: npm start -- --state DIR`,
  );
}

function madeSecrets(): Secrets {
  const { kid, pair } = newKey();
  return {
    COUNTERSIGN_ADMIN_TOKEN: randomBytes(32).toString("base64url"),
    SCOPE_MAC_KEY: randomBytes(32).toString("hex"),
    SIGNING_KEYS: JSON.stringify({ active: kid, keys: { [kid]: pair } }),
    SANDBOX_SECRET: randomBytes(32).toString("hex"),
  };
}

/** A fresh key under the name that follows from its public part (RFC 7638), so that no two keys share one. */
export function newKey(): { readonly kid: string; readonly pair: SigningKeys["keys"][string] } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const made = { private: privateKey.export({ format: "jwk" }), public: publicKey.export({ format: "jwk" }) };
  const kid = thumbprint(made.public.x ?? "");
  const pair = signingKeys.parse({ active: kid, keys: { [kid]: made } }).keys[kid];
  if (pair === undefined) throw new Error("a key that was just made is not there");
  return { kid, pair };
}

/** Single quotes, because SIGNING_KEYS is JSON; no value made here holds one. */
export function envFile(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join("");
}
