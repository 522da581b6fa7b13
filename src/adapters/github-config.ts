/**
 * The deployment's GitHub App as its variables and secrets name it. Nothing set is no App, and no fault; half of it is
 * named, each missing or unusable piece with what to do. The private key is kept apart from all the rest. [GHA-2]
 */
import { readPrivateKey } from "./github-key.ts";

export interface GithubBindings {
  readonly GITHUB_APP_ID?: string;
  readonly GITHUB_APP_SLUG?: string;
  readonly GITHUB_PRIVATE_KEY?: string;
  readonly GITHUB_WEBHOOK_SECRET?: string;
  readonly GITHUB_WEBHOOK_SECRET_OLD?: string;
  readonly GITHUB_URL?: string;
  readonly GITHUB_API_URL?: string;
  readonly GITHUB_SCOPE?: string;
  readonly PUBLIC_URL?: string;
}

export interface GithubConfig {
  readonly app_id: number;
  /** Name of the App in addresses; its comments are by `bot_login`. */
  readonly slug: string;
  readonly bot_login: string;
  /** The one in use, and the one before while it is being replaced. */
  readonly webhook_secrets: readonly string[];
  /** Where people and git go, and where the API is: no slash at the end. */
  readonly url: string;
  readonly api_url: string;
  /** Scope that new installations belong to; null when somebody assigns each. */
  readonly scope: string | null;
  /** The deployment's own address, for links; null when nobody said. */
  readonly public_url: string | null;
}

export interface Lack {
  readonly name: string;
  readonly detail: string;
  readonly optional: true;
}
export interface GithubRead {
  readonly config: GithubConfig | null;
  /** The App's key, as PKCS#8. */
  readonly key: Uint8Array<ArrayBuffer> | null;
  readonly missing: readonly Lack[];
}

const without = "Nothing is taken from GitHub or shown there.";

/** `localHost`: the sandbox host stands on this machine, so GitHub may be a server on a loopback address, without TLS. */
export function readGithubConfig(bindings: GithubBindings, localHost: boolean): GithubRead {
  const missing: Lack[] = [];
  const lacks = (name: string, detail: string): null => {
    missing.push({ name, detail, optional: true });
    return null;
  };
  const { GITHUB_APP_ID: id, GITHUB_APP_SLUG: slug, GITHUB_PRIVATE_KEY: pem, GITHUB_WEBHOOK_SECRET: secret } = bindings;
  const old = bindings.GITHUB_WEBHOOK_SECRET_OLD || null;
  if (!id && !slug && !pem && !secret && old === null) return { config: null, key: null, missing };

  const app_id = /^[1-9][0-9]{0,14}$/.test(id ?? "")
    ? Number(id)
    : lacks("GITHUB_APP_ID", `${without} Set GITHUB_APP_ID to the App's number.`);
  const name = /^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/.test(slug ?? "")
    ? (slug ?? null)
    : lacks("GITHUB_APP_SLUG", `${without} Set GITHUB_APP_SLUG to the App's name as it stands in its address.`);
  const key = keyOf(pem, lacks);
  const used = secretOf("GITHUB_WEBHOOK_SECRET", secret, lacks);
  const before = old === null ? [] : secretOf("GITHUB_WEBHOOK_SECRET_OLD", old, lacks);
  const bases = basesOf(bindings, localHost, lacks);
  if (app_id === null || name === null || key === null || used === null || before === null || bases === null)
    return { config: null, key: null, missing };
  return {
    config: {
      app_id,
      slug: name,
      bot_login: `${name}[bot]`,
      webhook_secrets: [...used, ...before],
      ...bases,
      scope: bindings.GITHUB_SCOPE || null,
      public_url: publicUrl(bindings.PUBLIC_URL, localHost, lacks),
    },
    key,
    missing,
  };
}

type Lacks = (name: string, detail: string) => null;

function keyOf(pem: string | undefined, lacks: Lacks): Uint8Array<ArrayBuffer> | null {
  if (!pem)
    return lacks("GITHUB_PRIVATE_KEY", `${without} Set the secret GITHUB_PRIVATE_KEY to the App's private key.`);
  const read = readPrivateKey(pem);
  if (read.ok) return read.pkcs8;
  return lacks("GITHUB_PRIVATE_KEY", `${without} The secret GITHUB_PRIVATE_KEY cannot be used: ${read.why}.`);
}

/** Whoever guesses it may say what they like in GitHub's name. */
const leastSecretChars = 16;
function secretOf(name: string, secret: string | undefined, lacks: Lacks): readonly string[] | null {
  if (!secret) return lacks(name, `${without} Set the secret ${name} to the App's webhook secret.`);
  if (secret.length >= leastSecretChars) return [secret];
  return lacks(
    name,
    `${without} The secret ${name} is too short: give the App one of at least ${leastSecretChars} characters.`,
  );
}

/** Both addresses or none: of a server of one's own nobody can tell the API's from the other. */
function basesOf(
  { GITHUB_URL: url, GITHUB_API_URL: api }: GithubBindings,
  localHost: boolean,
  lacks: Lacks,
): Pick<GithubConfig, "url" | "api_url"> | null {
  if (!url && !api) return { url: "https://github.com", api_url: "https://api.github.com" };
  const both =
    "GITHUB_URL and GITHUB_API_URL go together, for example https://github.example and https://github.example/api/v3";
  if (!url) return lacks("GITHUB_URL", `${without} Set GITHUB_URL: ${both}.`);
  if (!api) return lacks("GITHUB_API_URL", `${without} Set GITHUB_API_URL: ${both}.`);
  const refusals = [
    ["GITHUB_URL", whyNoBase(url, localHost)] as const,
    ["GITHUB_API_URL", whyNoBase(api, localHost)] as const,
  ].flatMap(([name, why]) => (why === null ? [] : [{ name, why }]));
  for (const { name, why } of refusals) lacks(name, `${without} ${name} cannot be used: ${why}.`);
  return refusals.length > 0 ? null : { url: bare(url), api_url: bare(api) };
}

function publicUrl(url: string | undefined, localHost: boolean, lacks: Lacks): string | null {
  const links = "What is shown on GitHub has no links to the page here.";
  if (!url) return lacks("PUBLIC_URL", `${links} Set PUBLIC_URL to this deployment's own address.`);
  const why = whyNoBase(url, localHost);
  return why === null ? bare(url) : lacks("PUBLIC_URL", `${links} PUBLIC_URL cannot be used: ${why}.`);
}

/** Why no token is sent to this address; null when it may be. */
function whyNoBase(text: string, localHost: boolean): string | null {
  if (!URL.canParse(text)) return "it is no address";
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== "" || password !== "") return "it carries a user";
  if (search !== "" || hash !== "") return "it has more than a host and a path";
  if (protocol === "https:") return null;
  if (protocol !== "http:") return "it is not https";
  const loopback = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  return loopback && localHost ? null : "tokens would travel in the open; use https";
}
function bare(url: string): string {
  return new URL(url).href.replace(/\/+$/, "");
}
