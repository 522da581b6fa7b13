/** Addresses of the machine itself, its neighbours and cloud metadata: nothing an agent or a task names may lead there. */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

const blocked = new BlockList();
const v4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
const v6: readonly (readonly [string, number])[] = [
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
];
for (const [net, bits] of v4) {
  blocked.addSubnet(net, bits, "ipv4");
  blocked.addSubnet(`::ffff:${net}`, 96 + bits, "ipv6");
}
for (const [net, bits] of v6) blocked.addSubnet(net, bits, "ipv6");

export function isPrivate(address: string): boolean {
  const kind = isIP(address);
  return kind === 0 || blocked.check(address, kind === 6 ? "ipv6" : "ipv4");
}

/** Public addresses of a name; null when any of them is private. Throws when the name has none. */
export async function publicAddresses(name: string): Promise<string[] | null> {
  const bare = name.replace(/^\[|\]$/g, "");
  const found = isIP(bare) === 0 ? (await lookup(bare, { all: true })).map((entry) => entry.address) : [bare];
  return found.some(isPrivate) ? null : found;
}
