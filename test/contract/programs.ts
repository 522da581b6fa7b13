/** What tests of sandboxes share: the harness, the programs they run, and waiting and failing as the product sees it. */
import { type CallOutcome, type Sandboxes, SandboxFailure, type SandboxSpec } from "../../src/agents/ports.ts";

/** Parts of the contract that need more than memory. */
export type Clause = "terminal" | "git-format";

export interface Harness {
  readonly sandboxes: Sandboxes;
  /**
   * A repository whose `main` holds `a.txt` ("one\ntwo\nthree\n"), `dir/b.txt` ("b\n") and a `.gitignore` that hides
   * `ignored/`; its branch `other` builds on it and says "ONE" in the first line of `a.txt`.
   */
  readonly source: string;
  readonly main: string;
  readonly other: string;
  /** What a branch of the source names now. */
  tip(branch: string): Promise<string | null>;
  close(): Promise<void>;
}

/** The programs the suite runs: an implementation without a shell knows them by their text. */
export const scripts = {
  speak: "echo out; echo err >&2; echo end",
  fail: "exit 7",
  count: "echo x >> count.txt",
  greet: 'printf %s "$GREETING"',
  where: "pwd",
  echo: "cat",
  linger: "sleep 300",
  flood: "head -c 9000000 /dev/zero | tr '\\0' x",
  edit: "printf 'one\\ntwo\\n3\\n' > a.txt; printf 'new\\n' > new.txt; rm dir/b.txt; mkdir -p ignored; echo x > ignored/x",
  clash: "printf 'uno\\ntwo\\nthree\\n' > a.txt",
} as const;

export function shell(script: string): readonly string[] {
  return ["bash", "-euo", "pipefail", "-c", script];
}
export const utf8 = new TextEncoder();
export const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

export function spec(name: string, more: Partial<SandboxSpec> = {}): SandboxSpec {
  const worktree = `.runtime/worktrees/contract/item/${name}`;
  return {
    scope_id: "contract",
    owner: `attempt-${name}`,
    worktree,
    memory_mb: 1024,
    processes: 128,
    file_mb: 64,
    ...more,
  };
}

/** Waits as the product does: on and on until the process has ended and all it said was read. */
export async function finish(
  sandboxes: Sandboxes,
  id: string,
  call_id: string,
): Promise<{ output: string; outcome: CallOutcome }> {
  let offset = 0;
  const parts: Uint8Array[] = [];
  for (;;) {
    const seen = await sandboxes.wait(id, call_id, offset, 20_000);
    parts.push(seen.chunk);
    offset = seen.next_offset;
    if (seen.outcome.state !== "running" && seen.chunk.byteLength === 0) {
      return { output: parts.map(text).join(""), outcome: seen.outcome };
    }
  }
}

export async function run(
  sandboxes: Sandboxes,
  id: string,
  call_id: string,
  script: string,
  more: { timeout_ms?: number } = {},
) {
  await sandboxes.exec(id, call_id, { argv: shell(script), timeout_ms: 30_000, ...more });
  return finish(sandboxes, id, call_id);
}

export async function failure(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SandboxFailure) return error.code;
    throw error;
  }
  return "none";
}
