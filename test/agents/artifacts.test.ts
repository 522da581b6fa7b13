/** The store of artifacts is away: what an attempt or a verification makes of it. */
import { describe, expect, it } from "vitest";
import { blobArtifacts } from "../../src/adapters/blobs.ts";
import { executor } from "../../src/agents/executor.ts";
import { ArtifactFailure } from "../../src/agents/ports.ts";
import { verifier } from "../../src/agents/verifier.ts";
import { executionResult } from "../../src/domain/result.ts";
import { difference, writePatch } from "../fakes/memory-git.ts";
import {
  attemptMessage,
  attemptOrder,
  type Sample,
  sample,
  verdictOf,
  verificationMessage,
  verifyOrder,
} from "../fakes/orders.ts";
import { type Driven, drive, runContext } from "../fakes/world.ts";

/** A bucket whose calls fail while `away` says so. */
function flaky(w: Sample, away: (method: "put" | "get") => boolean): Sample {
  const ask = (method: "put" | "get") => {
    if (away(method)) throw new Error(`${method}: We encountered an internal error. Please try again. (10001)`);
  };
  const bucket = {
    put: async (key: string, bytes: Uint8Array) => {
      ask("put");
      return w.artifacts.put(key, bytes);
    },
    get: async (key: string) => {
      ask("get");
      const bytes = await w.artifacts.get(key);
      return bytes === null ? null : { arrayBuffer: async () => bytes.slice().buffer };
    },
  };
  // As much of a bucket as the adapter uses.
  const artifacts = blobArtifacts(bucket as unknown as Parameters<typeof blobArtifacts>[0]);
  return { ...w, ports: { ...w.ports, artifacts } };
}

async function toVerify(): Promise<Sample> {
  const w = sample({ check: () => 0 });
  const base = w.repo.commits.get(w.main)?.tree ?? new Map<string, string>();
  await w.artifacts.put("the-patch", writePatch(difference(base, new Map([...base, ["src/b.txt", btoa("b")]]))));
  return w;
}
const verify = (w: Sample): Promise<Driven> =>
  drive(verifier, runContext(verificationMessage(verifyOrder(w.main)), { agent: "verifier" }), w.ports);
function execute(w: Sample): Promise<Driven> {
  return drive(executor, runContext(attemptMessage(attemptOrder(w.main))), w.ports);
}
const edits = () =>
  sample({
    edit: (process) => {
      process.write("src/a.txt", "two\n");
      return 0;
    },
  });
/** Away from its first use on, that many times. */
const times = (method: "put" | "get", count: number) => {
  let left = count;
  return (asked: "put" | "get") => asked === method && left-- > 0;
};

describe("the store of artifacts is away", () => {
  it("[RCV-20] whatever R2 throws is a failure that may pass", async () => {
    const { ports } = flaky(sample(), () => true);
    for (const asked of [ports.artifacts.get("k"), ports.artifacts.put("k", new Uint8Array())]) {
      const failure = await asked.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ArtifactFailure);
      expect(failure).toMatchObject({ retryable: true, message: expect.stringMatching(/did not .* k: .*10001/) });
    }
  });
  it.each(["put", "get"] as const)("[RCV-20] for some %ss and back again: the work goes on", async (method) => {
    const verifying = flaky(await toVerify(), times(method, 20));
    const verified = await verify(verifying);
    expect(verdictOf(verified.out).result.verdict).toBe("pass");
    expect(verified.waits.filter((ms) => ms >= 500).length).toBe(20);
    const working = flaky(edits(), times("put", 20));
    const { out } = await execute(working);
    expect(executionResult.parse(out[0]?.payload)).toMatchObject({ end: "finished", success: true });
    expect(working.memory.begun.length).toBe(1);
  });
  it.each(["put", "get"] as const)(
    "[RCV-20] for good from a %s on: no verdict, and no sandbox stands",
    async (method) => {
      const w = flaky(await toVerify(), (asked) => asked === method);
      const { message, result } = verdictOf((await verify(w)).out);
      expect(result).toMatchObject({ verdict: "infra_error", commit: null });
      expect(message).toMatchObject({ error_code: "tool_failure", retryable: true });
      expect(await w.memory.sandboxes()).toEqual([]);
    },
  );
  it("[RCV-20] for good when the result is to be kept: the attempt has crashed, and no sandbox stands", async () => {
    const w = flaky(edits(), (asked) => asked === "put");
    const { out } = await execute(w);
    expect(executionResult.parse(out[0]?.payload)).toMatchObject({ end: "crashed", success: false });
    expect(await w.memory.sandboxes()).toEqual([]);
  });
});
