/**
 * Which addresses a key may be sent to: over https, or to this machine itself, and to none where a cloud keeps what only
 * its own machines may know. [MODEL-14] [MODEL-36] [TOOL-17]
 */
import { whyNear } from "../domain/hosts.ts";

/** Null when keys may be sent there. */
export function whyNoAddress({ protocol, hostname, username, password }: URL): string | null {
  if (username !== "" || password !== "") return "it holds a name or password; give the key by its own secret";
  if (metadataHost(hostname)) return "it is an address of the machine's own network, where clouds keep their secrets";
  if (protocol === "https:") return null;
  const loopback = hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  if (protocol === "http:" && loopback) return null;
  return "it must begin with https:// (http:// only for this machine itself)";
}

/** Link-local addresses and the names clouds give their metadata; a `URL` writes every form of an address in one way. */
function metadataHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "");
  const near = /^[\d.]+$|^\[/.test(host) ? whyNear(host) : null;
  return (
    near === "a link-local address" ||
    near === "a metadata address" ||
    /^(?:0\.0\.0\.0|168\.63\.129\.16|\[::(?:ffff:0:0)?\]|\[::(?:ffff:)?a83f:8110\])$/.test(host) ||
    /^(?:.+\.)?metadata(?:\.google\.internal|\.goog|\.azure\.internal)?$/.test(host)
  );
}
