/** Who calls: the App by its signed token, an installation by one that was made for it, as GitHub tells them apart. */
import { verify } from "node:crypto";
import { problem, type Reply } from "./faults.ts";
import type { Call, Rule } from "./rules.ts";
import type { Repo, State } from "./state.ts";

const refused = problem(401, "Bad credentials");
const unreachable = problem(403, "Resource not accessible by integration");

/** The App's own token: RS256 over its id, begun, not ended, and good for ten minutes at most. Null when it is all right. */
export function whyNotApp(state: State, authorization: string): Reply | null {
  const jwt = /^bearer (.+)$/i.exec(authorization)?.[1] ?? "";
  const [header = "", payload = "", signature = ""] = jwt.split(".");
  const signed = Buffer.from(`${header}.${payload}`);
  if (!verify("RSA-SHA256", signed, state.app.publicPem, Buffer.from(signature, "base64url")))
    return problem(401, "A JSON web token could not be decoded");
  const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
  const { iss, iat, exp } = claims as { iss?: unknown; iat?: unknown; exp?: unknown };
  const now_s = Date.now() / 1_000;
  if (String(iss) !== String(state.app.id)) return problem(401, "'Issuer' claim ('iss') must be an Integer");
  if (typeof iat !== "number" || iat > now_s)
    return problem(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (typeof exp !== "number" || exp > now_s + 600)
    return problem(401, "'Expiration time' claim ('exp') is too far in the future");
  return exp < now_s
    ? problem(401, "'Expiration time' claim ('exp') must be a numeric value representing the future")
    : null;
}

/** The installation's token that was sent, or why it is none. */
export function tokenOf(state: State, authorization: string): Call["token"] | Reply {
  const text = /^(?:token|bearer) (.+)$/i.exec(authorization)?.[1] ?? "";
  const found = state.tokens.get(text);
  if (found === undefined || found.expires_ms < Date.now()) return refused;
  const installation = state.installations.get(found.installation_id);
  if (installation === undefined) return refused;
  return installation.suspended ? problem(403, "This installation has been suspended") : { ...found, text };
}
export function isReply(one: Call["token"] | Reply): one is Reply {
  return one !== null && "status" in one;
}

/** What the token covers: a repository beyond it is not there at all, a permission beyond it is refused. */
export function whyNotRepo(state: State, { as }: Rule, call: Call, repo: Repo | null): Reply | null {
  const { token } = call;
  if (typeof as === "string" || token === null) return null;
  const installed = state.installations.get(token.installation_id)?.repositories;
  if (repo === null || installed?.has(repo.id) !== true) return problem(404, "Not Found");
  if (token.repositories !== null && !token.repositories.includes(repo.id)) return problem(404, "Not Found");
  const [name, level] = as.permission(call, repo);
  const held = token.permissions[name];
  return held === level || held === "write" ? null : unreachable;
}

/** Whether git may be let at the repository with it. */
export function gitAccess(state: State, token: string | null, full_name: string, access: "read" | "write"): boolean {
  const found = tokenOf(state, `token ${token ?? ""}`);
  if (found === null || isReply(found)) return false;
  const repo = [...state.repos.values()].find((one) => one.full_name.toLowerCase() === full_name.toLowerCase());
  const rule: Rule = { as: { permission: () => ["contents", access] }, run: () => refused };
  return (
    whyNotRepo(state, rule, { parameters: {}, query: new URLSearchParams(), body: {}, token: found }, repo ?? null) ===
    null
  );
}
