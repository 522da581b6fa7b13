/**
 * GitHub's door: what the App's secret signed is read into our own words and handed to the scope it belongs to; the work
 * is done later. What is not signed leaves no trace, and what begins nothing is answered and counted. [GHI-30..39]
 */
import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { sha256Hex } from "../domain/canonical.ts";
import { addressOf, type GithubIdentity, readEvent } from "../domain/github/events.ts";
import { type Ignored, ignoredWhy } from "../domain/github/ignored.ts";
import { limits } from "../limits.ts";
import { decode, readBytes } from "./body.ts";
import { signedByOne } from "./hmac.ts";
import { json, problems } from "./openapi.ts";
import type { DoorEnv, GithubPorts } from "./ports.ts";
import { Refused, refusedBy } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const taken = z
  .discriminatedUnion("status", [
    z.strictObject({ status: z.enum(["accepted", "seen"]) }),
    z.strictObject({ status: z.literal("ignored"), why: z.enum(ignoredWhy) }),
  ])
  .openapi("GithubTaken");
type Taken = z.infer<typeof taken>;

const signed = z.strictObject({
  "x-github-event": z.string().optional().describe("Name of the event"),
  "x-github-delivery": z.string().optional().describe("Id of the delivery: the same once more changes nothing"),
  "x-hub-signature-256": z.string().optional().describe("`sha256=<hex>`, HMAC-SHA256 of the body"),
});
const route = {
  method: "post" as const,
  path: "/webhooks/github",
  summary: "Take an event from GitHub, signed by the App's webhook secret",
  description:
    "The body is at most 25 MB of JSON. What is signed wrongly is answered 401, and nothing is kept of it. Nothing else is answered with a failure, unless GitHub is to send it again.",
  tags: ["github"],
  security: [],
  request: {
    headers: signed,
    body: { content: { "application/json": { schema: z.record(z.string(), z.unknown()) } } },
  },
  responses: {
    200: json("Seen before, or nothing that begins anything here", taken),
    202: json("It is worked on", taken),
    ...problems(400, 401, 413, 415, 500, 503),
  },
};

export const github = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid });
// By itself, for its body is read as bytes, once, and by nobody before: the signature is over the bytes.
github.openAPIRegistry.registerPath(route);
github.post(route.path, async (c) => {
  const answer = await take(c);
  return c.json(answer, answer.status === "accepted" ? 202 : 200);
});

async function take(c: Context<DoorEnv>): Promise<Taken> {
  const ports = c.var.ports.github;
  const secrets = ports.secrets.filter((secret) => secret !== "").slice(0, limits.github_hook_secrets);
  if (secrets.length === 0 || ports.identity === null)
    throw new Refused(
      "unavailable",
      "This deployment has no whole GitHub App: run `countersign github setup`, or see /healthz for which of GITHUB_APP_ID, GITHUB_APP_SLUG, GITHUB_PRIVATE_KEY and GITHUB_WEBHOOK_SECRET is missing.",
    );
  const bytes = await signedBody(c, secrets);
  const delivery_id = deliveryOf(c);
  const event = eventOf(c);
  const payload = payloadOf(c, bytes);
  return passOn(ports, ports.identity, { delivery_id, event, payload, bytes });
}

/** A request without the form of a signature is not read at all. */
async function signedBody(c: Context<DoorEnv>, secrets: readonly string[]): Promise<Uint8Array> {
  const stranger = new Refused(
    "unauthenticated",
    "The signature in X-Hub-Signature-256 is not of this App's webhook secret: set the same secret here (GITHUB_WEBHOOK_SECRET) and in the App's settings.",
  );
  const signature = /^sha256=([0-9a-f]{64})$/.exec(c.req.header("x-hub-signature-256") ?? "")?.[1];
  if (signature === undefined) throw stranger;
  const bytes = await readBytes(c.req.raw, limits.github_hook_body_bytes);
  if (!(await signedByOne(secrets, signature, bytes))) throw stranger;
  return bytes;
}

/** In one case: it is claimed once, however it is written. */
function deliveryOf(c: Context<DoorEnv>): string {
  const id = (c.req.header("x-github-delivery") ?? "").toLowerCase();
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id;
  throw new Refused("bad_request", "X-GitHub-Delivery is not the id of a delivery: send the one GitHub made, a GUID.");
}
function eventOf(c: Context<DoorEnv>): string {
  const event = c.req.header("x-github-event") ?? "";
  if (/^[a-z][a-z0-9_]{0,63}$/.test(event)) return event;
  throw new Refused("bad_request", "X-GitHub-Event is not the name of an event: send the one GitHub gave.");
}

function payloadOf(c: Context<DoorEnv>, bytes: Uint8Array): unknown {
  const type = (c.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    throw new Refused(
      "unsupported_media_type",
      "Set the webhook's content type to application/json in the App's settings: forms are not read.",
    );
  const text = decode(bytes);
  try {
    return JSON.parse(text) as unknown; // JSON.parse says any.
  } catch {
    throw new Refused("bad_request", "The body is not valid JSON.");
  }
}

interface Sent {
  readonly delivery_id: string;
  readonly event: string;
  readonly payload: unknown;
  readonly bytes: Uint8Array;
}

/** Whatever fails behind this door, GitHub is to send it again: its failed deliveries are asked for anew. */
async function passOn(ports: GithubPorts, identity: GithubIdentity, sent: Sent): Promise<Taken> {
  try {
    return await passedOn(ports, identity, sent);
  } catch (error) {
    const refused = refusedBy(error);
    if (refused.code !== "internal") throw refused;
    console.error(`GitHub's delivery ${sent.delivery_id} of ${sent.event} failed`, error);
    throw new Refused("unavailable", "The event could not be passed on now: it must be sent again.");
  }
}
async function passedOn(ports: GithubPorts, identity: GithubIdentity, sent: Sent): Promise<Taken> {
  const { delivery_id, event, payload, bytes } = sent;
  const address = addressOf(event, payload);
  if (address.kind === "ignored") return ignore(ports, null, sent, address.why);
  if (address.kind === "installation") {
    const done = await ports.installation(address.installation, delivery_id);
    return { status: done };
  }
  const { repository } = address;
  const found = await ports.route(repository.installation_id, repository);
  if (found === null) return ignore(ports, null, sent, "not_linked");
  const { scope_id } = found;
  const read = readEvent(event, payload, identity, found.triggers);
  if (read.kind === "ignored") return ignore(ports, scope_id, sent, read.why);
  if (read.kind === "installation") return { status: await ports.installation(read.installation, delivery_id) };
  const delivery = { delivery_id, repository: found.repository, happening: read.happening };
  // The delivery's id is not under the signature: what came before comes again under any.
  const done = await ports.deliver(scope_id, delivery, sha256Hex(bytes));
  if (done === "not_linked") return ignore(ports, scope_id, sent, "not_linked");
  if (done === "no_task") return { status: "ignored", why: done };
  return { status: done === "claimed" ? "accepted" : "seen" };
}

/** Not being able to count is no reason for GitHub to send it again. */
async function ignore(ports: GithubPorts, scope_id: string | null, sent: Sent, why: Ignored): Promise<Taken> {
  await ports
    .ignored(scope_id, why)
    .catch((error: unknown) => console.warn(`an ignored ${sent.event} was not counted`, error));
  return { status: "ignored", why };
}
