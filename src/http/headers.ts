/** What every answer tells a browser: guess nothing, keep nothing, frame nothing. [HTTP-31] */
import { limits } from "../limits.ts";

/**
 * The page's own policy. Files are served before this code runs, so the page's build puts the same
 * lines into `_headers`; a test holds the two together. Styles may be inline because the terminal writes its own.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const everywhere = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

export function pageHeaders(): Record<string, string> {
  return { ...everywhere, "content-security-policy": pagePolicy };
}

export function apiHeaders(): Record<string, string> {
  return {
    ...everywhere,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
  };
}

/**
 * The public keys are for anybody, and change seldom: kept for minutes, so that a new key is seen soon and a revoked
 * one not for long. [HTTP-111]
 */
export function keyHeaders(): Record<string, string> {
  return {
    ...apiHeaders(),
    "cache-control": `public, max-age=${limits.public_keys_kept_s}`,
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
  };
}

/** A copy under these headers: what another server answered cannot be written to. */
export function under(response: Response, headers: Readonly<Record<string, string>>, url: string): Response {
  const answer = new Response(response.body, response);
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  if (new URL(url).protocol === "https:") answer.headers.set("strict-transport-security", "max-age=31536000");
  return answer;
}
