import { describe, expect, it } from "vitest";
import { formatToken, scopeMac, secretHash } from "../../src/domain/credential.ts";
import { adminToken, home } from "../fakes/door-ports.ts";
import { origin, taskBody, world } from "./world.ts";

async function signedIn() {
  const all = world();
  const link = await all.ask("POST", "/api/tickets", { as: "admin", body: { path: "/" } });
  const session = await all.ask("POST", "/auth/session", { body: { ticket: link.body.ticket }, headers: { origin } });
  const cookie = session.headers.get("set-cookie") ?? "";
  return { ...all, ticket: link.body.ticket as string, session, cookie, sent: cookie.split(";")[0] ?? "" };
}

describe("tokens", () => {
  it("[HTTP-3] no token, an unknown one and a revoked one are 401 with WWW-Authenticate", async () => {
    const { ask, deployment, runtime } = world();
    const none = await ask("GET", "/api/tasks");
    expect([none.status, none.body.code]).toEqual([401, "unauthenticated"]);
    expect(none.headers.get("www-authenticate")).toContain("Bearer");
    const unknown = formatToken(home, scopeMac(deployment.scopeMacKey, home), "u".repeat(40));
    expect(
      (await ask("GET", "/api/tasks", { authorization: `Bearer ${unknown}` })).headers.get("www-authenticate"),
    ).toContain("invalid_token");
    const live = deployment.token("viewer");
    expect((await ask("GET", "/api/tasks", { authorization: `bearer ${live}` })).status).toBe(200);
    runtime.credentials.delete(secretHash(live));
    expect((await ask("GET", "/api/tasks", { authorization: `Bearer ${live}` })).status).toBe(401);
    for (const authorization of [`Basic ${live}`, "Bearer", `Bearer ${live} x`, live])
      expect((await ask("GET", "/api/tasks", { authorization })).status).toBe(401);
  });
  it("[HTTP-3] an invented scope, or a real one with a wrong mac, touches no object", async () => {
    const { ask, deployment } = world();
    const before = deployment.runtimes.size;
    for (const scope of ["q".repeat(16), home]) {
      const authorization = `Bearer ${formatToken(scope, "0".repeat(10), "u".repeat(40))}`;
      expect((await ask("GET", "/api/tasks", { authorization })).status).toBe(401);
    }
    expect(deployment.runtimes.size).toBe(before);
    expect(deployment.runtime(home).calls).toEqual([]);
  });
  it("[HTTP-3] a session's or ticket's secret is no bearer token, and a token is no cookie", async () => {
    const { ask, sent, deployment } = await signedIn();
    const text = sent.replace("cs_session=", "");
    expect((await ask("GET", "/api/me", { authorization: `Bearer ${text}` })).status).toBe(401);
    const cookie = `cs_session=${deployment.token("admin")}`;
    expect((await ask("GET", "/api/me", { headers: { cookie } })).status).toBe(401);
  });
  it("[HTTP-4] each role does what it may and the refusal names the role that is missing", async () => {
    const { ask } = world();
    const denied = async (as: "viewer" | "submitter" | "approver", method: string, path: string) => {
      const answer = await ask(method, path, method === "GET" || method === "DELETE" ? { as } : { as, body: {} });
      return [answer.status, answer.body.needs];
    };
    expect(await denied("viewer", "POST", "/api/tasks")).toEqual([403, "submitter"]);
    expect(await denied("viewer", "POST", "/api/tasks/x/cancel")).toEqual([403, "submitter"]);
    expect(await denied("submitter", "POST", "/api/approvals/x/approve")).toEqual([403, "approver"]);
    expect(await denied("submitter", "POST", "/api/approvals/x/deny")).toEqual([403, "approver"]);
    expect(await denied("approver", "POST", "/api/repos")).toEqual([403, "admin"]);
    expect(await denied("approver", "DELETE", "/api/repos?url=x")).toEqual([403, "admin"]);
    expect(await denied("approver", "GET", "/api/tokens")).toEqual([403, "admin"]);
    expect(await denied("approver", "DELETE", "/api/tokens/x")).toEqual([403, "admin"]);
    const detail = (await ask("POST", "/api/tasks", { as: "viewer", body: taskBody })).body.detail;
    expect(detail).toContain("needs the role submitter");
    for (const path of [
      "/api/tasks",
      "/api/approvals",
      "/api/agents",
      "/api/queues",
      "/api/audit",
      "/api/policy",
      "/api/repos",
    ])
      expect((await ask("GET", path, { as: "viewer" })).status).toBe(200);
  });
});

