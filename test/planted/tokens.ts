/** Bugs of keys, tokens as they are consumed and shown, and the doors that hand them out. */
import type { Plant } from "./plants.ts";

const stored = { test: "test/agents/tokens.test.ts" } as const;
const hostile = { test: "test/domain/jws-hostile.test.ts" } as const;
const keys = { test: "test/domain/signing-keys.test.ts" } as const;
const keyCommands = { test: "test/cli/keys.test.ts" } as const;
const command = { test: "test/cli/token.test.ts" } as const;
const roles = { test: "test/http/roles.test.ts" } as const;

export const tokenPlants: readonly Plant[] = [
  {
    id: "nonce-consumed-again",
    file: "durable-objects/runtime/token-rows.ts",
    find: "ON CONFLICT (nonce) DO NOTHING RETURNING seq",
    replace: "ON CONFLICT (nonce) DO UPDATE SET subject = excluded.subject RETURNING seq",
    why: "a token shown a second time moves to another subject",
    subset: stored,
  },
  {
    id: "token-of-another-approval",
    file: "durable-objects/runtime/token-rows.ts",
    find: "WHERE approval_id = ?1 AND subject = ?2 AND jws = ?3",
    replace: "WHERE ?1 <> '' AND subject = ?2 AND jws = ?3",
    why: "a token stands under an approval it was not consumed for",
    subset: stored,
  },
  {
    id: "spent-twice",
    file: "durable-objects/runtime/token-rows.ts",
    find: "AND spent_at IS NULL RETURNING seq",
    replace: "RETURNING seq",
    why: "a call's token runs it a second time",
    subset: stored,
  },
  {
    id: "never-consumed-stands",
    file: "durable-objects/runtime/tokens.ts",
    find: "return tx.stores.tokens.has(token) ? null :",
    replace: 'return tx.stores.tokens.has(token) || token.jws !== "" ? null :',
    why: "what was signed but never consumed is good for an item",
    subset: stored,
  },
  {
    id: "revoked-key-unnamed",
    file: "durable-objects/runtime/tokens.ts",
    find: 'readJws(jws)?.kid ?? "none"',
    replace: '"none"',
    why: "the record does not say whose signature stopped an item",
    subset: stored,
  },
  {
    id: "replaced-token-shown-good",
    file: "durable-objects/runtime/doors-tokens.ts",
    find: "if (grant?.jws !== token.jws)",
    replace: "if (grant === undefined)",
    why: "a token that was let go is shown as attached",
    subset: stored,
  },
  {
    id: "parts-of-two-keys",
    file: "src/adapters/signer.ts",
    find: "return own.x === known.x && derived.x === known.x;",
    replace: "return own.x === known.x && derived.kty === known.kty;",
    why: "a key signs what its published part does not verify",
    subset: keys,
  },
  {
    id: "active-key-is-inherited",
    file: "src/adapters/signer.ts",
    find: "const own = Object.hasOwn(keys, active) ? keys[active] : undefined;",
    replace: "const own = keys[active];",
    why: "an active key named like a property of every object is looked up there",
    subset: keys,
  },
  {
    id: "signature-spelled-twice",
    file: "src/domain/jws.ts",
    find: "|| encode(signature) !== tail) return null;",
    replace: ") return null;",
    why: "one signature makes several tokens",
    subset: hostile,
  },
  {
    id: "bytes-not-canonical",
    file: "src/domain/jws.ts",
    find: "if (jwsInput(typ, headRead.data.kid, bodyRead.data) !== input) return null;",
    replace: "if (headRead.data.kid === input) return null;",
    why: "the same claims in other bytes pass for the token",
    subset: hostile,
  },
  {
    id: "old-key-keeps-signing-part",
    file: "src/dev/key-set.ts",
    find: "keys: { ...mapped(keys.keys, publicOnly), [kid]: pair }",
    replace: "keys: { ...keys.keys, [kid]: pair }",
    why: "a rotated key stays able to sign",
    subset: keyCommands,
  },
  {
    id: "keys-change-under-a-service",
    file: "src/dev/key-commands.ts",
    find: "const held = lock(folder);",
    replace: "const held = { release: () => undefined };",
    why: "keys change while a service runs with the old ones",
    subset: keyCommands,
  },
  {
    id: "expired-passes-offline",
    file: "src/cli/token-verdict.ts",
    find: "if (now_ms >= statement.exp * 1000)",
    replace: "if (now_ms > (statement.exp + 1) * 1000)",
    why: "a token verifies in its second of expiry",
    subset: command,
  },
  {
    id: "one-good-token-is-enough",
    file: "src/cli/token.ts",
    find: "const valid = found.every(",
    replace: "const valid = found.some(",
    why: "a list with a bad token passes for good",
    subset: command,
  },
  {
    id: "approvers-see-who-holds-tokens",
    file: "src/http/scope.ts",
    find: '...asks("admin", "scope"),\n  responses: { 200: json("All tokens"',
    replace: '...asks("approver", "scope"),\n  responses: { 200: json("All tokens"',
    why: "one route takes a role below its own",
    subset: roles,
  },
];
