/** Dice for objects: what decides takes the bytes as an argument. */
import { randomId } from "../src/domain/ids.ts";

export function randomBytes(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(16));
}
export function newId(): string {
  return randomId(randomBytes());
}
