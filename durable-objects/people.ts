/**
 * Who may speak to the scope: members, their API tokens and sessions, and one-use tickets. Only hashes of
 * secrets are kept. What is revoked stops with the next request, and everything it opened with it. [WHO-*]
 */

import type { z } from "zod";
import { ok, type Result, refuse } from "../src/domain/refusal.ts";
import { type Caller, type CallerRole, callerRole, callerRoles, type tokenView } from "../src/domain/view.ts";
import { limits } from "../src/limits.ts";
import type { Sql } from "./sql.ts";

export const peopleSchema: readonly string[] = [
  `CREATE TABLE members (subject TEXT PRIMARY KEY, role TEXT NOT NULL, added_at INTEGER NOT NULL);
   CREATE TABLE credentials (
     id TEXT PRIMARY KEY, via TEXT NOT NULL CHECK (via IN ('token', 'session')), secret_hash TEXT NOT NULL UNIQUE,
     name TEXT NOT NULL, subject TEXT NOT NULL, role TEXT NOT NULL, parent TEXT, created_at INTEGER NOT NULL,
     expires_at INTEGER, revoked_at INTEGER);
   CREATE INDEX credentials_parent ON credentials (parent);
   CREATE TABLE tickets (ticket_hash TEXT PRIMARY KEY, path TEXT NOT NULL, credential_id TEXT NOT NULL, expires_at INTEGER NOT NULL);`,
  // The token of the admin who made a sign-in link for somebody else, and of what that link opened.
  `ALTER TABLE tickets ADD COLUMN made_by TEXT;
   ALTER TABLE credentials ADD COLUMN made_by TEXT;
   CREATE INDEX credentials_made_by ON credentials (made_by);
   CREATE INDEX credentials_subject ON credentials (subject);`,
];

export type TokenView = z.infer<typeof tokenView>;
export interface Member {
  readonly subject: string;
  readonly role: CallerRole;
}

/** A ticket for this path opens a session; every other path opens one socket. */
export const signInPath = "/";
export interface TicketInput {
  readonly ticket_hash: string;
  readonly path: string;
  /** Of a sign-in link for somebody else: their token. */
  readonly token_id?: string;
}
interface Redeemed {
  readonly caller: Caller;
  /** The admin's token that a sign-in link for somebody else was made with. */
  readonly made_by: string | null;
}
const maxTokens = 1_000;
const maxTickets = 1_000;

