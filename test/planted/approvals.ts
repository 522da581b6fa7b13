/** Bugs of who decides, of expiry, of what asks, and of what a yes is worth later. */
import type { Plant } from "./plants.ts";

const deciding = { test: "test/domain/deciding.test.ts" } as const;
const who = { test: "test/agents/who-decides.test.ts" } as const;
const asking = { test: "test/agents/asking.test.ts" } as const;
const expiry = { test: "test/agents/expiry.test.ts" } as const;
const walks = { approvals: { seed: "planted", walks: 60 } } as const;

export const approvalPlants: readonly Plant[] = [
  {
    id: "one-person-is-two",
    file: "src/domain/deciding.ts",
    find: '    .replace(tokenTail, "")\n',
    replace: "",
    why: "who holds two tokens approves twice",
    subset: deciding,
  },
  {
    id: "own-task-approved",
    file: "src/domain/deciding.ts",
    find: "if (needs.not_by !== null && samePerson(caller.subject, needs.not_by))",
    replace: "if (needs.not_by !== null && caller.subject === needs.not_by)",
    why: "who asked approves it with another token of theirs",
    subset: who,
  },
  {
    id: "weak-yes-counts",
    file: "src/domain/deciding.ts",
    find: "return strengthOf(made.proof) >= strengthOf(needs.proof);",
    replace: "return true;",
    why: "a yes of before counts although it is proved too weakly now",
    subset: who,
  },
  {
    id: "yes-for-other-bytes",
    file: "src/domain/deciding.ts",
    find: 'made.decision !== "approve" || made.content_hash !== content_hash',
    replace: 'made.decision !== "approve"',
    why: "a yes to another content is one of the two",
    subset: deciding,
  },
  {
    id: "expired-late-by-one",
    file: "src/domain/deciding.ts",
    find: "Date.parse(card.expires_at) <= now_ms",
    replace: "Date.parse(card.expires_at) < now_ms",
    why: "a decision at the very moment still counts",
    subset: expiry,
  },
  {
    id: "late-yes-counts",
    file: "durable-objects/runtime/decisions.ts",
    find: "hasExpired(given, tx.now) ? expire(tx, given, prepared.verified) : given",
    replace: "given",
    why: "what has expired can be approved until the alarm rings",
    subset: expiry,
  },
  {
    id: "signed-for-others",
    file: "durable-objects/runtime/decisions.ts",
    find: 'if (status.value === "approved" && prepared.signed_for !==',
    replace: 'if (status.value === "approved" && prepared.signed_for === "" && prepared.signed_for !==',
    why: "tokens signed before the other approval or policy are attached",
    subset: who,
  },
  {
    id: "changed-tree-runs",
    file: "durable-objects/runtime/calls.ts",
    find: 'reasonNotSigned(tx, task, known, call.tree ?? "", verified)',
    replace: 'reasonNotSigned(tx, task, known, known.tree ?? "", verified)',
    why: "what was allowed in one workspace runs in another",
    subset: asking,
  },
  {
    id: "begun-call-changes",
    file: "durable-objects/runtime/calls.ts",
    find: 'if (known.grant !== null && known.grant.life !== "void") {',
    replace: 'if (known.grant !== null && known.grant.life === "issued") {',
    why: "a call that was begun goes on with other arguments than were signed",
    subset: asking,
  },
  {
    id: "winner-untold",
    file: "durable-objects/runtime/lives.ts",
    find: "const winner = { by, what, at: tx.at, reason };",
    replace: "const winner = null;",
    why: "who comes second is not told what came first",
    subset: walks,
  },
  {
    id: "ended-is-not-the-end",
    file: "src/domain/approval.ts",
    find: 'if (card.status !== "pending")',
    replace: 'if (card.status === "approved")',
    why: "what was denied or has expired is decided again",
    subset: walks,
  },
  {
    id: "denial-forgotten",
    file: "durable-objects/runtime/denied.ts",
    find: "tx.stores.asks.refused({ task_id: task.id, call_hash: hashOfCall(call) }, said, tx.now);",
    replace: "void said;",
    why: "a denied call asks again at once",
    subset: asking,
  },
  {
    id: "asking-twice-counts-twice",
    file: "durable-objects/runtime/calls.ts",
    find: "if (asks.has(wish.id)) return resolved;",
    replace: "if (asks.has(wish.call_hash)) return resolved;",
    why: "a repeated question is another question",
    subset: asking,
  },
  {
    id: "expiry-is-a-no",
    file: "durable-objects/runtime/expiry.ts",
    find: 'error_code: "timeout", retryable: false',
    replace: 'error_code: "approval_denied", retryable: false',
    why: "an agent is told that it was denied when nobody answered",
    subset: expiry,
  },
];
