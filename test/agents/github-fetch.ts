/** A GitHub that answers what it is told to, without a network: for the adapter's tests that need no state. */
import { generateKeyPairSync } from "node:crypto";
import { githubFrom } from "../../src/adapters/github-world.ts";
import { GithubFailure } from "../../src/agents/github-port.ts";

const pair = generateKeyPairSync("rsa", { modulusLength: 2_048 });
export const pem = String(pair.privateKey.export({ type: "pkcs1", format: "pem" }));
export const publicKey = pair.publicKey;
export const pkcs8Pem = String(pair.privateKey.export({ type: "pkcs8", format: "pem" }));
export const secret = "a-webhook-secret-nobody-sees";
export const bindings = {
  GITHUB_APP_ID: "77",
  GITHUB_APP_SLUG: "countersign-app",
  GITHUB_PRIVATE_KEY: pem,
  GITHUB_WEBHOOK_SECRET: secret,
};
export const repo = { id: 5, installation_id: 9, full_name: "acme/shop" };
export const sha = "a".repeat(40);

export interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly authorization: string;
  readonly body: unknown;
  readonly init: RequestInit;
}
export type Told = Response | Error | ((sent: Sent) => Response | Promise<Response>);
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
}

/** Tokens are made as asked unless `tokens` says otherwise; every other call gets the next of `answers`. */
export function fakeGithub(
  answers: Told[],
  options: { tokens?: Told[]; now?: { ms: number }; timeout_ms?: number } = {},
) {
  const now = options.now ?? { ms: Date.parse("2026-06-01T00:00:00Z") };
  const sent: Sent[] = [];
  const made: Sent[] = [];
  const fetch = async (input: Parameters<typeof globalThis.fetch>[0], init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input));
    const text = typeof init.body === "string" ? init.body : "";
    const authorization = new Headers(init.headers).get("authorization") ?? "";
    const one = { method: init.method ?? "GET", url, authorization, body: text === "" ? null : JSON.parse(text), init };
    const token = url.pathname.endsWith("/access_tokens");
    (token ? made : sent).push(one);
    const expires_at = new Date(now.ms + 3_600_000).toISOString();
    const usual = json(201, { token: `ghs_token${made.length}_of_the_tests`, expires_at, permissions: {} });
    const told = token ? (options.tokens?.shift() ?? usual) : answers.shift();
    if (told === undefined) throw new Error(`nobody said what ${one.method} ${url.pathname} answers`);
    if (told instanceof Error) throw told;
    return typeof told === "function" ? told(one) : told;
  };
  const { timeout_ms } = options;
  const world = githubFrom(bindings, false, {
    fetch,
    now_ms: () => now.ms,
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  });
  return { ...world, sent, made, now };
}

/** The failure, after a look that it holds nothing secret. */
export async function failureOf(work: Promise<unknown>): Promise<GithubFailure> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof GithubFailure)) throw new Error(`no failure of GitHub: ${String(thrown)}`);
  for (const text of [thrown.message, String(thrown.stack), JSON.stringify(thrown), String(thrown.cause)])
    if (/ghs_|eyJ|PRIVATE KEY|authorization/i.test(text) || text.includes(secret)) throw new Error("a secret is told");
  return thrown;
}
