/**
 * Host names and addresses as one spelling, and which of them a list allows: an exact name, or `.example.com` for a
 * name and all below it. Addresses, and names that lead to the machine itself, its network or its cloud's metadata,
 * are allowed only by an entry that names them exactly. [POL-61]
 */
export const anyScheme = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The host of an address or of a bare name; "" when there is none, or two readers could see two different ones. */
export function hostOf(address: string): string {
  // A second reader may end the host elsewhere: at a backslash, a blank, or a mark before the first slash.
  if (/[\\\s\p{Cc}]/u.test(address)) return "";
  const text = address.replace(/^git\+/i, "");
  const rest = text.replace(anyScheme, "");
  if (/^(?:file|data|javascript|about|blob):/i.test(text)) return "";
  const authority = /^[^/]*/.exec(rest)?.[0] ?? "";
  if (/[?#].*@/.test(authority) || authority.split("@").length > 2) return "";
  return nameOf(rest);
}
/** As an `https` address is read: percent-encoding, IDNA, and numbers in any base become one form. */
function nameOf(rest: string): string {
  const host = URL.parse(`https://${rest}`)?.hostname ?? "";
  return host.toLowerCase().replace(/\.$/, "");
}

export function hostMatches(entry: string, host: string): boolean {
  if (host === "") return false;
  const suffix = entry.startsWith(".");
  const name = nameOf(suffix ? entry.slice(1) : entry);
  if (name === "") return false;
  if (host === name) return !suffix || whyNear(host) === null;
  return suffix && host.endsWith(`.${name}`) && whyNear(host) === null;
}

/** Wherever one of its parts is `metadata` it may be a cloud's: `metadata.goog`, `metadata.azure.com`, `api.metadata.cloud.ibm.com`. */
const nearNames =
  /^(?:localhost|.*\.localhost|.*\.local|.*\.internal|.*\.intranet|.*\.lan|.*\.home\.arpa|.*\.localdomain|.*\.corp|.*\.home|.*\.svc|.*\.consul|(?:.*\.)?metadata(?:\..*)?|instance-data|kubernetes|kubernetes\.default.*|host\.docker\.internal|ip6-localhost|ip6-loopback)$/;

/** Why only an exact entry may allow it: what it is. Null for an ordinary name. */
export function whyNear(host: string): string | null {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return whyNear4(host.split(".").map(Number)) ?? "an address without a name";
  if (host.startsWith("[")) return whyNear6(host) ?? "an address without a name";
  // A name without a dot is looked up in the machine's own network.
  if (nearNames.test(host) || !host.includes(".")) return "a name inside the machine's own network";
  return null;
}

function whyNear4([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string | null {
  if (a === 169 && b === 254)
    return a === 169 && c === 169 && d === 254 ? "a metadata address" : "a link-local address";
  if (a === 127 || a === 0) return "the machine itself";
  if (a === 10 || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168) || (a === 100 && b >= 64 && b <= 127))
    return a === 100 && b === 100 && c === 100 && d === 200 ? "a metadata address" : "a private address";
  if (a >= 224 || (a === 192 && b === 0) || (a === 198 && (b === 18 || b === 19))) return "a reserved address";
  return null;
}

/** As the URL standard writes it: `[::ffff:7f00:1]`. */
function whyNear6(host: string): string | null {
  const groups = groupsOf(host.slice(1, -1));
  const [first = 0] = groups;
  const leading = groups.slice(0, 5).every((group) => group === 0);
  const [high = 0, low = 0] = groups.slice(6);
  const within = [high >> 8, high & 255, low >> 8, low & 255];
  if (leading && (groups[5] === 0xffff || groups[5] === 0)) return whyNear4(within) ?? "an address without a name";
  if (first === 0x64 && groups[1] === 0xff9b) return whyNear4(within) ?? "an address without a name";
  if ((first & 0xffc0) === 0xfe80) return "a link-local address";
  if ((first & 0xfe00) === 0xfc00) return host.startsWith("[fd00:ec2:") ? "a metadata address" : "a private address";
  if ((first & 0xff00) === 0xff00) return "a reserved address";
  return null;
}
function groupsOf(text: string): number[] {
  const [left = "", right] = text.split("::");
  const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const before = read(left);
  const after = right === undefined ? [] : read(right);
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}
