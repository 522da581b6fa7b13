import { describe, expect, it } from "vitest";
import type { IssuedToken } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import { approvalOf } from "../fakes/views.ts";
import { world } from "./world.ts";

const issued: IssuedToken = {
  subject: "p1.fix",
  kid: "first",
  life: "void",
  void_reason: "the plan is superseded",
  issued_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-01-31T00:00:00.000Z",
  spent_at: null,
  jws: "aa.bb.cc",
};

describe("the tokens of an approval", () => {
  it("[HTTP-110] a viewer reads them all, void ones too; an unknown approval is 404", async () => {
    const { ask, runtime } = world();
    runtime.approvalRows.set("approval-1", approvalOf("approval-1"));
    const none = await ask("GET", "/api/approvals/approval-1/tokens", { as: "viewer" });
    expect([none.status, none.body]).toEqual([200, { items: [], next_cursor: null }]);
    runtime.issued.set("approval-1", [issued]);
    const some = await ask("GET", "/api/approvals/approval-1/tokens", { as: "viewer" });
    expect(some.body).toEqual({ items: [issued], next_cursor: null });
    const unknown = await ask("GET", "/api/approvals/approval-2/tokens", { as: "viewer" });
    expect([unknown.status, unknown.body.code]).toEqual([404, "approval_not_found"]);
  });
  it("[HTTP-110] a token opens no door: it is nobody's bearer right", async () => {
    const { ask } = world();
    for (const path of ["/api/approvals", "/api/tasks", "/api/me"])
      expect((await ask("GET", path, { authorization: `Bearer ${issued.jws}` })).status).toBe(401);
    const { paths } = (await ask("GET", "/api/openapi.json")).body;
    expect(paths["/api/approvals/{id}/tokens"].get.description).toContain("evidence, not a bearer right");
  });
});

describe("the public keys", () => {
  it("[HTTP-111] may be kept by anybody for a few minutes, and read from any page", async () => {
    const { ask } = world();
    const { headers, body } = await ask("GET", "/.well-known/jwks.json");
    expect(headers.get("cache-control")).toBe(`public, max-age=${limits.public_keys_kept_s}`);
    expect(limits.public_keys_kept_s).toBeLessThanOrEqual(600);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("content-type")).toContain("json");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(Object.keys(body.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
  });
  it("[HTTP-111] nothing else may be kept, also not a refusal at their address", async () => {
    const { ask } = world();
    for (const [method, path] of [
      ["POST", "/.well-known/jwks.json"],
      ["GET", "/.well-known/other"],
      ["GET", "/api/openapi.json"],
      ["GET", "/api/approvals"],
    ] as const) {
      const { headers } = await ask(method, path, { as: "viewer" });
      expect(headers.get("cache-control"), path).toBe("no-store");
      expect(headers.get("access-control-allow-origin"), path).toBeNull();
    }
  });
});
