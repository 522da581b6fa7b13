/**
 * What may be done with a set of signing keys: rotate, retire, revoke, begin anew beside published ones. Pure but for
 * the dice of a new key; what comes out can always sign and always fits the secret it is kept in. [START-30] [START-31]
 */
import { type PublicKeys, readSigningKeys, type SigningKeys } from "../adapters/signer.ts";
import { limits } from "../limits.ts";
import { StartError } from "./files.ts";
import { newKey } from "./secrets.ts";

type Pair = SigningKeys["keys"][string];

export function parseKeys(text: string, where: string): SigningKeys {
  const read = readSigningKeys(text);
  if (!read.ok) throw new StartError(`SIGNING_KEYS of ${where} cannot be used: ${read.why}`);
  return read.keys;
}

/** A new key signs; every other stays to verify, and none of them can sign any more. */
export function rotated(keys: SigningKeys): SigningKeys {
  const { kid, pair } = newKey();
  return held({ active: kid, keys: { ...mapped(keys.keys, publicOnly), [kid]: pair } });
}
/** The key's private part goes; what it signed still verifies. */
export function retired(keys: SigningKeys, kid: string): SigningKeys {
  const pair = inactive(keys, kid, "retired");
  return held({ ...keys, keys: { ...keys.keys, [kid]: publicOnly(pair) } });
}
/** The key goes whole: what it signed stands for nothing from then on. */
export function revoked(keys: SigningKeys, kid: string): SigningKeys {
  inactive(keys, kid, "revoked");
  const { [kid]: _gone, ...rest } = keys.keys;
  return held({ ...keys, keys: rest });
}
/** A new set that verifies what published keys signed: a secret of a deployment cannot be read back, its public keys can. */
export function generated(published: PublicKeys): SigningKeys {
  const { kid, pair } = newKey();
  const kept = published.keys.map(({ kid: name, kty, crv, x }) => [name, { public: { kty, crv, x } }] as const);
  if (new Set(kept.map(([name]) => name)).size !== kept.length)
    throw new StartError("one name stands twice among the published keys: what it names is not clear");
  return held({ active: kid, keys: { ...Object.fromEntries(kept), [kid]: pair } });
}

function inactive(keys: SigningKeys, kid: string, what: string): Pair {
  const pair = Object.hasOwn(keys.keys, kid) ? keys.keys[kid] : undefined;
  if (pair === undefined) throw new StartError(`there is no key ${JSON.stringify(kid)}: see \`npm run keys -- list\``);
  if (keys.active === kid) throw new StartError(`${kid} is the key that signs, and cannot be ${what}: rotate first`);
  return pair;
}
function publicOnly({ public: known }: Pair): Pair {
  return { public: known };
}
function mapped(keys: SigningKeys["keys"], change: (pair: Pair) => Pair): SigningKeys["keys"] {
  return Object.fromEntries(Object.entries(keys).map(([kid, pair]) => [kid, change(pair)]));
}
/** Held to the same rules as at the start of the service, so that no command leaves keys it would refuse. */
function held(keys: SigningKeys): SigningKeys {
  if (Object.keys(keys.keys).length > limits.signing_keys)
    throw new StartError(
      `at most ${limits.signing_keys} keys fit one secret: revoke one whose tokens have all expired`,
    );
  return parseKeys(JSON.stringify(keys), "the new set");
}
