/**
 * Doors of the policy: every version shown, a new one made by who has seen the last, and any policy tried out. Trying
 * one changes nothing and tells no more than a viewer may read anyway, so a viewer may. [HTTP-100] to [HTTP-106]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { hashOf } from "../domain/canonical.ts";
import { keyTwice } from "../domain/json-twice.ts";
import type { JsonValue } from "../domain/message.ts";
import { type Policy, policySchema, type Resolution, resolve } from "../domain/policy.ts";
import type { CallContext } from "../domain/policy-call.ts";
import { replay } from "../domain/policy-change.ts";
import { readPolicy } from "../domain/policy-document.ts";
import type { EvaluateInput, ReplayView } from "../domain/policy-shapes.ts";
import * as words from "../domain/policy-shapes.ts";
import { limits } from "../limits.ts";
import type { RecordedCalls } from "./doors.ts";
import { asks, body, json, pageOf, pageQuery, problems, sends, shapes } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const show = createRoute({
  method: "get",
  path: "/api/policy",
  summary: "Show the policy in force",
  description: "The `ETag` is the `policy_hash` in quotes.",
  ...asks("viewer", "policy"),
  responses: { 200: json("The policy", shapes.policy), ...problems(401, 500, 503) },
});
const change = createRoute({
  method: "put",
  path: "/api/policy",
  summary: "Put another policy in force",
  description:
    "The whole document, made from the version that `If-Match` names by its `ETag`. Another version in force is 412, with that version; " +
    'without `If-Match` it is 428, and `*` is 400. The same content again makes no version, and answers with `"changed": false`. ' +
    "The new policy is asked at every next call, also of work that was approved before.",
  ...sends("admin", "policy"),
  request: {
    headers: z.object({ "if-match": z.string().max(2_000).optional() }),
    body: body(z.strictObject({ policy: z.unknown(), reason: words.reasonText.optional() })),
  },
  responses: {
    200: json("The policy in force now, and what changed", shapes.policyChanged),
    ...problems(400, 401, 403, 412, 413, 415, 428, 500, 503),
  },
});
const versions = createRoute({
  method: "get",
  path: "/api/policy/versions",
  summary: "List the policy's versions, newest first",
  ...asks("viewer", "policy"),
  request: { query: pageQuery },
  responses: { 200: json("A page of versions", shapes.policyVersionPage), ...problems(400, 401, 500, 503) },
});
const version = createRoute({
  method: "get",
  path: "/api/policy/versions/{version}",
  summary: "Show one version of the policy",
  ...asks("viewer", "policy"),
  request: { params: z.strictObject({ version: z.coerce.number().int().min(1) }) },
  responses: { 200: json("The version", shapes.policy), ...problems(401, 404, 500, 503) },
});
const evaluate = createRoute({
  method: "post",
  path: "/api/policy/evaluate",
  summary: "Say what a policy answers to one call, or what it would change for a task's recorded calls",
  description:
    "With `call`: the answer of the policy in force, or of `policy`. With `task_id` and `policy`: the task's calls, the newest 500 at most, " +
    "each with its item's grant, answered by both; those whose decision or rule differs are listed. Nothing is stored.",
  ...sends("viewer", "policy"),
  request: { body: body(shapes.evaluateInput) },
  responses: {
    200: json("The answer, or what would change", z.union([shapes.evaluation, shapes.replay])),
    ...problems(400, 401, 403, 404, 413, 415, 500, 503),
  },
});

export const policies = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(show, async (c) => {
    const found = take(await c.var.runtime.policy(c.var.caller));
    return c.json(found, 200, { etag: etagOf(found.policy_hash) });
  })
  .openapi(change, async (c) => {
    const seen = seenIn(c.req.valid("header")["if-match"]);
    const { policy, reason } = c.req.valid("json");
    onceEach(await c.req.text());
    const asked = { policy: readable(policy), reason: reason || null, seen };
    const made = take(await c.var.runtime.changePolicy(c.var.caller, asked));
    return c.json(made, 200, { etag: etagOf(made.policy_hash) });
  })
  .openapi(versions, async (c) =>
    c.json(take(await c.var.runtime.policyVersions(c.var.caller, pageOf(c.req.valid("query")))), 200),
  )
  .openapi(version, async (c) => {
    const found = take(await c.var.runtime.policyVersion(c.var.caller, c.req.valid("param").version));
    return c.json(found, 200, { etag: etagOf(found.policy_hash) });
  })
  .openapi(evaluate, async (c) => {
    const { runtime, caller } = c.var;
    const asked = c.req.valid("json");
    const candidate = asked.policy === undefined ? null : readable(asked.policy);
    if (asked.task_id !== undefined && candidate !== null)
      return c.json(replayed(asked.task_id, candidate, take(await runtime.recordedCalls(caller, asked.task_id))), 200);
    const view = take(await runtime.policy(caller));
    const policy = candidate ?? policySchema.parse(view.policy);
    const policy_hash = candidate === null ? view.policy_hash : hashOf(candidate);
    const { notes, ...answer } = answered(policy, asked);
    return c.json({ ...answer, notes: [...notes], policy_hash }, 200);
  });

function etagOf(policy_hash: string): string {
  return `"${policy_hash}"`;
}
/** The hashes that `If-Match` names (RFC 9110, 13.1.1). Weak tags match nothing there. */
function seenIn(header: string | undefined): string[] {
  if (header === undefined || header.trim() === "")
    throw new Refused(
      "precondition_required",
      "Say which version you changed: send If-Match with the ETag that GET /api/policy answered.",
    );
  const tags = header.split(",").map((tag) => tag.trim());
  const form = /^(W\/)?"([^"]*)"$/;
  if (!tags.every((tag) => form.test(tag)))
    throw new Refused(
      "bad_request",
      'If-Match must name a version by its ETag, in quotes; "*" names none, so it cannot replace one.',
    );
  const strong = tags.flatMap((tag) => (tag.startsWith("W/") ? [] : [form.exec(tag)?.[2] ?? ""]));
  if (strong.length === 0)
    throw new Refused("precondition_failed", "A weak ETag matches nothing here: send it without the W/ before it.");
  return strong;
}

