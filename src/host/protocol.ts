/**
 * What travels between the Worker and a sandbox host: one table of methods, each a POST of JSON to
 * `/v1/<method>`, bytes as base64. Both sides parse with it. It runs in workerd and in Node alike.
 */
import { z } from "zod";
import { patchFile } from "../domain/evidence.ts";

export const sandboxId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, "must be 1 to 128 of A-Z a-z 0-9 . _ : -");
const scopeId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "must be 1 to 64 of a-z 0-9 -");
const callId = z.string().min(1).max(200);
const commitId = z.string().regex(/^[0-9a-f]{40}$/, "must be a full commit hash of 40 hex digits");
const branchName = z
  .string()
  .regex(/^countersign\/[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/, "must be countersign/ and a plain name")
  .refine((name) => !name.includes("..") && !name.endsWith(".lock") && !name.endsWith("."), "is not a branch name");
/** Segments of plain characters: nothing hidden in it, nothing that climbs. */
const worktree = z
  .string()
  .max(400)
  .regex(/^[A-Za-z0-9._:-]+(\/[A-Za-z0-9._:-]+)+$/, "must be a relative path of plain segments")
  .refine((path) => path.split("/").every((part) => part !== "." && part !== ".."), "must not contain . or ..");
// A NUL cannot stand in a path, an argument or the environment: refused here it can confuse nothing later.
const plain = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !text.includes("\0"), "must not contain a NUL byte");
const argv = z
  .array(plain(131_072))
  .min(1)
  .max(1_000)
  .refine((words) => words[0] !== "", "must name a program");
const base64 = z.string();
const source = z.strictObject({ scope_id: scopeId, url: plain(2048).min(1) });
/** Printable and without spaces or a colon in the name: it becomes one header of git's requests and can become no second. */
const credential = z.strictObject({
  username: z.string().regex(/^[\x21-\x39\x3b-\x7e]{1,100}$/, "must be 1 to 100 printable characters but `:`"),
  password: z.string().regex(/^[\x21-\x7e]{8,4096}$/, "must be 8 to 4,096 printable characters"),
});
export type Credential = z.infer<typeof credential>;
/** In a container, in a credential's place: what its outbound handler is shown. `lent`: a credential stands behind it. */
const pass = z.strictObject({ ticket: z.string().regex(/^[0-9a-f]{64}$/), lent: z.boolean() });
export type Pass = z.infer<typeof pass>;
const milliseconds = z.number().int().nonnegative();
const offset = z.number().int().nonnegative();
const side = z.number().int().min(1).max(1_000);
const none = z.null();
const at = { id: sandboxId };

export const sandboxSpec = z.strictObject({
  scope_id: scopeId,
  owner: z.string().min(1).max(300),
  worktree,
  memory_mb: z.number().int().min(16).max(1_048_576),
  processes: z.number().int().min(4).max(65_536),
  file_mb: z.number().int().min(1).max(1_048_576),
});
export const hostName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, "must be a host name or a preset");
export const execSpec = z.strictObject({
  argv,
  cwd: plain(4096).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), plain(131_072)).optional(),
  timeout_ms: z.number().int().min(1).max(86_400_000),
  stdin: z
    .string()
    .max(16 * 1024 * 1024)
    .optional(),
  network: z.strictObject({ hosts: z.array(hostName).max(100), cache: z.array(z.string().max(20)).max(10) }).optional(),
});
export const ptySpec = z.strictObject({
  argv,
  cols: side,
  rows: side,
  timeout_ms: z.number().int().min(1).max(86_400_000),
});

export const callOutcome = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("running") }),
  z.strictObject({
    state: z.literal("exited"),
    exit_code: z.number().int(),
    signal: z.string().nullable(),
    duration_ms: milliseconds,
  }),
  z.strictObject({ state: z.literal("timed_out"), duration_ms: milliseconds }),
  z.strictObject({ state: z.literal("never_started"), reason: z.string() }),
  z.strictObject({ state: z.literal("unknown") }),
]);
const waitAnswer = z.strictObject({ outcome: callOutcome, chunk: base64, next_offset: offset });
const listEntry = z.strictObject({
  name: z.string(),
  kind: z.enum(["file", "directory", "other"]),
  size: z.number().int().nonnegative(),
});

