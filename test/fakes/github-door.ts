/** What stands behind GitHub's door, made tame: repositories linked to scopes, and what each was brought, once. */
import { createHmac } from "node:crypto";
import type { InstallationEvent } from "../../src/domain/github/events.ts";
import type { Ignored } from "../../src/domain/github/ignored.ts";
import type { GithubEvent, GithubRepository } from "../../src/domain/github/shapes.ts";
import { defaultTriggers } from "../../src/domain/github/triggers.ts";
import type { GithubPorts } from "../../src/http/ports.ts";

export const hookSecret = "the webhook secret of the App";

export class FakeGithub implements GithubPorts {
  secrets: readonly string[] = [hookSecret];
  identity: GithubPorts["identity"] = { app_id: 4711, slug: "countersign", bot_login: "countersign[bot]" };
  triggers = defaultTriggers;
  /** By installation; every repository of it belongs to the scope. */
  readonly scopes = new Map<number, string>();
  everywhere: string | null = null;
  readonly delivered: (GithubEvent & { scope_id: string; body_hash: string })[] = [];
  readonly installed: InstallationEvent[] = [];
  readonly counted: string[] = [];
  /** Calls of any port: nothing at all happens for a stranger. */
  calls = 0;
  failing: Error | null = null;
  linked = true;
  /** The change of words that nobody's task was made of. */
  waited = true;
  readonly #seen = new Set<string>();

  async route(installation_id: number, repository: GithubRepository) {
    this.#call();
    const scope_id = this.scopes.get(installation_id) ?? this.everywhere;
    return scope_id === null ? null : { scope_id, repository, triggers: this.triggers };
  }
  async installation(event: InstallationEvent, delivery_id: string) {
    this.#call();
    if (!this.#claim(delivery_id)) return "seen" as const;
    this.installed.push(event);
    return "accepted" as const;
  }
  async deliver(scope_id: string, delivery: GithubEvent, body_hash: string) {
    this.#call();
    if (!this.linked) return "not_linked" as const;
    if (!this.waited) return "no_task" as const;
    if (!this.#claim(delivery.delivery_id)) return "seen" as const;
    this.delivered.push({ scope_id, body_hash, ...delivery });
    return "claimed" as const;
  }
  async ignored(scope_id: string | null, why: Ignored) {
    this.#call();
    this.counted.push(`${scope_id ?? "-"} ${why}`);
  }
  #claim(delivery_id: string): boolean {
    const fresh = !this.#seen.has(delivery_id);
    this.#seen.add(delivery_id);
    return fresh;
  }
  #call(): void {
    this.calls += 1;
    if (this.failing !== null) throw this.failing;
  }
}

export function signatureOf(body: string | Uint8Array, secret = hookSecret): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}
