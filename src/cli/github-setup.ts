/**
 * `countersign github setup`: has GitHub make the App from a manifest, and writes its secrets where the service finds
 * them. None of them is ever printed or given to a command. [GHL-50] to [GHL-57]
 */
import { createPrivateKey, randomBytes } from "node:crypto";
import { appName, type MadeApp, madeApp, manifestOf, organisation } from "../domain/github/manifest.ts";
import { installUrl } from "../domain/github/views.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import { type Call, type Command, type ExitCode, exit, required } from "./command.ts";
import { openPage } from "./github-page.ts";
import { type Addresses, type Place, placeFor, writeSecrets } from "./github-secrets.ts";
import { typed } from "./show.ts";
import { checkedUrl, UsageError } from "./target.ts";

const string = { type: "string" } as const;
const github = { url: "https://github.com", api_url: "https://api.github.com" };

/** Why it ended without an App whose secrets stand here. */
class SetupEnded extends Error {
  readonly code: string;
  constructor(code: string, words: string) {
    super(words);
    this.code = code;
  }
}

export const setup: Command = {
  usage: "countersign github setup --url URL [--org ORG] [--name NAME] [--state DIR | --out FILE]",
  options: { url: string, org: string, name: string, state: string, out: string },
  takes: [],
  about:
    "URL is the service's own address as GitHub reaches it. Secrets go to the local service's state folder, or to FILE for wrangler.",
  async run(call) {
    const asked = read(call);
    try {
      const app = await made(call, asked);
      return told(call, asked, app);
    } catch (error) {
      if (!(error instanceof SetupEnded)) throw error;
      const { code, message } = error;
      call.terminal.err(call.json ? JSON.stringify({ error: { code, detail: message } }) : message);
      return exit.failed;
    }
  },
};

interface Asked {
  readonly place: Place;
  readonly addresses: Addresses;
  readonly name: string;
  /** Where GitHub takes the manifest. */
  readonly action: string;
}

function read(call: Call): Asked {
  const own = ownGithub(call);
  const public_url = checkedUrl(required(call, "url"), "--url");
  if (own === null && !public_url.startsWith("https://"))
    throw new UsageError(
      "--url must begin with https://: GitHub has to reach it. For a local service, name a tunnel's address",
    );
  const name = appName.safeParse(call.text("name") ?? `Countersign ${randomBytes(3).toString("hex")}`);
  if (!name.success) throw new UsageError("--name is of 1 to 34 characters");
  const org = call.text("org");
  if (org !== undefined && !organisation.safeParse(org).success)
    throw new UsageError("--org is an organisation's name, as in its address");
  const [out, state] = [call.text("out"), call.text("state")];
  const where = { ...(out === undefined ? {} : { out }), ...(state === undefined ? {} : { state }) };
  const place = placeFor({ ...where, cwd: call.terminal.cwd });
  const { url } = own ?? github;
  const action = `${url}${org === undefined ? "" : `/organizations/${org}`}/settings/apps/new`;
  return { place, addresses: { public_url, own }, name: name.data, action };
}
/** A GitHub of one's own, by the service's own two variables. */
function ownGithub({ env }: Call): Addresses["own"] {
  const { GITHUB_URL: url, GITHUB_API_URL: api } = env;
  if (!url || url === github.url) return null;
  if (!api) throw new UsageError("GITHUB_URL is set, GITHUB_API_URL is not: set both");
  return { url: checkedUrl(url, "GITHUB_URL"), api_url: checkedUrl(api, "GITHUB_API_URL") };
}

