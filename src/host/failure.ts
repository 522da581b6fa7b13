/** What goes wrong in the host, as it is answered: a code from the protocol's list and a sentence. */
import type { FailureCode } from "./protocol.ts";

export class HostFailure extends Error {
  readonly code: FailureCode;
  readonly retryable: boolean;
  constructor(code: FailureCode, message: string, retryable = false) {
    super(message);
    this.name = "HostFailure";
    this.code = code;
    this.retryable = retryable;
  }
}

/** Anything else that was thrown is ours to repair: it is logged in full and answered in one line. */
export function asFailure(thrown: unknown): HostFailure {
  if (thrown instanceof HostFailure) return thrown;
  console.error(thrown);
  return new HostFailure("internal", thrown instanceof Error ? thrown.message : String(thrown), true);
}
