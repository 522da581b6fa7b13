import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pagePolicy } from "../../src/http/headers.ts";
import { world } from "./world.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is walked as the plain JSON it is.
type Json = any;

describe("the OpenAPI document", () => {
  it("[HTTP-10] lists every route the app has, and each says who may call it and what it answers", async () => {
    const { ask, app } = world();
    const { body: document, status } = await ask("GET", "/api/openapi.json");
    expect([status, document.openapi]).toEqual([200, "3.1.0"]);
    const described = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(.+?)\}/g, ":$1")}`),
    );
    const served = app.routes.filter((route) => route.method !== "ALL").map((route) => `${route.method} ${route.path}`);
    expect([...new Set(served)].sort()).toEqual(described.sort());
    expect(described.length).toBeGreaterThan(30);
    for (const operation of operations(document)) {
      expect(operation.security).toBeDefined();
      expect(operation.summary).toBeTruthy();
      expect(Object.keys(operation.responses).some((code) => /^[12]/.test(code))).toBe(true);
      if (operation.security.length > 0 && operation.operationPath !== "DELETE /auth/session")
        expect(operation.responses["401"]).toBeDefined();
      if (operation.requestBody !== undefined) expect(operation.responses).toMatchObject({ 400: {}, 413: {}, 415: {} });
      for (const [code, answer] of Object.entries<Json>(operation.responses))
        if (code >= "400") expect(Object.keys(answer.content)).toEqual(["application/problem+json"]);
    }
  });
  it("[HTTP-10] every reference in it leads somewhere", async () => {
    const { body, text } = await world().ask("GET", "/api/openapi.json");
    const names = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]));
    expect([...names].filter((name) => body.components.schemas[name ?? ""] === undefined)).toEqual([]);
    expect([...names]).toEqual(expect.arrayContaining(["Task", "TaskInput", "Approval", "Problem", "Event"]));
    expect(Object.keys(body.components.securitySchemes)).toEqual(["token", "session", "deployment_admin"]);
    expect(body.components.schemas.TaskInput.required).toEqual(["title", "repo"]);
  });
  function operations(document: Json): Json[] {
    return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, operation]) => ({
        ...operation,
        operationPath: `${method.toUpperCase()} ${path}`,
      })),
    );
  }
});

describe("headers", () => {
  it("[HTTP-31] every answer of the API is not stored, not sniffed, not framed; a problem too", async () => {
    const { ask } = world();
    for (const path of ["/api/tasks", "/api/nothing", "/healthz", "/api/me"]) {
      const { headers } = await ask("GET", path, { as: "viewer" });
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("strict-transport-security")).toBeNull();
    }
    const secure = await ask("GET", "https://control.example/api/me", { as: "viewer" });
    expect(secure.headers.get("strict-transport-security")).toContain("max-age");
  });
  it("[HTTP-31] the page runs only its own scripts in no frame, whichever way it is served", async () => {
    const { ask } = world();
    const page = await ask("GET", "/tasks/task-1");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html"]);
    expect(page.headers.get("content-security-policy")).toBe(pagePolicy);
    expect(pagePolicy).toContain("script-src 'self';");
    expect(pagePolicy).toContain("frame-ancestors 'none'");
    expect(readFileSync("web/public/_headers", "utf8")).toContain(`Content-Security-Policy: ${pagePolicy}\n`);
    expect((await ask("POST", "/tasks/task-1", { body: {} })).status).toBe(404);
  });
});

describe("health", () => {
  it("[HTTP-32] says what works without a token, and what is missing", async () => {
    const { ask, deployment } = world();
    expect((await ask("GET", "/healthz")).body.status).toBe("ok");
    deployment.featureList = () => [{ name: "sandbox", ok: false, detail: "set SANDBOX_URL" }];
    const degraded = await ask("GET", "/healthz");
    expect([degraded.status, degraded.body.status, degraded.body.features[0].detail]).toEqual([
      200,
      "degraded",
      "set SANDBOX_URL",
    ]);
    deployment.featureList = () => {
      throw new Error("no");
    };
    expect((await ask("GET", "/healthz")).body.code).toBe("unavailable");
  });
  it("[MODEL-18] a deployment without models is as healthy, and says that it has none", async () => {
    const { ask, deployment } = world();
    const lack = { name: "models", ok: false, detail: "set MODEL_PLANNER", optional: true };
    deployment.featureList = () => [lack, { name: "records", ok: true, detail: "D1 answers." }];
    const { body } = await ask("GET", "/healthz");
    expect([body.status, body.features[0]]).toEqual(["ok", lack]);
    deployment.featureList = () => [{ ...lack, optional: false }];
    expect((await ask("GET", "/healthz")).body.status).toBe("degraded");
  });
  it("[HTTP-35] publishes the keys that verify tokens to everybody, and no private part", async () => {
    const { ask } = world();
    const { status, body } = await ask("GET", "/.well-known/jwks.json");
    expect([status, body.keys[0].kid]).toEqual([200, "first"]);
    expect(Object.keys(body.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
  });
});
