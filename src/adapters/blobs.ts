/** Artifacts in R2. Keys begin with the scope, and each is written once or with the same bytes again. */
import type { Artifacts } from "../agents/ports.ts";

export function blobArtifacts(bucket: R2Bucket): Artifacts {
  return {
    async put(key, bytes) {
      await bucket.put(key, bytes);
    },
    async get(key) {
      const found = await bucket.get(key);
      return found === null ? null : new Uint8Array(await found.arrayBuffer());
    },
  };
}
