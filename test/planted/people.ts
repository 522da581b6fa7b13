/** Bugs of people: whose yes fell with their token, sign-in links for others, names that pose, and whose a key is. */
import type { Plant } from "./plants.ts";

const who = { test: "test/agents/who-decides.test.ts" } as const;
const stores = { test: "test/agents/stores-people.test.ts" } as const;
const deciding = { test: "test/domain/deciding.test.ts" } as const;
const people = "durable-objects/people.ts";

export const peoplePlants: readonly Plant[] = [
  {
    id: "revoked-yes-counts",
    file: "src/domain/deciding.ts",
    find: "  if (needs.revoked?.includes(made.by)) return false;\n",
    replace: "",
    why: "a first yes counts although its token was revoked since",
    subset: who,
  },
  {
    id: "revoked-while-signing",
    file: "durable-objects/runtime/decisions.ts",
    find: "if (tx.stores.people.isRevoked(caller.credential_id))",
    replace: 'if (tx.stores.people.isRevoked("") && caller.credential_id === "")',
    why: "whose token is revoked while the tokens are signed still decides",
    subset: who,
  },
  {
    id: "fallen-yes-off-record",
    file: "durable-objects/runtime/decisions.ts",
    find: "{ not_counted: needs.revoked }",
    replace: "{}",
    why: "nothing on record says whose yes did not count",
    subset: who,
  },
  {
    id: "link-signs-in-the-admin",
    file: people,
    find: "...[input.ticket_hash, input.path, credential_id, expires_at, made_by],",
    replace: "...[input.ticket_hash, input.path, asked.credential_id, expires_at, made_by],",
    why: "a link for somebody else opens the admin's own session",
    subset: stores,
  },
  {
    id: "link-outlives-its-maker",
    file: people,
    find: " OR made_by = ?1) AND revoked_at",
    replace: ") AND revoked_at",
    why: "sessions of links that a revoked admin made go on",
    subset: stores,
  },
  {
    id: "link-off-record",
    file: "durable-objects/runtime/doors-people.ts",
    find: "for: made?.of ?? null",
    replace: "for: null",
    why: "nothing on record says for whom a link was made",
    subset: who,
  },
  {
    id: "mixed-scripts-pose",
    file: "src/domain/person-name.ts",
    find: ".length > 1",
    replace: ".length > 2",
    why: "a name of Latin and Cyrillic letters poses as another's",
    subset: deciding,
  },
  {
    id: "control-makes-a-person",
    file: "src/domain/deciding.ts",
    find: "[[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}]--\\s]",
    replace: "[\\p{Default_Ignorable_Code_Point}--\\s]",
    why: "a control character in a name makes two people of one",
    subset: deciding,
  },
  {
    id: "key-of-everybody",
    file: "durable-objects/idempotency.ts",
    find: "WHERE subject = ? AND route",
    replace: "WHERE ? <> '' AND route",
    why: "a key is answered with what somebody else made with it",
    subset: stores,
  },
];
