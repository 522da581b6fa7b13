import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IdempotencyStore, idempotencySchema } from "../../durable-objects/idempotency.ts";
import { People, peopleSchema } from "../../durable-objects/people.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import type { Caller } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { testScope } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";

let sql: NodeSql;
beforeEach(() => {
  sql = nodeSql();
});
afterEach(() => sql.close());

describe("people", () => {
  let people: People;
  const token = { id: "token-1", name: "ana", role: "admin" as const, secret_hash: "hash-1" };
  const asked = (now = 0): Caller => {
    const caller = people.authenticate(testScope, "hash-1", now);
    if (caller === null) throw new Error("not authenticated");
    return caller;
  };
  beforeEach(() => {
    applySchema(sql, "people", peopleSchema);
    people = new People(sql);
    people.addToken(token, 0);
  });

  it("[WHO-3] a live token's hash names its person and role; any other hash names nobody", () => {
    expect(asked()).toEqual({
      scope_id: testScope,
      subject: "ana#oken-1",
      role: "admin",
      via: "token",
      credential_id: "token-1",
    });
    for (const hash of ["", "hash-2", "hash-1' OR 1=1 --"]) expect(people.authenticate(testScope, hash, 0)).toBeNull();
  });
  it("[WHO-4] the same token again changes nothing; its id or its secret under another name is refused", () => {
    expect(people.addToken(token, 9).ok).toBe(true);
    expect(people.addToken({ ...token, secret_hash: "hash-2" }, 9).ok).toBe(false);
    expect(people.addToken({ ...token, id: "token-2" }, 9).ok).toBe(false);
    expect(people.tokens()).toHaveLength(1);
  });
  it("[WHO-5] revoking ends the token, its sessions and its tickets at once, and names what ended, once", () => {
    people.addTicket(asked(), { ticket_hash: "t1", path: "/" }, 0);
    expect(people.openSession(testScope, { ticket_hash: "t1", session_id: "s1", session_hash: "sh1" }, 1).ok).toBe(
      true,
    );
    const session = people.authenticate(testScope, "sh1", 2);
    if (session === null) throw new Error("no session");
    people.addTicket(session, { ticket_hash: "t2", path: "/" }, 3);
    people.openSession(testScope, { ticket_hash: "t2", session_id: "s2", session_hash: "sh2" }, 4);
    people.addTicket(asked(), { ticket_hash: "t3", path: "/api/events" }, 5);
    const revoked = people.revoke("token-1", 6);
    expect(revoked).toMatchObject({
      ok: true,
      value: { token: { id: "token-1", revoked_at: "1970-01-01T00:00:00.006Z" } },
    });
    expect(revoked.ok && [...revoked.value.ended].sort()).toEqual(["s1", "s2", "token-1"]);
    for (const hash of ["hash-1", "sh1", "sh2"]) expect(people.authenticate(testScope, hash, 7)).toBeNull();
    expect(people.isLive("s1", 7)).toBe(false);
    expect(people.redeemTicket(testScope, { ticket_hash: "t3", path: "/api/events" }, 7).ok).toBe(false);
    expect(people.revoke("token-1", 8)).toMatchObject({ ok: true, value: { ended: [] } });
    expect(people.revoke("unknown", 8)).toMatchObject({ ok: false, refusal: { code: "not_found" } });
  });
  it("[WHO-6] a ticket opens its own path once, in time; shown for another path it is spent", () => {
    const make = (hash: string, now: number) =>
      people.addTicket(asked(), { ticket_hash: hash, path: "/api/events" }, now);
    const use = (hash: string, path: string, now: number) =>
      people.redeemTicket(testScope, { ticket_hash: hash, path }, now);
    expect(make("t1", 0)).toMatchObject({ ok: true, value: { expires_at: "1970-01-01T00:00:30.000Z" } });
    expect(use("t1", "/api/events", 29_999)).toMatchObject({
      ok: true,
      value: { subject: "ana#oken-1", credential_id: "token-1" },
    });
    expect(use("t1", "/api/events", 29_999).ok).toBe(false);
    make("t2", 0);
    expect(use("t2", "/api/events", 30_000).ok).toBe(false);
    make("t3", 0);
    expect(use("t3", "/api/attempts/a/terminal", 1).ok).toBe(false);
    expect(use("t3", "/api/events", 2).ok).toBe(false);
    expect(use("never", "/api/events", 2)).toMatchObject({ ok: false, refusal: { code: "unauthenticated" } });
  });
  it("[WHO-7] only an admin makes a sign-in link; it lasts 15 minutes, opens one session, and a socket's ticket opens none", () => {
    const viewer: Caller = { ...asked(), role: "viewer" };
    expect(people.addTicket(viewer, { ticket_hash: "t0", path: "/" }, 0)).toMatchObject({
      ok: false,
      refusal: { code: "forbidden" },
    });
    people.addTicket(asked(), { ticket_hash: "t1", path: "/" }, 0);
    const open = (ticket_hash: string, n: number, now: number) =>
      people.openSession(testScope, { ticket_hash, session_id: `s${n}`, session_hash: `sh${n}` }, now);
    expect(open("t1", 1, limits.sign_in_ticket_ttl_ms - 1)).toMatchObject({
      ok: true,
      value: { via: "session", subject: "ana#oken-1", role: "admin" },
    });
    expect(open("t1", 2, limits.sign_in_ticket_ttl_ms - 1).ok).toBe(false);
    people.addTicket(asked(), { ticket_hash: "t2", path: "/api/events" }, 0);
    expect(open("t2", 3, 1).ok).toBe(false);
  });
  it("[WHO-8] a session ends after 12 hours, or when it is closed, without ending the token", () => {
    for (const n of [1, 2]) {
      people.addTicket(asked(), { ticket_hash: `t${n}`, path: "/" }, 0);
      people.openSession(testScope, { ticket_hash: `t${n}`, session_id: `s${n}`, session_hash: `sh${n}` }, 0);
    }
    expect(people.revoke("s2", 1)).toMatchObject({ ok: true, value: { ended: ["s2"] } });
    expect(people.authenticate(testScope, "sh2", 2)).toBeNull();
    expect(people.authenticate(testScope, "sh1", limits.session_ttl_ms - 1)).not.toBeNull();
    expect(people.authenticate(testScope, "sh1", limits.session_ttl_ms)).toBeNull();
    expect(people.authenticate(testScope, "hash-1", limits.session_ttl_ms)).not.toBeNull();
    expect(people.tokens()).toHaveLength(1);
  });
  it("[WHO-9] lowering a member's role lowers what their credentials may do, and raising it never lifts a credential", () => {
    people.setMember({ subject: "ana#oken-1", role: "viewer" }, 1);
    expect(asked(2).role).toBe("viewer");
    people.addToken({ id: "token-2", name: "bo", role: "submitter", secret_hash: "hash-2" }, 1);
    people.setMember({ subject: "bo#oken-2", role: "admin" }, 2);
    expect(people.authenticate(testScope, "hash-2", 3)?.role).toBe("submitter");
    expect(people.members().map((member) => member.role)).toEqual(["viewer", "admin"]);
  });
});

