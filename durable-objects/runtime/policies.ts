/**
 * The scope's policy, version by version: what is in force, what was before, who changed it and why. No version is
 * ever changed or forgotten: tokens and cards name them by their hashes. [PDT-6] [PDT-7]
 */
import { hashOf } from "../../src/domain/canonical.ts";
import { defaultPolicy, type Policy, policySchema } from "../../src/domain/policy.ts";
import { diffPolicies } from "../../src/domain/policy-change.ts";
import { readPolicy } from "../../src/domain/policy-document.ts";
import type { PolicyChanged, PolicyVersion, PolicyView } from "../../src/domain/policy-shapes.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Page } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";
import type { Tx } from "./tx.ts";

interface Row {
  readonly version: number;
  readonly doc: string;
  readonly at: number;
  readonly changed_by: string | null;
  readonly reason: string | null;
}
const columns = "version, doc, at, changed_by, reason";

export interface InForce {
  readonly policy: Policy;
  readonly view: PolicyView;
}

export class Policies {
  readonly #sql: Sql;
  /** Every commit asks for the policy in force, and it seldom changes. */
  #last: { readonly doc: string; readonly found: InForce } | null = null;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The first version of a scope. */
  init(now: number): void {
    if (this.#newest() === null) this.add(defaultPolicy, { changed_by: null, reason: null }, now);
  }
  /** Throws when no policy can be read: then nothing of the scope runs. */
  inForce(): InForce {
    const row = this.#newest();
    if (row === null) throw new Error("this scope has no policy");
    if (this.#last?.doc === row.doc && this.#last.found.view.version === row.version) return this.#last.found;
    const view = viewOf(row);
    const found = { policy: policySchema.parse(view.policy), view };
    this.#last = { doc: row.doc, found };
    return found;
  }
  version(version: number): PolicyView | null {
    const row = this.#sql.one<Row>(`SELECT ${columns} FROM policy WHERE version = ?`, version);
    return row === null ? null : viewOf(row);
  }
  /** Newest first. `cursor` is the last version of the page before. */
  versions(limit: number, cursor: string | null): Page<PolicyVersion> {
    const before = cursor === null ? Number.MAX_SAFE_INTEGER : Number(cursor);
    const rows = this.#sql.all<Row>(
      `SELECT ${columns} FROM policy WHERE version < ? ORDER BY version DESC LIMIT ?`,
      ...[Number.isSafeInteger(before) ? before : 0, limit + 1],
    );
    const items = rows.slice(0, limit).map((row) => {
      const { policy, ...version } = viewOf(row);
      return version;
    });
    return { items, next_cursor: rows.length > limit ? String(items.at(-1)?.version) : null };
  }
  add(policy: Policy, { changed_by, reason }: Pick<PolicyVersion, "changed_by" | "reason">, now: number): PolicyView {
    const row = { version: (this.#newest()?.version ?? 0) + 1, doc: JSON.stringify(policy), at: now };
    this.#sql.run(
      `INSERT INTO policy (${columns}) VALUES (?, ?, ?, ?, ?)`,
      ...[row.version, row.doc, row.at, changed_by, reason],
    );
    return viewOf({ ...row, changed_by, reason });
  }
  #newest(): Row | null {
    return this.#sql.one<Row>(`SELECT ${columns} FROM policy ORDER BY version DESC LIMIT 1`);
  }
}

/** The hash is that of the document as it was stored, so it stays what tokens and cards say, whatever later code adds. */
function viewOf({ version, doc, at, changed_by, reason }: Row): PolicyView {
  const policy: PolicyView["policy"] = JSON.parse(doc);
  return { version, policy_hash: hashOf(policy), policy, changed_at: new Date(at).toISOString(), changed_by, reason };
}

export interface PolicyAsked {
  readonly policy: unknown;
  readonly reason: string | null;
  /** Hashes of versions that the caller has seen; null where that does not matter. */
  readonly seen: readonly string[] | null;
}

/** `by` is null for the service itself. What is in force already is not made again, whatever the caller had seen. */
export function changePolicy(
  tx: Tx,
  policies: Policies,
  by: string | null,
  { policy: asked, reason, seen }: PolicyAsked,
): Result<PolicyChanged> {
  const read = readPolicy(asked);
  if (!read.ok) return refuse("bad_request", "This is not a policy: see errors.", { errors: read.problems });
  const { policy: before, view } = policies.inForce();
  const changes = diffPolicies(before, read.policy);
  if (changes.length === 0) return ok({ ...view, changed: false, changes: [], more_changes: 0 });
  if (seen !== null && !seen.includes(view.policy_hash))
    return refuse(
      "precondition_failed",
      `The policy was changed meanwhile: version ${view.version} is in force${view.changed_by === null ? "" : `, by ${view.changed_by}`}. Read it, make your change to it, and send it with that version's ETag.`,
      {
        version: view.version,
        policy_hash: view.policy_hash,
        changed_at: view.changed_at,
        changed_by: view.changed_by,
      },
    );
  const made = policies.add(read.policy, { changed_by: by, reason }, tx.now);
  const listed = {
    changes: changes.slice(0, limits.policy_changes_shown),
    more_changes: Math.max(0, changes.length - limits.policy_changes_shown),
  };
  const hashes = { old_hash: view.policy_hash, new_hash: made.policy_hash };
  tx.audit(
    "policy_change",
    { trace_id: "scope" },
    {
      actor: by === null ? "runtime" : "user",
      decision: "changed",
      reason,
      details: { version: made.version, by, ...hashes, ...listed },
    },
  );
  tx.event("policy_changed", null, {
    actor: by ?? "runtime",
    surfaces: ["review", "activity"],
    detail: `version ${made.version}${reason === null ? "" : `: ${reason}`}`,
    version: made.version,
    policy_hash: made.policy_hash,
  });
  return ok({ ...made, changed: true, ...listed });
}

/** A policy that nobody has edited is the product's: newer defaults come into force as a version of their own. */
export function followDefaults(tx: Tx, policies: Policies): void {
  if (policies.inForce().view.changed_by !== null) return;
  const reason = "the defaults of this version of the service";
  changePolicy(tx, policies, null, { policy: defaultPolicy, reason, seen: null });
}
