/** How long GitHub is waited for: what it asks for, or longer each time it fails, never without an end. [GHO-*] */
import { limits } from "../limits.ts";
import type { GithubFailure } from "./github-port.ts";

/** What a run of the courier keeps of its waiting. */
export interface Patience {
  readonly failures: number;
  readonly waited_ms: number;
}

/** Null: it cannot help, or it was waited for `most_ms` in all. */
export function waitAfter(
  failure: GithubFailure,
  had: Patience,
  most_ms: number,
): (Patience & { wait_ms: number }) | null {
  if (!failure.retryable) return null;
  const { github_wait_first_ms: first, github_wait_max_ms: max } = limits;
  const doubled = first * 2 ** Math.min(had.failures, 20);
  const wait_ms = Math.min(Math.max(failure.retry_after_ms ?? doubled, first), max);
  if (had.waited_ms + wait_ms > most_ms) return null;
  return { failures: had.failures + 1, waited_ms: had.waited_ms + wait_ms, wait_ms };
}
