/** Each method of the protocol on the host's parts; bytes become base64 here and nowhere else. */
import { checkout } from "./checkout.ts";
import { exec, kill, outcome, wait } from "./exec.ts";
import { listFolder, readFile, removePath, writeFile } from "./files.ts";
import type { Host } from "./host.ts";
import { merge } from "./merge.ts";
import { resolveRef } from "./mirror.ts";
import { presetHosts } from "./presets.ts";
import { fromBase64, type Input, type Method, methods, type Output, toBase64 } from "./protocol.ts";
import { openPty, readPty, resizePty, writePty } from "./pty.ts";
import { publish } from "./publish.ts";
import { restore } from "./restore.ts";
import { snapshot } from "./snapshot.ts";

type Table = { readonly [M in Method]: (host: Host, input: Input<M>) => Promise<Output<M>> | Output<M> };

async function done(work: Promise<void> | void): Promise<null> {
  await work;
  return null;
}

export const table: Table = {
  create: (host, input) => done(host.create(input)),
  checkout: (host, input) => done(checkout(host, input, input.bundle === undefined ? null : fromBase64(input.bundle))),
  exec: (host, input) => done(exec(host, input)),
  wait,
  outcome,
  kill: (host, input) => done(kill(host, input)),
  read: async (host, input) => toBase64(await readFile(host, input)),
  write: (host, input) => done(writeFile(host, input, fromBase64(input.content))),
  list: listFolder,
  remove: (host, input) => done(removePath(host, input)),
  openPty: (host, input) => done(openPty(host, input)),
  writePty: (host, input) => done(writePty(host, input, fromBase64(input.data))),
  resizePty: (host, input) => done(resizePty(host, input)),
  readPty,
  snapshot: async (host, input) => {
    const taken = await snapshot(host, input);
    return { ...taken, patch: toBase64(taken.patch) };
  },
  restore: (host, input) => done(restore(host, input, fromBase64(input.patch))),
  merge: async (host, input) => {
    const merged = await merge(host, input, fromBase64(input.patch));
    return merged.ok ? { ...merged, bundle: toBase64(merged.bundle), patch: toBase64(merged.patch) } : merged;
  },
  destroy: (host, input) => done(host.destroy(input.id)),
  sandboxes: (host) =>
    host.all().map(({ id, record }) => ({ id, scope_id: record.spec.scope_id, owner: record.spec.owner })),
  resolve: resolveRef,
  presets: presetHosts,
  publish: (host, input) => done(publish(host, input, fromBase64(input.bundle))),
};

/** Parses, runs, and leaves the types to the table. */
export function callMethod<M extends Method>(host: Host, method: M, body: unknown): Promise<Output<M>> | Output<M> {
  // The table's entry and the schema's output belong to the same M, which the compiler cannot follow through a lookup.
  const input = methods[method].input.parse(body) as Input<M>;
  return table[method](host, input);
}
