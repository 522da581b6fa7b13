/** How large a container has to be for a sandbox's memory. Pure. [CON-9] */

/** Memory of the platform's instance types, smallest first. */
const types = [
  ["standard-1", 4_096],
  ["standard-2", 6_144],
  ["standard-3", 8_192],
  ["standard-4", 12_288],
] as const;
export type InstanceType = (typeof types)[number][0];

/** The smallest with room for the sandbox and for the host beside it; the largest where none has. */
export function instanceFor(memory_mb: number, beside_mb: number): InstanceType {
  return types.find(([, memory]) => memory >= memory_mb + beside_mb)?.[0] ?? "standard-4";
}
