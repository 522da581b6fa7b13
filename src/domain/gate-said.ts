/**
 * What a git server says of one branch: in answer to a push, and when it is asked where the branch stands. Read outside
 * of the container, so that a container's word is not needed for either. Pure. [CON-19]
 */
import type { Push } from "./gate.ts";

/** Longest answer that is read. A push's holds the words of a server's hooks besides. */
export const saidBytes = 1024 * 1024;

/** Whether the server took the push: unpacked, that one branch set, and nothing else said of any. */
export function pushTaken(answer: Uint8Array, { branch }: Push): boolean {
  const outer = packets(latin(answer));
  // With a band before each piece, the first holds the report; without one the answer is the report.
  const band = outer[0]?.charCodeAt(0) ?? 0;
  const banded = band >= 1 && band <= 3;
  const report = banded
    ? packets(outer.flatMap((piece) => (piece[0] === "\x01" ? [piece.slice(1)] : [])).join(""))
    : outer;
  const [unpack, ...refs] = report.map(line);
  return unpack === "unpack ok" && refs.length === 1 && refs[0] === `ok refs/heads/${branch}`;
}

/** A question of git's second protocol: every server it is used with speaks that, and what it answers is short. */
export function asksFor({ branch }: Push): string {
  return `${packet("command=ls-refs\n")}0001${packet(`ref-prefix refs/heads/${branch}\n`)}0000`;
}
/** Whether the branch stands at the commit. */
export function standsAt(answer: Uint8Array, { branch, commit }: Push): boolean {
  return packets(latin(answer)).some((piece) => line(piece) === `${commit} refs/heads/${branch}`);
}

/** Git's own pieces, each behind its length in four digits; as many as are whole. */
function packets(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at + 4 <= text.length; ) {
    const size = text.slice(at, at + 4);
    const length = /^[0-9a-f]{4}$/.test(size) ? Number.parseInt(size, 16) : -1;
    // 0 to 2 part one piece from the next.
    if (length >= 0 && length < 4) at += 4;
    else {
      if (length < 0 || at + length > text.length) break;
      found.push(text.slice(at + 4, at + length));
      at += length;
    }
  }
  return found;
}
function packet(text: string): string {
  return (text.length + 4).toString(16).padStart(4, "0") + text;
}
function line(piece: string): string {
  return piece.replace(/\n$/, "");
}
function latin(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return parts.join("");
}