export const methods = {
  create: { input: z.strictObject({ ...at, spec: sandboxSpec }), output: none },
  checkout: {
    input: z.strictObject({
      ...at,
      source,
      commit: commitId,
      bundle: base64.optional(),
      credential: credential.optional(),
      pass: pass.optional(),
    }),
    output: none,
  },
  exec: { input: z.strictObject({ ...at, call_id: callId, spec: execSpec }), output: none },
  wait: {
    input: z.strictObject({ ...at, call_id: callId, offset, wait_ms: milliseconds.max(20_000) }),
    output: waitAnswer,
  },
  outcome: { input: z.strictObject({ ...at, call_id: callId }), output: callOutcome },
  kill: { input: z.strictObject({ ...at, call_id: callId }), output: none },
  read: { input: z.strictObject({ ...at, path: plain(4096) }), output: base64 },
  write: { input: z.strictObject({ ...at, path: plain(4096), content: base64 }), output: none },
  list: { input: z.strictObject({ ...at, path: plain(4096) }), output: z.array(listEntry) },
  remove: { input: z.strictObject({ ...at, path: plain(4096) }), output: none },
  openPty: { input: z.strictObject({ ...at, pty_id: callId, spec: ptySpec }), output: none },
  writePty: { input: z.strictObject({ ...at, pty_id: callId, data: base64 }), output: none },
  resizePty: { input: z.strictObject({ ...at, pty_id: callId, cols: side, rows: side }), output: none },
  readPty: {
    input: z.strictObject({ ...at, pty_id: callId, offset, wait_ms: milliseconds.max(20_000) }),
    output: waitAnswer,
  },
  snapshot: {
    input: z.strictObject(at),
    output: z.strictObject({ patch: base64, tree: z.string(), files: z.array(patchFile) }),
  },
  restore: { input: z.strictObject({ ...at, patch: base64 }), output: none },
  merge: {
    input: z.strictObject({
      ...at,
      baseline: commitId,
      parent: commitId,
      patch: base64,
      message: plain(65_536).min(1),
      at_s: z.number().int().nonnegative(),
    }),
    output: z.discriminatedUnion("ok", [
      z.strictObject({
        ok: z.literal(true),
        commit: commitId,
        bundle: base64,
        patch: base64,
        files: z.array(patchFile),
      }),
      z.strictObject({ ok: z.literal(false), conflicts: z.array(z.string()) }),
    ]),
  },
  destroy: { input: z.strictObject(at), output: none },
  sandboxes: {
    input: z.strictObject({}),
    output: z.array(z.strictObject({ id: z.string(), scope_id: z.string(), owner: z.string() })),
  },
  resolve: {
    input: z.strictObject({
      source,
      ref: plain(255).min(1),
      credential: credential.optional(),
      pass: pass.optional(),
    }),
    output: z.strictObject({ commit: commitId, default_branch: z.string() }),
  },
  publish: {
    input: z.strictObject({
      source,
      branch: branchName,
      commit: commitId,
      bundle: base64,
      credential: credential.optional(),
      pass: pass.optional(),
    }),
    output: none,
  },
  /** The hosts that each preset's word opens on that machine. */
  presets: { input: z.strictObject({}), output: z.record(z.string(), z.array(hostName)) },
} as const;

export type Method = keyof typeof methods;
export type Input<M extends Method> = z.infer<(typeof methods)[M]["input"]>;
export type Output<M extends Method> = z.infer<(typeof methods)[M]["output"]>;

/** The same list as the port's: the adapter's types fail to compile when they differ. */
export const failureCodes = [
  "unreachable",
  "silent",
  "unauthorized",
  "no_such_sandbox",
  "no_such_call",
  "bad_request",
  "call_mismatch",
  "repo_unreachable",
  "repo_not_allowed",
  "ref_not_found",
  "patch_failed",
  "patch_too_large",
  "patch_refused",
  "not_fast_forward",
  "too_many",
  "internal",
] as const;
export type FailureCode = (typeof failureCodes)[number];
export const failureBody = z.strictObject({ code: z.enum(failureCodes), message: z.string(), retryable: z.boolean() });

/** `GET /v1/pty?sandbox=&pty=&from=` upgrades to this: binary frames are terminal bytes, text frames JSON. */
export const ptyFrame = z.strictObject({ resize: z.strictObject({ cols: side, rows: side }) });

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
export function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