/** Nothing is left behind, whichever way it ends; nothing is written before GitHub's answer is known to be whole. */
async function made(call: Call, { place, addresses, name, action }: Asked): Promise<MadeApp> {
  const { terminal } = call;
  const { public_url, own } = addresses;
  const [key, state] = [secretText(), secretText()];
  const manifest = (redirect_url: string) => manifestOf({ name, public_url, redirect_url });
  const page = await openPage({ key, state, action, manifest });
  const { stopped, release } = endings(call);
  try {
    terminal.err(
      `Open this address in a browser on this machine and press the button there:\n\n  ${page.address}\n\nIt waits for ten minutes. Ctrl-C stops it, and leaves nothing.`,
    );
    const { code, tell } = await Promise.race([page.came, stopped]);
    try {
      const app = await Promise.race([convert((own ?? github).api_url, code), stopped]);
      keep(place, app, addresses);
      tell("The App is made. Go back to the terminal.");
      return app;
    } catch (error) {
      tell("It did not work. Look into the terminal.");
      throw error;
    }
  } finally {
    release();
    await page.close();
  }
}
function keep(place: Place, app: MadeApp, addresses: Addresses): void {
  try {
    writeSecrets(place, app, addresses);
  } catch {
    throw new SetupEnded("file", `${place.file} cannot be written. ${lost} Then type the command again.`);
  }
}
function secretText(): string {
  return randomBytes(32).toString("base64url");
}
/** Ctrl-C, or nobody came. */
function endings({ terminal }: Call): { stopped: Promise<never>; release(): void } {
  let release = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    const late = setTimeout(
      () =>
        reject(new SetupEnded("timeout", "Nobody came in ten minutes, so nothing was made. Type the command again.")),
      limits.github_setup_ms,
    );
    const deaf = terminal.onInterrupt?.(() =>
      reject(new SetupEnded("interrupted", `Stopped; nothing was written here. ${lost}`)),
    );
    release = () => {
      clearTimeout(late);
      deaf?.();
    };
  });
  // It may end after nobody listens any more.
  stopped.catch(() => undefined);
  return { stopped, release };
}
const lost = "If GitHub made an App meanwhile, delete it there: its secrets are lost.";

/** The code is good for once, so an answer that got lost is asked for no more than a few times. */
async function convert(api_url: string, code: string): Promise<MadeApp> {
  for (let tries = 1; ; tries++) {
    const answer = await askOnce(`${api_url}/app-manifests/${code}/conversions`);
    if (answer.kind === "whole") return appIn(answer.text);
    if (answer.kind === "refused" || tries >= limits.github_setup_tries)
      throw new SetupEnded(
        "github",
        `GitHub gave no App for the code (${answer.why}). ${lost} Then type the command again.`,
      );
  }
}
type Answered =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "refused" | "passing"; readonly why: string };

async function askOnce(url: string): Promise<Answered> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        accept: "application/vnd.github+json",
        "user-agent": "countersign",
        "x-github-api-version": "2022-11-28",
      },
      redirect: "error",
      signal: AbortSignal.timeout(limits.github_setup_call_ms),
    });
    const text = await textOf(response);
    if (text === null) return { kind: "refused", why: "it answered more than fits" };
    if (response.status >= 500) return { kind: "passing", why: `it answered ${response.status}` };
    return response.status === 201
      ? { kind: "whole", text }
      : { kind: "refused", why: `it answered ${response.status}` };
  } catch {
    return { kind: "passing", why: "it does not answer" };
  }
}
async function textOf({ body }: Response): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    if (bytes > limits.github_setup_answer_bytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
/** Its words hold secrets, so nothing of them is repeated. */
function appIn(text: string): MadeApp {
  try {
    const app = madeApp.parse(JSON.parse(text));
    if (createPrivateKey(app.pem).asymmetricKeyType === "rsa") return app;
  } catch {
    // Told below.
  }
  throw new SetupEnded("github", `GitHub answered with something that is no App. ${lost} Then type the command again.`);
}

function told(call: Call, { place, addresses }: Asked, app: MadeApp): ExitCode {
  const { file } = place;
  const install_url = installUrl((addresses.own ?? github).url, app.slug);
  const bulk = typed(["npx", "wrangler", "secret", "bulk", file]);
  const first = place.kind === "local" ? ["stop the service and type `npm start` again"] : [bulk, typed(["rm", file])];
  const next = [
    ...first,
    `install the App: ${install_url}`,
    "countersign github installations",
    "countersign github assign INSTALLATION",
  ];
  if (call.json) {
    call.terminal.out(JSON.stringify({ app_id: app.id, slug: app.slug, install_url, file, next }));
    return exit.done;
  }
  const steps = next.map((step, at) => `  ${at + 1}. ${step}`).join("\n");
  call.terminal.out(
    `The GitHub App ${app.slug} is made. Its secrets stand in ${visibleLine(file)}, which only you may read.\n\nNext:\n${steps}`,
  );
  return exit.done;
}