interface Credential {
  readonly id: string;
  readonly via: "token" | "session";
  readonly secret_hash: string;
  readonly name: string;
  readonly subject: string;
  readonly role: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
}
interface LiveCredential extends Credential {
  readonly member_role: string | null;
}
/** Not revoked, not expired, and not opened by what is. */
const liveOnly = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)
  AND NOT EXISTS (SELECT 1 FROM credentials above WHERE above.id = credentials.parent AND above.revoked_at IS NOT NULL)`;
const liveCredential = `SELECT *, (SELECT role FROM members WHERE members.subject = credentials.subject) AS member_role FROM credentials`;

export class People {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Null when no live token or session has that hash. */
  authenticate(scope_id: string, secret_hash: string, now: number): Caller | null {
    return caller(
      scope_id,
      this.#sql.one<LiveCredential>(`${liveCredential} WHERE secret_hash = ?1 AND ${liveOnly}`, secret_hash, now),
    );
  }
  /** Whether what a socket was opened with still holds; asked while it is open. */
  isLive(credential_id: string, now: number): boolean {
    return (
      this.#sql.one(`SELECT 1 AS found FROM credentials WHERE id = ?1 AND ${liveOnly}`, credential_id, now) !== null
    );
  }

  /** The same token again changes nothing. Its subject is its name with its id's beginning, so that no two tokens are one person. */
  addToken(input: { id: string; name: string; role: CallerRole; secret_hash: string }, now: number): Result<TokenView> {
    const { id, name, role, secret_hash } = input;
    const known = this.#sql.one<Credential>(
      "SELECT * FROM credentials WHERE id = ? OR secret_hash = ?",
      id,
      secret_hash,
    );
    if (known !== null) {
      const same = known.id === id && known.secret_hash === secret_hash && known.via === "token";
      return same
        ? ok(view(known))
        : refuse("not_in_this_state", "a credential with this id or secret is already there");
    }
    if (this.tokens().filter((token) => token.revoked_at === null).length >= maxTokens)
      return refuse("too_many", `a scope has at most ${maxTokens} tokens: revoke one first`);
    const subject = `${name}#${id.slice(-6)}`;
    this.#insert(
      { id, via: "token", secret_hash, name, subject, role, parent: null, expires_at: null, made_by: null },
      now,
    );
    this.setMember({ subject, role }, now);
    return ok({ id, name, role, created_at: new Date(now).toISOString(), revoked_at: null });
  }
  tokens(): TokenView[] {
    return this.#sql.all<Credential>("SELECT * FROM credentials WHERE via = 'token' ORDER BY created_at, id").map(view);
  }
  /**
   * Ends a session, or a token and every session that came of it or of a link made with it. `ended` are the ids of all
   * it closed, for their sockets. Revoking again answers the first time's view and ends nothing more.
   */
  revoke(id: string, now: number): Result<{ readonly token: TokenView; readonly ended: readonly string[] }> {
    const ended = this.#sql
      .all<{ id: string }>(
        "UPDATE credentials SET revoked_at = ?2 WHERE (id = ?1 OR parent = ?1 OR made_by = ?1) AND revoked_at IS NULL RETURNING id",
        ...[id, now],
      )
      .map((row) => row.id);
    for (const one of ended) this.#sql.run("DELETE FROM tickets WHERE credential_id = ?1 OR made_by = ?1", one);
    const row = this.#sql.one<Credential>("SELECT * FROM credentials WHERE id = ?", id);
    return row === null ? refuse("not_found", "there is no such token") : ok({ token: view(row), ended });
  }

  /**
   * One use; bound to a credential and to `path`. A sign-in link needs an admin and lives longer; with `token_id` it
   * signs in the person of that token. `of` is whom it speaks for.
   */
  addTicket(asked: Caller, input: TicketInput, now: number): Result<{ expires_at: string; of: string }> {
    const signIn = input.path === signInPath;
    if (signIn && asked.role !== "admin") return refuse("forbidden", "only an admin can make a sign-in link");
    if (!signIn && input.token_id !== undefined)
      return refuse("bad_request", "token_id belongs to a sign-in link: leave it out for a socket");
    const whose = input.token_id === undefined ? asked : this.#liveToken(input.token_id, now);
    if (whose === null) return refuse("not_found", "there is no such token, or it was revoked");
    // Else who made the first link would be behind the second one too, unseen.
    const [first, root] = [this.#linkMaker(asked.credential_id), this.rootOf(asked.credential_id)];
    if (input.token_id !== undefined && first !== null && first !== root)
      return refuse("forbidden", "what somebody else's link opened makes no links for a token: make it with your own");
    const { subject: of, credential_id } = whose;
    const made_by = input.token_id === undefined ? first : root;
    this.#sql.run("DELETE FROM tickets WHERE expires_at <= ?", now);
    if ((this.#sql.one<{ n: number }>("SELECT count(*) AS n FROM tickets")?.n ?? 0) >= maxTickets)
      return refuse("too_many", "too many tickets are open: use them, or try again in half a minute");
    const expires_at = now + (signIn ? limits.sign_in_ticket_ttl_ms : limits.ticket_ttl_ms);
    this.#sql.run(
      "INSERT INTO tickets (ticket_hash, path, credential_id, expires_at, made_by) VALUES (?, ?, ?, ?, ?)",
      ...[input.ticket_hash, input.path, credential_id, expires_at, made_by],
    );
    return ok({ expires_at: new Date(expires_at).toISOString(), of });
  }
  /** What a session opens for itself ends with whoever made its own link. */
  #linkMaker(credential_id: string): string | null {
    const sql = "SELECT made_by FROM credentials WHERE id = ?";
    return this.#sql.one<{ made_by: string | null }>(sql, credential_id)?.made_by ?? null;
  }
  #liveToken(id: string, now: number): Pick<Caller, "subject" | "credential_id"> | null {
    const row = this.#sql.one<Credential>(
      `SELECT * FROM credentials WHERE id = ?1 AND via = 'token' AND ${liveOnly}`,
      ...[id, now],
    );
    return row === null ? null : { subject: row.subject, credential_id: row.id };
  }

  /** Spends the ticket, even when it is shown for another path: a ticket in the wrong place has leaked. */
  redeemTicket(scope_id: string, input: { ticket_hash: string; path: string }, now: number): Result<Caller> {
    const redeemed = this.#redeem(scope_id, input, now);
    return redeemed.ok ? ok(redeemed.value.caller) : redeemed;
  }
  #redeem(scope_id: string, input: { ticket_hash: string; path: string }, now: number): Result<Redeemed> {
    const row = this.#sql.all<{ path: string; credential_id: string; expires_at: number; made_by: string | null }>(
      "DELETE FROM tickets WHERE ticket_hash = ? RETURNING path, credential_id, expires_at, made_by",
      input.ticket_hash,
    )[0];
    const refused = refuse(
      "unauthenticated",
      "this ticket is unknown, used, expired or for something else: ask for a new one",
    );
    if (row === undefined || row.path !== input.path || row.expires_at <= now) return refused;
    const found = caller(
      scope_id,
      this.#sql.one<LiveCredential>(`${liveCredential} WHERE id = ?1 AND ${liveOnly}`, row.credential_id, now),
    );
    return found === null ? refused : ok({ caller: found, made_by: row.made_by });
  }

  /** The token that a session came of, or the credential itself: what is revoked when somebody is to lose their say. */
  rootOf(credential_id: string): string {
    const row = this.#sql.one<{ parent: string | null }>("SELECT parent FROM credentials WHERE id = ?", credential_id);
    return row?.parent ?? credential_id;
  }
  /** Whether it was taken back. One that only ended, or that nobody knows any more, was not. */
  isRevoked(credential_id: string): boolean {
    const sql = "SELECT 1 AS found FROM credentials WHERE id = ? AND revoked_at IS NOT NULL";
    return this.#sql.one(sql, credential_id) !== null;
  }

  /** Whether every token of that subject was taken back. Of a subject without any, such as a standing approval, none was. */
  hasLost(subject: string): boolean {
    const sql = `SELECT count(*) AS held, count(revoked_at) AS lost FROM credentials WHERE subject = ? AND via = 'token'`;
    const { held = 0, lost = 0 } = this.#sql.one<{ held: number; lost: number }>(sql, subject) ?? {};
    return held > 0 && held === lost;
  }
  /** Who made the link that a session was opened with; null when its own person did. */
  makerOf(session_id: string): string | null {
    const sql =
      "SELECT above.subject FROM credentials JOIN credentials above ON above.id = credentials.made_by WHERE credentials.id = ?";
    return this.#sql.one<{ subject: string }>(sql, session_id)?.subject ?? null;
  }

  /** Turns a sign-in ticket into a session of the person it is for. */
  openSession(
    scope_id: string,
    input: { ticket_hash: string; session_id: string; session_hash: string },
    now: number,
  ): Result<Caller> {
    const redeemed = this.#redeem(scope_id, { ticket_hash: input.ticket_hash, path: signInPath }, now);
    if (!redeemed.ok) return redeemed;
    const { caller: person, made_by } = redeemed.value;
    const { subject, role, credential_id } = person;
    const expires_at = now + limits.session_ttl_ms;
    const parent = this.#sql.one<{ parent: string | null }>(
      "SELECT parent FROM credentials WHERE id = ?",
      credential_id,
    )?.parent;
    this.#sql.run("DELETE FROM credentials WHERE via = 'session' AND expires_at <= ?", now);
    this.#insert(
      {
        id: input.session_id,
        via: "session",
        secret_hash: input.session_hash,
        name: subject,
        subject,
        role,
        parent: parent ?? credential_id,
        expires_at,
        made_by,
      },
      now,
    );
    return ok({ scope_id, subject, role, via: "session", credential_id: input.session_id });
  }

  /** The most the subject's credentials may do from now on; whoever holds a credential is a member. */
  setMember(member: Member, now: number): void {
    this.#sql.run(
      "INSERT INTO members (subject, role, added_at) VALUES (?, ?, ?) ON CONFLICT (subject) DO UPDATE SET role = excluded.role",
      ...[member.subject, member.role, now],
    );
  }
  members(): Member[] {
    const rows = this.#sql.all<{ subject: string; role: string }>(
      "SELECT subject, role FROM members ORDER BY added_at, subject",
    );
    return rows.map(({ subject, role }) => ({ subject, role: callerRole.parse(role) }));
  }

  #insert(
    row: Omit<Credential, "created_at" | "revoked_at"> & {
      parent: string | null;
      expires_at: number | null;
      made_by: string | null;
    },
    now: number,
  ): void {
    this.#sql.run(
      `INSERT INTO credentials (id, via, secret_hash, name, subject, role, parent, created_at, expires_at, made_by)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[row.id, row.via, row.secret_hash, row.name, row.subject, row.role, row.parent, now],
      ...[row.expires_at, row.made_by],
    );
  }
}

/** A credential never does more than its member may. */
function lesser(a: CallerRole, b: CallerRole): CallerRole {
  return callerRoles.indexOf(a) < callerRoles.indexOf(b) ? a : b;
}
function caller(scope_id: string, row: LiveCredential | null): Caller | null {
  if (row === null) return null;
  const role = lesser(callerRole.parse(row.role), callerRole.parse(row.member_role ?? row.role));
  return { scope_id, subject: row.subject, role, via: row.via, credential_id: row.id };
}
function view({ id, name, role, created_at, revoked_at }: Credential): TokenView {
  const at = (time: number) => new Date(time).toISOString();
  return {
    id,
    name,
    role: callerRole.parse(role),
    created_at: at(created_at),
    revoked_at: revoked_at === null ? null : at(revoked_at),
  };
}