describe("sessions", () => {
  it("[HTTP-25] a sign-in ticket becomes a session once, in a cookie that scripts and other sites cannot use", async () => {
    const { ask, session, cookie, sent, ticket, deployment } = await signedIn();
    expect(session.status).toBe(201);
    expect(session.body).toEqual({ scope_id: home, subject: "a admin", role: "admin", via: "session" });
    expect(session.text).not.toContain(sent.split("=")[1]);
    for (const word of ["cs_session=css_", "Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=43200"])
      expect(cookie).toContain(word);
    expect(cookie).not.toContain("Secure");
    expect((await ask("GET", "/api/me", { headers: { cookie: sent } })).body.via).toBe("session");
    expect((await ask("POST", "/auth/session", { body: { ticket } })).status).toBe(401);
    expect(deployment.runtime(home).tickets.size).toBe(0);
  });
  it("[HTTP-25] over https the cookie is Secure", async () => {
    const { ask } = world();
    const link = await ask("POST", "/api/tickets", { as: "admin", body: { path: "/" } });
    const session = await ask("POST", "https://control.example/auth/session", { body: { ticket: link.body.ticket } });
    expect(session.headers.get("set-cookie")).toContain("Secure");
  });
  it("[HTTP-25] a forged ticket, a socket's ticket and another site's sign-in are refused", async () => {
    const { ask, deployment, runtime } = world();
    expect((await ask("POST", "/auth/session", { body: { ticket: "cst_nonsense" } })).status).toBe(401);
    const forged = formatToken(home, "0".repeat(10), "u".repeat(40), "cst");
    expect((await ask("POST", "/auth/session", { body: { ticket: forged } })).status).toBe(401);
    expect(runtime.calls).toEqual([]);
    const other = await ask("POST", "/api/tickets", { as: "admin", body: { path: "/api/events" } });
    expect((await ask("POST", "/auth/session", { body: { ticket: other.body.ticket } })).status).toBe(401);
    const link = await ask("POST", "/api/tickets", { as: "admin", body: { path: "/" } });
    const evil = { body: { ticket: link.body.ticket }, headers: { origin: "https://evil.example" } };
    expect((await ask("POST", "/auth/session", evil)).status).toBe(403);
    expect(deployment.runtime(home).tickets.size).toBe(1);
  });
  it("[HTTP-5] a cookie reads, and changes nothing without this origin and JSON", async () => {
    const { ask, sent, runtime } = await signedIn();
    expect((await ask("GET", "/api/tasks", { headers: { cookie: sent } })).status).toBe(200);
    const tries: Record<string, string>[] = [
      {},
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `${origin}.evil.example` },
    ];
    for (const headers of tries)
      expect(
        (await ask("POST", "/api/tickets", { headers: { ...headers, cookie: sent }, body: { path: "/api/events" } }))
          .status,
      ).toBe(403);
    const form = { cookie: sent, origin, "content-type": "text/plain" };
    expect((await ask("POST", "/api/tickets", { headers: form, raw: "{}" })).status).toBe(415);
    expect((await ask("DELETE", "/api/tokens/x", { headers: { cookie: sent } })).status).toBe(403);
    const ticketsBefore = runtime.calls.filter((call) => call === "addTicket").length;
    const good = await ask("POST", "/api/tickets", {
      headers: { cookie: sent, origin },
      body: { path: "/api/events" },
    });
    expect(good.status).toBe(201);
    expect(runtime.calls.filter((call) => call === "addTicket").length).toBe(ticketsBefore + 1);
  });
  it("[HTTP-26] signing out ends the session, needs this origin, and may be done twice", async () => {
    const { ask, sent } = await signedIn();
    expect((await ask("DELETE", "/auth/session", { headers: { cookie: sent } })).status).toBe(403);
    expect((await ask("GET", "/api/me", { headers: { cookie: sent } })).status).toBe(200);
    const out = await ask("DELETE", "/auth/session", { headers: { cookie: sent, origin } });
    expect(out.status).toBe(200);
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await ask("GET", "/api/me", { headers: { cookie: sent } })).status).toBe(401);
    expect((await ask("DELETE", "/auth/session", { headers: { cookie: sent, origin } })).status).toBe(200);
    expect((await ask("DELETE", "/auth/session")).status).toBe(200);
  });
  it("[HTTP-26] /api/me says who asks", async () => {
    const { ask } = world();
    const me = await ask("GET", "/api/me", { as: "approver" });
    expect(me.body).toEqual({ scope_id: home, subject: "a approver", role: "approver", via: "token" });
  });
});

