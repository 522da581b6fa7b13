/** What may go wrong with an answer of the contract server: each fault meets the next requests that it fits, then is over. */
export type FaultKind =
  /** The hour's quota is spent: 403, `x-ratelimit-remaining: 0` and the time it begins anew. */
  | "primary_limit"
  /** Too much at once: 403 in GitHub's words, with `retry-after` when seconds are given. */
  | "secondary_limit"
  | "too_many"
  | "unauthorized"
  | "forbidden"
  /** A page of a proxy with 502, before or after the request has had its effect. */
  | "5xx_before"
  | "5xx_after"
  /** The connection breaks before, or in the middle of the answer after the effect. */
  | "cut_before"
  | "cut_after"
  /** The answer takes `ms`; the effect is done at once. */
  | "slow"
  /** 200 with a page of HTML. */
  | "html"
  /** An answer that does not end within any bound. */
  | "huge"
  /** Sent on to `to`: with 307, the method and the body are to go along. */
  | "redirect"
  /** 422 with words that repeat the authorization header. */
  | "echo";

export interface Fault {
  readonly kind: FaultKind;
  /** Name of the operation it meets (`POST /repos/{owner}/{repo}/check-runs`), or a method; all when left out. */
  readonly only?: string;
  /** How many requests it meets: one when left out. */
  readonly times?: number;
  readonly seconds?: number;
  readonly ms?: number;
  readonly to?: string;
}

export class Faults {
  #waiting: { fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }
  clear(): void {
    this.#waiting = [];
  }
  take(name: string): Fault | null {
    const found = this.#waiting.find(
      ({ fault: { only }, left }) => left > 0 && (only === undefined || only === name || name.startsWith(`${only} `)),
    );
    if (found === undefined) return null;
    found.left -= 1;
    return found.fault;
  }
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
export function problem(status: number, message: string, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers,
    body: { message, documentation_url: "https://docs.github.com/rest", status: String(status) },
  };
}

/** The answer that takes the place of the real one, before anything is done; null when the fault is of another kind. */
export function refusalOf(fault: Fault, authorization: string): Reply | null {
  const after: Record<string, string> = fault.seconds === undefined ? {} : { "retry-after": String(fault.seconds) };
  switch (fault.kind) {
    case "primary_limit": {
      const reset = String(Math.floor(Date.now() / 1_000) + (fault.seconds ?? 60));
      const headers = { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
      return problem(403, "API rate limit exceeded for installation ID 1.", headers);
    }
    case "secondary_limit":
      return problem(
        403,
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        after,
      );
    case "too_many":
      return problem(429, "Too many requests", after);
    case "unauthorized":
      return problem(401, "Bad credentials");
    case "forbidden":
      return problem(403, "Resource not accessible by integration");
    case "redirect":
      return problem(307, "Temporary Redirect", { location: fault.to ?? "" });
    case "echo":
      return problem(422, `Validation Failed for ${authorization}`);
    default:
      return null;
  }
}
