/**
 * Public keys as a reader brings them, and the check of a signature with them: by jose, not by the code that signs, so
 * that two implementations must agree. [CLI-25] [CLI-41]
 */
import { readFileSync, statSync } from "node:fs";
import { compactVerify, importJWK } from "jose";
import { keySet, type PublicKey } from "../domain/audit-file.ts";
import type { Verify } from "../domain/checkpoint.ts";
import { assembleJws } from "../domain/jws.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import { UsageError } from "./target.ts";

export async function verifierOf(keys: readonly PublicKey[]): Promise<Verify> {
  const known = new Map(keys.map((key) => [key.kid, key]));
  return async (kid, input, signature) => {
    const key = known.get(kid);
    if (key === undefined) return false;
    try {
      const { kty, crv, x } = key;
      await compactVerify(assembleJws(input, signature), await importJWK({ kty, crv, x }, "EdDSA"), {
        algorithms: ["EdDSA"],
      });
      return true;
    } catch {
      return false;
    }
  };
}

export function readKeys(path: string): readonly PublicKey[] {
  let text: string;
  try {
    if (statSync(path).size > limits.key_set_bytes)
      throw new UsageError(`${visibleLine(path)} is too large for a key set`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${visibleLine(path)} cannot be read`);
  }
  let keys: readonly PublicKey[];
  try {
    ({ keys } = keySet.parse(JSON.parse(text)));
  } catch {
    throw new UsageError(`${visibleLine(path)} is not a key set: save the service's /.well-known/jwks.json there`);
  }
  const twice = keys.find(({ kid }, at) => keys.findIndex((other) => other.kid === kid) !== at);
  if (twice !== undefined)
    throw new UsageError(
      `${visibleLine(path)} has two keys named ${visibleLine(twice.kid)}: it cannot be told which one signed`,
    );
  return keys;
}
