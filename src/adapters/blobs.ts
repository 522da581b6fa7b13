/**
 * Artifacts in R2. Keys begin with the scope, and each is written once or with the same bytes again. Whatever R2 throws
 * becomes an ArtifactFailure here: it says nothing about the work it interrupts. [RCV-20]
 */
import { ArtifactFailure, type Artifacts } from "../agents/ports.ts";

export function blobArtifacts(bucket: R2Bucket): Artifacts {
  return {
    put: (key, bytes) =>
      answered("take", key, async () => {
        await bucket.put(key, bytes);
      }),
    get: (key) =>
      answered("give", key, async () => {
        const found = await bucket.get(key);
        return found === null ? null : new Uint8Array(await found.arrayBuffer());
      }),
  };
}

async function answered<T>(verb: "take" | "give", key: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ArtifactFailure(`the store did not ${verb} ${key}: ${why}`);
  }
}
