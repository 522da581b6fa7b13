/** How deep JSON from outside may be before code that walks it by recursion would run out of stack. */
export function nestedAtMost(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => nestedAtMost(depth - 1, inner));
}
/** No call of any tool is nested deeper; what is, nobody judges. */
export const argumentDepth = 64;
