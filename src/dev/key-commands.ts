/**
 * `npm run keys`: the keys that sign a local service's approvals, and new ones for a deployment. Keys change only while
 * nothing runs on their folder, whole or not at all; a private part is printed by `generate` alone. [START-30] to [START-34]
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { publicKeys, type SigningKeys } from "../adapters/signer.ts";
import { limits } from "../limits.ts";
import { StartError, sentence, writePrivate } from "./files.ts";
import { DEFAULT_STATE } from "./flags.ts";
import { generated, parseKeys, retired, revoked, rotated } from "./key-set.ts";
import { envFile, readSecrets } from "./secrets.ts";
import { lock, type StateFolder, stateFolder } from "./state.ts";

export const usage = `npm run keys -- list|rotate|retire KID|revoke KID --yes [--state DIR]
npm run --silent keys -- generate [--keep JWKS]

  list         which key signs, and which ones verify
  rotate       make a new key that signs from the next start on; the others stay to verify
  retire KID   forget the private part of a key that no longer signs; \`rotate\` does that by itself, so only a key that
               was put into the set by hand, or by an older version, still needs it
  revoke KID   forget a key altogether: what it signed stands for nothing from the next start on
  generate     print a new SIGNING_KEYS for a deployment on stdout, private part and all
  --keep JWKS  what these published keys signed still verifies: a file saved from /.well-known/jwks.json
  --state DIR  the folder of the service (default ${DEFAULT_STATE})`;

export interface Said {
  out(line: string): void;
  err(line: string): void;
}
class Usage extends Error {}
const verbs = ["list", "rotate", "retire", "revoke", "generate"] as const;

/** 0 done, 1 refused, 2 asked wrongly. */
export function runKeys(argv: readonly string[], say: Said): number {
  try {
    return keys(argv, say);
  } catch (error) {
    if (error instanceof Usage) {
      say.err(`${error.message}\n\n${usage}`);
      return 2;
    }
    if (!(error instanceof StartError)) throw error;
    say.err(error.message);
    return 1;
  }
}

function keys(argv: readonly string[], say: Said): number {
  const { values, positionals } = parsed(argv);
  const [verb, kid, more] = positionals;
  if (values.help === true) {
    say.out(usage);
    return 0;
  }
  if (!verbs.some((known) => known === verb))
    throw new Usage(verb === undefined ? "name a command" : `there is no command ${JSON.stringify(verb)}`);
  const named = verb === "retire" || verb === "revoke";
  if (more !== undefined || named !== (kid !== undefined))
    throw new Usage("name a command, and a key where it takes one");
  if (verb === "generate") return generate(values.keep, say);
  if (values.keep !== undefined) throw new Usage("--keep goes with generate");
  const folder = known(values.state ?? DEFAULT_STATE);
  switch (verb) {
    case "list":
      for (const line of listed(parseKeys(readSecrets(folder).SIGNING_KEYS, folder.secrets))) say.out(line);
      return 0;
    case "rotate": {
      const { before, after } = change(folder, rotated);
      say.out(`Key ${after.active} signs from the next start on.`);
      say.out(`Key ${before.active} still verifies what it signed; its private part is gone.`);
      return 0;
    }
    case "retire":
      change(folder, (set) => retired(set, kid ?? ""));
      say.out(`Key ${kid} can only verify now.`);
      return 0;
    default: {
      if (values.yes !== true)
        throw new Usage(
          `revoking ${kid} voids every approval it signed that is not executed yet, and the checkpoints of the audit it signed no longer verify: export the audit first, then add --yes`,
        );
      change(folder, (set) => revoked(set, kid ?? ""));
      say.out(`Key ${kid} is gone: from the next start on nothing it signed stands.`);
      return 0;
    }
  }
}

function parsed(argv: readonly string[]) {
  const string = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    const options = { state: string, keep: string, yes: flag, help: flag };
    return parseArgs({ args: [...argv], strict: true, allowPositionals: true, options });
  } catch (error) {
    throw new Usage(sentence(error));
  }
}

/** Only a folder that was started before has keys; none is made here. */
function known(dir: string): StateFolder {
  if (!existsSync(join(resolve(dir), "secrets.env")))
    throw new StartError(
      `there are no keys in ${resolve(dir)}: \`npm start\` makes them, or name the folder with --state`,
    );
  return stateFolder(dir);
}

function change(folder: StateFolder, how: (keys: SigningKeys) => SigningKeys) {
  const held = lock(folder);
  try {
    const secrets = readSecrets(folder);
    const before = parseKeys(secrets.SIGNING_KEYS, folder.secrets);
    const after = how(before);
    writePrivate(folder.secrets, envFile({ ...secrets, SIGNING_KEYS: JSON.stringify(after) }));
    return { before, after };
  } finally {
    held.release();
  }
}

function listed({ active, keys }: SigningKeys): string[] {
  return Object.entries(keys).map(([kid, pair]) => {
    const does = kid === active ? "signs" : "verifies what it signed";
    return `${kid}  ${does}${kid !== active && pair.private !== undefined ? "; its private part is still kept: retire it" : ""}`;
  });
}

function generate(keep: string | undefined, say: Said): number {
  const made = generated(keep === undefined ? { keys: [] } : published(resolve(keep)));
  say.out(JSON.stringify(made));
  const others = Object.keys(made.keys).length - 1;
  say.err(`Key ${made.active} is new; ${others === 1 ? "1 published one only verifies" : `${others} published ones only verify`}.
This line holds a private key: it belongs into the secret and nowhere else.
  npm run --silent keys -- generate --keep jwks.json | npx wrangler secret put SIGNING_KEYS`);
  return 0;
}
function published(path: string) {
  try {
    if (statSync(path).size > limits.key_set_bytes) throw new StartError(`${path} is too large to be a set of keys`);
    return publicKeys.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${path} is no set of Ed25519 keys: save the deployment's /.well-known/jwks.json there`);
  }
}
