/**
 * Signatures of the Standard Webhooks specification (v1, HMAC-SHA256), for what we send and for what we are sent, and
 * the secrets they are made with: derived from the deployment's key, so that none is ever stored. [WBH-1] [HOOK-1]
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { limits } from "../limits.ts";
import { sameText } from "./credential.ts";

/** Whose secret it is: a webhook that we send to, or a hook that others send to. */
export interface SecretOf {
  readonly use: "webhook" | "hook";
  readonly scope_id: string;
  readonly id: string;
  /** Grows with each rotation. */
  readonly version: number;
}

/** 32 bytes. Its label is no scope's id, so it is never what a token's mac is cut from. */
export function signingSecret(key: Uint8Array, { use, scope_id, id, version }: SecretOf): Uint8Array {
  const label = `countersign/${use}/secret/1`;
  return hmac(sha256, key, utf8ToBytes([label, scope_id, id, String(version)].join("\n")));
}
/** As its holder is shown it. */
export function secretText(secret: Uint8Array): string {
  return `whsec_${base64(secret)}`;
}

/** `v1,<base64>` over `<id>.<timestamp>.<body>`; the timestamp in whole seconds since the epoch. */
export function signatureOf(
  secret: Uint8Array,
  signed: { readonly id: string; readonly timestamp_s: number; readonly body: Uint8Array },
): string {
  const head = utf8ToBytes(`${signed.id}.${signed.timestamp_s}.`);
  return `v1,${base64(hmac(sha256, secret, concatBytes(head, signed.body)))}`;
}

/** The three headers as they came; null where one is missing. */
export interface SignedHeaders {
  readonly id: string | null;
  readonly timestamp: string | null;
  readonly signature: string | null;
}

/**
 * The id of a request that one of the secrets signed within the tolerance; null for every other. All that can be
 * compared is compared, and no comparison ends early: how long it takes tells nothing of where it failed.
 */
export function signedId(
  headers: SignedHeaders,
  body: Uint8Array,
  secrets: readonly Uint8Array[],
  now_ms: number,
): string | null {
  const id = headers.id ?? "";
  const wellFormed = id.length <= limits.hook_message_id_chars && /^[\x21-\x7e]+$/.test(id) && !id.includes(".");
  const timestamp_s = /^\d{1,12}$/.test(headers.timestamp ?? "") ? Number(headers.timestamp) : 0;
  const given = (headers.signature ?? "").split(" ").filter((one) => one.startsWith("v1,"));
  let signed = false;
  for (const secret of secrets) {
    const right = signatureOf(secret, { id, timestamp_s, body });
    for (const one of given.slice(0, limits.hook_signatures)) if (sameText(one, right)) signed = true;
  }
  const fresh = Math.abs(Math.floor(now_ms / 1_000) - timestamp_s) <= limits.hook_tolerance_s;
  return signed && wellFormed && fresh ? id : null;
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