/** A parser keeps the last of two settings of one name without a word. */
function onceEach(body: string): void {
  const key = keyTwice(body);
  if (key !== null)
    throw new Refused(
      "bad_request",
      `The key ${JSON.stringify(key.slice(0, 80))} stands twice: leave one out. Nothing was changed.`,
    );
}

/** The policy in the body, or every problem of it by its place. */
function readable(value: unknown): Policy {
  const read = readPolicy(value);
  if (read.ok) return read.policy;
  const errors = read.problems.map(({ path, message }) => ({
    path: path === "" ? "policy" : `policy.${path}`,
    message,
  }));
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : "";
  throw new Refused(
    read.too_large ? "body_too_large" : "bad_request",
    `The policy is not right: ${first?.path}: ${first?.message}${more}. Nothing was changed.`,
    { errors },
  );
}

function answered(policy: Policy, asked: EvaluateInput): Resolution {
  const { steps, ...allow } = asked.grant ?? { steps: [] };
  const context: CallContext = {
    role: asked.role ?? "crew",
    taint: asked.taint ?? "owner",
    holds_secret: asked.holds_secret ?? false,
    token: "tools" in allow ? { allow, steps } : null,
  };
  // The body came as JSON.
  return resolve(policy, { tool: asked.call?.tool ?? "", args: asked.call?.args as JsonValue }, context);
}

function replayed(task_id: string, candidate: Policy, { policy, calls, left_out }: RecordedCalls): ReplayView {
  const changed = replay(policySchema.parse(policy.policy), candidate, calls);
  return {
    task_id,
    policy_hash: policy.policy_hash,
    candidate_hash: hashOf(candidate),
    checked: calls.length,
    left_out,
    changed: changed.map(({ call: { call_id, attempt_id, tool, arguments: asked }, before, after }) => ({
      ...{ call_id, attempt_id, tool },
      arguments: asked.slice(0, limits.replay_argument_bytes).toWellFormed(),
      before: inShort(before),
      after: inShort(after),
    })),
  };
}
function inShort({ decision, rule, reason }: Resolution) {
  return { decision, rule, reason };
}
