/**
 * Who may come in and what may be worked on: credentials, tickets, sessions, and the scope's repositories. Every
 * change of them is on record, the refused one too. [WHO-*]
 */
import { ok, type Result } from "../../src/domain/refusal.ts";
import type { Caller, CallerRole } from "../../src/domain/view.ts";
import type { RepoView, RuntimeDoor, TokenView } from "../../src/http/doors.ts";
import { signInPath } from "../people.ts";
import type { Scope } from "./scope.ts";
import type { Tx } from "./tx.ts";

type Credentials = Pick<
  RuntimeDoor,
  "authenticate" | "tokens" | "addToken" | "revokeToken" | "addTicket" | "redeemTicket" | "openSession" | "closeSession"
>;
type Repositories = Pick<RuntimeDoor, "repos" | "hasRepo" | "addRepo" | "removeRepo">;

export class PeopleDoor implements Credentials, Repositories {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  /** Ends what was opened with credentials that no longer hold. */
  readonly #closeSockets: (credentials: readonly string[]) => Promise<void>;
  constructor(
    scope: Scope,
    hands: { after: () => Promise<void>; closeSockets: (credentials: readonly string[]) => Promise<void> },
  ) {
    this.#scope = scope;
    this.#after = hands.after;
    this.#closeSockets = hands.closeSockets;
  }

  async authenticate(scope_id: string, secret_hash: string): Promise<Caller | null> {
    return this.#scope.directory.self()?.scope_id === scope_id
      ? this.#scope.people.authenticate(scope_id, secret_hash, Date.now())
      : null;
  }
  async repos(): Promise<Result<RepoView[]>> {
    return ok(this.#scope.directory.repos());
  }
  async hasRepo(_caller: Caller, url: string): Promise<boolean> {
    return this.#scope.directory.hasRepo(url);
  }
  async addRepo(caller: Caller, repo: { url: string; default_ref: string }): Promise<Result<RepoView>> {
    return this.#admin(
      caller,
      "repo_added",
      () => ({ url: repo.url }),
      (tx) => ok(this.#scope.directory.addRepo({ ...repo, added_by: caller.subject, added_at: tx.at })),
    );
  }
  async removeRepo(caller: Caller, url: string): Promise<Result<{ url: string }>> {
    return this.#admin(
      caller,
      "repo_removed",
      () => ({ url }),
      () => this.#scope.directory.removeRepo(url),
    );
  }
  async tokens(): Promise<Result<TokenView[]>> {
    return ok(this.#scope.people.tokens());
  }
  async addToken(
    caller: Caller,
    input: { id: string; name: string; role: CallerRole; secret_hash: string },
  ): Promise<Result<TokenView>> {
    return this.#admin(
      caller,
      "token_added",
      () => ({ id: input.id, role: input.role }),
      (tx) => this.#scope.people.addToken(input, tx.now),
    );
  }
  async revokeToken(caller: Caller, id: string): Promise<Result<TokenView>> {
    const revoked = await this.#admin(
      caller,
      "token_revoked",
      () => ({ id }),
      (tx) => this.#scope.people.revoke(id, tx.now),
    );
    if (!revoked.ok) return revoked;
    await this.#closeSockets(revoked.value.ended);
    return ok(revoked.value.token);
  }
  async addTicket(
    caller: Caller,
    input: { ticket_hash: string; path: string; token_id?: string },
  ): Promise<Result<{ expires_at: string }>> {
    const { people } = this.#scope;
    // A socket's ticket opens what its caller may see already; who can sign in as whom is on record.
    if (input.path !== signInPath)
      return this.#scope.sql.transaction(() => people.addTicket(caller, input, Date.now()));
    const asked = { token_id: input.token_id ?? null };
    return this.#admin<{ expires_at: string; of: string }>(
      caller,
      "sign_in_link_made",
      (made) => ({ ...asked, for: made?.of ?? null }),
      (tx) => people.addTicket(caller, input, tx.now),
    );
  }
  async redeemTicket(scope_id: string, input: { ticket_hash: string; path: string }): Promise<Result<Caller>> {
    this.#scope.belongs(scope_id);
    return this.#scope.sql.transaction(() => this.#scope.people.redeemTicket(scope_id, input, Date.now()));
  }
  async openSession(
    scope_id: string,
    input: { ticket_hash: string; session_id: string; session_hash: string },
  ): Promise<Result<Caller>> {
    this.#scope.belongs(scope_id);
    return this.#scope.commit((tx) => {
      const opened = this.#scope.people.openSession(scope_id, input, tx.now);
      tx.audit(
        "auth",
        { trace_id: "session" },
        {
          actor: "user",
          decision: opened.ok ? "session_opened" : "refused",
          details: {
            by: opened.ok ? opened.value.subject : null,
            link_made_by: opened.ok ? this.#scope.people.makerOf(input.session_id) : null,
          },
        },
      );
      return opened;
    });
  }
  async closeSession(caller: Caller): Promise<Result<null>> {
    const ended = this.#scope.commit((tx) => {
      tx.audit(
        "auth",
        { trace_id: "session" },
        { actor: "user", decision: "session_closed", details: { by: caller.subject } },
      );
      return this.#scope.people.revoke(caller.credential_id, tx.now);
    });
    if (ended.ok) await this.#closeSockets(ended.value.ended);
    return ok(null);
  }
  async #admin<T>(
    caller: Caller,
    decision: string,
    details: (changed: T | null) => Record<string, unknown>,
    change: (tx: Tx) => Result<T>,
  ): Promise<Result<T>> {
    const done = this.#scope.commit((tx) => {
      const changed = change(tx);
      const reason = changed.ok ? null : changed.refusal.detail;
      tx.audit(
        "auth",
        { trace_id: "scope" },
        {
          actor: "user",
          decision: changed.ok ? decision : "refused",
          reason,
          details: { ...details(changed.ok ? changed.value : null), by: caller.subject },
        },
      );
      return changed;
    });
    await this.#after();
    return done;
  }
}
