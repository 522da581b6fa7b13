/**
 * Hooks: addresses by which anything that can sign a request asks for a task. The id names the scope and proves that
 * we made it; what it is sent is an outsider's words. [HOOK-*]
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { z } from "zod";
import { limits } from "../limits.ts";
import { sameText } from "./credential.ts";
import { taskInput } from "./view.ts";

const label = z.string().min(1).max(60);

/** Body of POST /api/hooks. `title`: what its tasks are called; `{title}`, `{name}` and `{id}` are filled in. */
export const hookInput = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "use lower-case letters, digits and hyphens, 40 at most"),
  repo: z.string().min(1).max(2_048),
  ref: z.string().min(1).max(255).default("HEAD"),
  title: z.string().trim().min(1).max(200).default("{title}"),
  labels: z.array(label).max(20).default([]),
  max_per_hour: z.number().int().min(1).max(limits.hook_per_hour_max).default(20),
});
export type HookInput = z.infer<typeof hookInput>;

export const hookView = hookInput.extend({
  id: z.string(),
  /** Where it is posted to, below the service's own address. */
  path: z.string(),
  secret_version: z.number().int(),
  old_secret_until: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
});
export type HookView = z.infer<typeof hookView>;
export const hookMade = hookView.extend({ secret: z.string() });

/** What a hook is sent. */
export const hookBody = z.strictObject({
  title: z.string().trim().min(1).max(200).optional(),
  description: taskInput.shape.description,
  plan: taskInput.shape.plan,
  labels: taskInput.shape.labels,
});
export type HookBody = z.infer<typeof hookBody>;
export const hookTaken = z.strictObject({ task_id: z.string() });

const shape = /^([a-z0-9]{16})([a-z2-7]{24})([0-9a-f]{16})$/;

/** `random` is a random id; the last 16 letters say that this deployment made the rest. */
export function hookId(key: Uint8Array, scope_id: string, random: string): string {
  return `${scope_id}${random}${checksum(key, scope_id, random)}`;
}
/** The scope of an id we made; null for any other, before any object is asked. */
export function scopeOfHook(key: Uint8Array, id: string): string | null {
  const [, scope_id, random, sum] = shape.exec(id) ?? [];
  if (scope_id === undefined || random === undefined || sum === undefined) return null;
  return sameText(sum, checksum(key, scope_id, random)) ? scope_id : null;
}
function checksum(key: Uint8Array, scope_id: string, random: string): string {
  return bytesToHex(hmac(sha256, key, utf8ToBytes(`countersign/hook/id/1\n${scope_id}\n${random}`))).slice(0, 16);
}

/** Each name once, from the left: what a title brings with it is not filled in again. */
export function hookTitle(template: string, given: { title: string | undefined; name: string; id: string }): string {
  const { title = `Asked by the hook ${given.name}`, name, id } = given;
  const words: Record<string, string> = { title, name, id };
  const whole = template.replace(/\{(title|name|id)\}/g, (_, word: string) => words[word] ?? "");
  return [...whole].slice(0, 200).join("").trim() || `Asked by the hook ${name}`;
}
/** The hook's own labels first. Of too many the last are left out. */
export function hookLabels(own: readonly string[], sent: readonly string[]): string[] {
  return [...new Set([...own, ...sent])].slice(0, 20);
}
/** Who asked for such a task, as everybody is shown it. */
export function hookSubject(name: string): string {
  return `hook:${name}`;
}