describe("tokens and tickets of a scope", () => {
  it("[HTTP-22] a new token's secret is answered once, works, and ends when it is revoked", async () => {
    const { ask } = world();
    const made = await ask("POST", "/api/tokens", { as: "admin", body: { name: "ci", role: "submitter" } });
    expect(made.status).toBe(201);
    const authorization = `Bearer ${made.body.token}`;
    expect((await ask("GET", "/api/me", { authorization })).body.role).toBe("submitter");
    const listed = await ask("GET", "/api/tokens", { as: "admin" });
    expect(listed.body.items.map((token: { name: string }) => token.name)).toEqual(["ci"]);
    expect(listed.text).not.toContain(made.body.token);
    expect((await ask("DELETE", `/api/tokens/${made.body.id}`, { as: "admin" })).body.revoked_at).not.toBeNull();
    expect((await ask("GET", "/api/me", { authorization })).status).toBe(401);
    expect((await ask("DELETE", "/api/tokens/none", { as: "admin" })).status).toBe(404);
    expect((await ask("POST", "/api/tokens", { as: "admin", body: { name: "x", role: "god" } })).status).toBe(400);
  });
  it("[HTTP-23] a ticket is for a path that takes one; a sign-in link is an admin's to make", async () => {
    const { ask, runtime } = world();
    const ticket = (path: string, as: "viewer" | "approver" | "admin") =>
      ask("POST", "/api/tickets", { as, body: { path } });
    const made = await ticket("/api/events", "viewer");
    expect(made.body.ticket).toMatch(/^cst_/);
    expect([...runtime.tickets.keys()]).toEqual([secretHash(made.body.ticket)]);
    expect((await ticket("/api/attempts/abc.1/terminal", "viewer")).status).toBe(201);
    for (const path of ["/api/tasks", "//evil.example", "/api/attempts/../terminal/x", ""])
      expect((await ticket(path, "admin")).status).toBe(400);
    expect((await ticket("/", "approver")).body.needs).toBe("admin");
    expect((await ticket("/", "admin")).status).toBe(201);
  });
});

describe("sign-in links for somebody else", () => {
  it("[HTTP-125] an admin makes one with a token's id; it signs in that token's person, who may decide as they may", async () => {
    const { ask } = world();
    const made = await ask("POST", "/api/tokens", { as: "admin", body: { name: "grace", role: "approver" } });
    const link = (body: Record<string, unknown>, as: "approver" | "admin" = "admin") =>
      ask("POST", "/api/tickets", { as, body });
    const { body } = await link({ path: "/", token_id: made.body.id });
    expect(Object.keys(body).toSorted()).toEqual(["expires_at", "ticket"]);
    const session = await ask("POST", "/auth/session", { body: { ticket: body.ticket }, headers: { origin } });
    expect(session.body).toMatchObject({ subject: "grace", role: "approver", via: "session" });
    const refused = await link({ path: "/", token_id: made.body.id }, "approver");
    expect([refused.status, refused.body.needs]).toEqual([403, "admin"]);
    expect((await link({ path: "/", token_id: "none" })).status).toBe(404);
    expect((await link({ path: "/api/events", token_id: made.body.id })).status).toBe(400);
    expect((await link({ path: "/", token_id: "" })).status).toBe(400);
  });
  it("[HTTP-126] a name that hides or poses is 400 with the reason", async () => {
    const { ask } = world();
    for (const name of ["gr\u202eace", "gr\u0430ce"]) {
      const answer = await ask("POST", "/api/tokens", { as: "admin", body: { name, role: "viewer" } });
      expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(/a name (holds no|does not mix)/)]);
    }
  });
});

describe("scopes", () => {
  const authorization = `Bearer ${adminToken}`;
  it("[HTTP-24] the deployment admin makes a scope; its first token is an admin's and is answered once", async () => {
    const { ask, deployment } = world();
    const made = await ask("POST", "/api/scopes", { authorization, body: { name: "demo" } });
    expect(made.status).toBe(201);
    expect(made.body.scope_id).toMatch(/^[a-z0-9]{16}$/);
    const me = await ask("GET", "/api/me", { authorization: `Bearer ${made.body.token}` });
    expect([me.body.role, me.body.scope_id]).toEqual(["admin", made.body.scope_id]);
    expect((await ask("GET", "/api/scopes", { authorization })).body.items).toMatchObject([{ name: "demo" }]);
    expect(deployment.listed).toHaveLength(1);
    const second = await ask("POST", "/api/scopes", { authorization, body: { name: "demo" } });
    expect(second.body.scope_id).not.toBe(made.body.scope_id);
  });
  it("[HTTP-24] no other token makes or lists scopes, and a scope that was not made is not listed", async () => {
    const { ask, deployment } = world();
    for (const given of [`Bearer ${adminToken}x`, `Bearer ${deployment.token("admin")}`, "Bearer"]) {
      expect((await ask("POST", "/api/scopes", { authorization: given, body: { name: "x" } })).status).toBe(401);
      expect((await ask("GET", "/api/scopes", { authorization: given })).status).toBe(401);
    }
    expect((await ask("GET", "/api/tasks", { authorization })).status).toBe(401);
    deployment.runtime = () => {
      throw Object.assign(new Error("overloaded"), { overloaded: true });
    };
    expect((await ask("POST", "/api/scopes", { authorization, body: { name: "x" } })).status).toBe(503);
    expect(deployment.listed).toEqual([]);
  });
  it("[HTTP-24] a deployment without an admin token says what to set", async () => {
    const { ask, deployment } = world();
    deployment.adminTokenHash = "";
    const answer = await ask("POST", "/api/scopes", { authorization: "Bearer x", body: { name: "x" } });
    expect([answer.status, answer.body.code]).toEqual([503, "unavailable"]);
    expect(answer.body.detail).toContain("COUNTERSIGN_ADMIN_TOKEN");
  });
});