describe("sign-in links for somebody else", () => {
  let people: People;
  const who = (secret_hash: string, now = 0): Caller => {
    const caller = people.authenticate(testScope, secret_hash, now);
    if (caller === null) throw new Error("not authenticated");
    return caller;
  };
  const link = (ticket_hash: string, more: { token_id?: string; path?: string } = {}, now = 0) =>
    people.addTicket(who("hash-1", now), { ticket_hash, path: "/", token_id: "token-2", ...more }, now);
  const open = (ticket_hash: string, n: number, now = 1) =>
    people.openSession(testScope, { ticket_hash, session_id: `s${n}`, session_hash: `sh${n}` }, now);
  beforeEach(() => {
    applySchema(sql, "people", peopleSchema);
    people = new People(sql);
    people.addToken({ id: "token-1", name: "ana", role: "admin", secret_hash: "hash-1" }, 0);
    people.addToken({ id: "token-2", name: "bo", role: "approver", secret_hash: "hash-2" }, 0);
  });

  it("[WHO-20] an admin's link with a token's id opens a session of that token's person and role, while the token lives", () => {
    expect(link("t1")).toMatchObject({ ok: true, value: { of: "bo#oken-2" } });
    expect(open("t1", 1)).toMatchObject({
      ok: true,
      value: { via: "session", subject: "bo#oken-2", role: "approver", credential_id: "s1" },
    });
    expect([people.rootOf("s1"), people.makerOf("s1")]).toEqual(["token-2", "ana#oken-1"]);
    expect(link("t2", { path: "/api/events" })).toMatchObject({ ok: false, refusal: { code: "bad_request" } });
    for (const token_id of ["none", "s1"])
      expect(link("t3", { token_id })).toMatchObject({ ok: false, refusal: { code: "not_found" } });
    const bo = people.addTicket(who("hash-2"), { ticket_hash: "t4", path: "/", token_id: "token-1" }, 0);
    expect(bo).toMatchObject({ ok: false, refusal: { code: "forbidden" } });
    people.addTicket(who("hash-1"), { ticket_hash: "t5", path: "/" }, 0);
    expect([open("t5", 5).ok, people.makerOf("s5")]).toEqual([true, null]);
    people.revoke("token-2", 2);
    expect(link("t6", {}, 3)).toMatchObject({ ok: false, refusal: { code: "not_found" } });
  });
  it("[WHO-26] what somebody else's link opened makes no link for a token, and a link of its own keeps the first maker", () => {
    people.addToken({ id: "token-3", name: "cy", role: "admin", secret_hash: "hash-3" }, 0);
    link("t1", { token_id: "token-3" });
    expect(open("t1", 1).ok).toBe(true);
    const lent = who("sh1");
    for (const token_id of ["token-2", "token-3"])
      expect(people.addTicket(lent, { ticket_hash: "t2", path: "/", token_id }, 1)).toMatchObject({
        ...{ ok: false, refusal: { code: "forbidden" } },
      });
    expect(people.addTicket(lent, { ticket_hash: "t3", path: "/" }, 1).ok).toBe(true);
    expect([open("t3", 3).ok, people.makerOf("s3")]).toEqual([true, "ana#oken-1"]);
    // Signed in by their own link, an admin makes links as ever.
    people.addTicket(who("hash-3"), { ticket_hash: "t4", path: "/" }, 1);
    expect(open("t4", 4).ok).toBe(true);
    expect(people.addTicket(who("sh4"), { ticket_hash: "t5", path: "/", token_id: "token-2" }, 1).ok).toBe(true);
  });
  it("[WHO-21] revoking the token it is for, or the admin's it was made with, ends the link and the session of it", () => {
    for (const revoked of ["token-1", "token-2"]) {
      people.addToken({ id: "token-3", name: "cy", role: "admin", secret_hash: "hash-3" }, 0);
      const made = (ticket_hash: string) =>
        people.addTicket(
          who(revoked === "token-1" ? "hash-1" : "hash-3"),
          { ticket_hash, path: "/", token_id: "token-2" },
          0,
        );
      made(`${revoked} used`);
      made(`${revoked} unused`);
      expect(open(`${revoked} used`, revoked === "token-1" ? 1 : 2).ok).toBe(true);
      expect(people.revoke(revoked, 2).ok).toBe(true);
      expect(people.authenticate(testScope, revoked === "token-1" ? "sh1" : "sh2", 3)).toBeNull();
      expect(open(`${revoked} unused`, 9, 3).ok).toBe(false);
    }
    expect(people.authenticate(testScope, "hash-3", 4)).not.toBeNull();
  });
  it("[WHO-21] a session that such a session opens for itself ends with the admin too", () => {
    people.addToken({ id: "token-3", name: "cy", role: "admin", secret_hash: "hash-3" }, 0);
    link("t1", { token_id: "token-3" });
    expect(open("t1", 1).ok).toBe(true);
    people.addTicket(who("sh1", 1), { ticket_hash: "t2", path: "/" }, 1);
    expect(open("t2", 2).ok).toBe(true);
    people.revoke("token-1", 2);
    expect(["sh1", "sh2"].map((hash) => people.authenticate(testScope, hash, 3))).toEqual([null, null]);
    expect(people.authenticate(testScope, "hash-3", 3)).not.toBeNull();
  });
});

