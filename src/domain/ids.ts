/**
 * Derived ids: the same cause always makes the same id, so work done twice after a crash makes nothing
 * twice. Random ids use the same alphabet; their bytes come from the caller. [ID-3] [ID-4]
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical.ts";

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
const idLength = 24;
/** Random bytes an id needs: 24 letters of 5 bits. */
export const idBytes = 15;

/** Base32 (RFC 4648, lower case, no padding), cut to 24 letters. */
function encode(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5 && text.length < idLength) {
      bits -= 5;
      text += alphabet.charAt((held >> bits) & 31);
    }
  }
  return text;
}

/** `cause` is a message id, a request's id, or `timerCause`; `index` tells apart several of one kind from one cause. */
export function derivedId(cause: string, kind: string, index: number): string {
  return encode(sha256(utf8ToBytes(canonicalJson([cause, kind, index]))));
}

/** The cause of what a timer does: one firing of one row of one object. */
export function timerCause(object: string, row: string, epoch: number): string {
  return canonicalJson([object, row, epoch]);
}

export function randomId(bytes: Uint8Array): string {
  if (bytes.length < idBytes) throw new RangeError(`a random id needs ${idBytes} bytes`);
  return encode(bytes);
}
