/**
 * `WebhookPost` over fetch: one POST with the headers of Standard Webhooks, to an address that is looked at again, with
 * no redirect followed, little of the answer read, and an end after ten seconds. What a host name leads to is for the
 * network: fetch does not say which address it took. [WBH-*]
 */
import type { Posted, WebhookPost } from "../agents/webhook-port.ts";
import { type PostAnswer, retryAfterMs } from "../domain/webhook-order.ts";
import { signatureOf, signingSecret } from "../domain/webhook-signature.ts";
import { webhookUrl } from "../domain/webhooks.ts";
import { limits } from "../limits.ts";

export interface PostingFrom {
  /** The deployment's key, of which the secrets are derived; null where it has none. */
  readonly key: Uint8Array | null;
  /** Plain http to this machine is allowed too. */
  readonly loopback: boolean;
  readonly now?: () => number;
  readonly fetch?: typeof fetch;
  readonly limit_ms?: number;
}

export function webhookPost(from: PostingFrom): WebhookPost {
  // Called as a plain function: workerd refuses its fetch as a method of something else.
  const send = from.fetch ?? ((input, init) => fetch(input, init));
  const now = from.now ?? (() => Date.now());
  const limit_ms = from.limit_ms ?? limits.webhook_post_ms;
  return {
    async post(posted): Promise<PostAnswer> {
      const { key, loopback } = from;
      if (key === null) return failed("this deployment has no SCOPE_MAC_KEY to sign with");
      const url = webhookUrl(posted.url, loopback);
      if (!url.ok) return failed(url.refusal.detail);
      const signal = AbortSignal.timeout(limit_ms);
      let response: Response;
      try {
        const headers = headersFor(posted, key, now());
        response = await send(url.value, { method: "POST", headers, body: posted.body, redirect: "manual", signal });
      } catch (error) {
        return failed(whyNot(error, limit_ms));
      }
      const retry_after_ms = retryAfterMs(response.headers.get("retry-after"), now());
      return { kind: "answered", status: response.status, retry_after_ms, text: await beginning(response, signal) };
    },
  };
}

function headersFor(posted: Posted, key: Uint8Array, now_ms: number): Record<string, string> {
  const { scope_id, webhook_id, id, secret_versions } = posted;
  const timestamp_s = Math.floor(now_ms / 1_000);
  const body = new TextEncoder().encode(posted.body);
  const signatures = secret_versions.map((version) =>
    signatureOf(signingSecret(key, { use: "webhook", scope_id, id: webhook_id, version }), { id, timestamp_s, body }),
  );
  return {
    "content-type": "application/json",
    "user-agent": "Countersign-Webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp_s),
    "webhook-signature": signatures.join(" "),
  };
}

/** As much of it as is kept; what a receiver sends beyond that, or slowly, is not waited for. */
async function beginning(response: Response, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < limits.webhook_answer_bytes && !signal.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, limits.webhook_answer_bytes - bytes), { stream: true });
      bytes += value.byteLength;
    }
  } catch {
    // Its status came, and says what counts; of the rest there is what there is.
  }
  await reader.cancel().catch(() => undefined);
  return [...text].slice(0, limits.webhook_answer_chars).join("");
}

function failed(why: string): PostAnswer {
  return { kind: "failed", why };
}
/** Only a code, if there is one: an error's own words may hold the address, and that may hold a secret. */
function whyNot(error: unknown, limit_ms: number): string {
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError"))
    return `there was no answer within ${limit_ms / 1_000} seconds`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? `it could not be reached (${code})` : "it could not be reached";
}