describe("idempotency", () => {
  const key = { subject: "ana#oken-1", route: "POST /api/tasks", key: "k1", body_hash: "h1" };
  let store: IdempotencyStore;
  beforeEach(() => {
    applySchema(sql, "idempotency", idempotencySchema);
    store = new IdempotencyStore(sql);
  });

  it("[IDEM-1] the same key with the same body gets the answer of the first time, per route", () => {
    expect(store.find(key, 0)).toEqual({ found: "none" });
    store.store(key, 202, { id: "t1" }, 0);
    expect(store.find(key, 1)).toEqual({ found: "replay", status: 202, body: { id: "t1" } });
    expect(store.find({ ...key, route: "POST /api/tokens" }, 1)).toEqual({ found: "none" });
  });
  it("[IDEM-5] a key is its asker's: another person's same key, with the same body or another, makes their own", () => {
    store.store(key, 202, { id: "t1" }, 0);
    const other = { ...key, subject: "bo#oken-2" };
    expect(store.find(other, 1)).toEqual({ found: "none" });
    expect(store.find({ ...other, body_hash: "h2" }, 1)).toEqual({ found: "none" });
    store.store(other, 202, { id: "t2" }, 1);
    expect(store.find(key, 2)).toMatchObject({ body: { id: "t1" } });
    expect(store.find(other, 2)).toMatchObject({ body: { id: "t2" } });
  });
  it("[IDEM-6] answers kept from before a key was its asker's are replayed to whom they name, and to nobody else", () => {
    const old = nodeSql();
    applySchema(old, "idempotency", idempotencySchema.slice(0, 1));
    const rows = [
      ["a", '{"id":"t1","created_by":"ana#oken-1"}'],
      ["b", '{"id":"s1","made_by":"ana#oken-1"}'],
      ["c", "null"],
    ] as const;
    for (const [name, response] of rows)
      old.run("INSERT INTO idempotency VALUES ('r', ?, 'h1', 202, ?, 0)", name, response);
    applySchema(old, "idempotency", idempotencySchema);
    const kept = new IdempotencyStore(old);
    const found = (name: string, subject: string) =>
      kept.find({ subject, route: "r", key: name, body_hash: "h1" }, 1).found;
    expect(["a", "b", "c"].map((name) => found(name, "ana#oken-1"))).toEqual(["replay", "replay", "none"]);
    expect(["a", "b", "c"].map((name) => found(name, "bo#oken-2"))).toEqual(["none", "none", "none"]);
    old.close();
  });
  it("[IDEM-2] the same key with another body is a mismatch", () => {
    store.store(key, 202, null, 0);
    expect(store.find({ ...key, body_hash: "h2" }, 1)).toEqual({ found: "mismatch" });
  });
  it("[IDEM-3] after 24 hours the key is free, and not before", () => {
    store.store(key, 202, { id: "t1" }, 0);
    expect(() => store.store(key, 202, { id: "t2" }, limits.idempotency_ttl_ms - 1)).toThrow();
    expect(store.find(key, limits.idempotency_ttl_ms - 1)).toMatchObject({ found: "replay" });
    expect(store.find(key, limits.idempotency_ttl_ms)).toEqual({ found: "none" });
    store.store(key, 202, { id: "t2" }, limits.idempotency_ttl_ms);
    expect(store.find(key, limits.idempotency_ttl_ms)).toMatchObject({ body: { id: "t2" } });
  });
  it("[IDEM-4] an answer too big for a row undoes the caller's transaction", () => {
    expect(() => store.store(key, 200, "x".repeat(2_000_000), 0)).toThrow(RangeError);
  });
});
