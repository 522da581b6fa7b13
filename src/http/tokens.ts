/** The door of what an approval signed. [HTTP-110] */
import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { issuedToken } from "../domain/token.ts";
import { asks, id, json, problems, whole } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const list = createRoute({
  method: "get",
  path: "/api/approvals/{id}/tokens",
  summary: "List the signed tokens an approval issued",
  description:
    "Each is a JWS (RFC 7515, EdDSA over RFC 8785 bytes) that verifies with the keys of /.well-known/jwks.json. A token is evidence, not a bearer right: " +
    "it says who approved exactly what, no door takes one in, and only the service itself acts on it, so a viewer may read it. What was replaced, withdrawn " +
    "or signed by a key that is gone stays listed as `void`.",
  ...asks("viewer", "approvals"),
  request: { params: id },
  responses: {
    200: json("All tokens, oldest first", whole(issuedToken.clone().openapi("IssuedToken"))),
    ...problems(401, 404, 500, 503),
  },
});

export const tokens = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid }).openapi(list, async (c) => {
  const items = take(await c.var.runtime.approvalTokens(c.var.caller, c.req.valid("param").id));
  return c.json({ items, next_cursor: null }, 200);
});
