/**
 * The deployment's GitHub App, one object: which installation and repository belong to which scope, what the scopes have
 * been told of it, and deliveries that GitHub could not bring. What it decides stands in `src/domain/github`. [GHL-*]
 */
import { DurableObject } from "cloudflare:workers";
import type { RepositoryOf } from "../src/domain/github/installations.ts";
import type { GithubRepository } from "../src/domain/github/shapes.ts";
import type { InstallationView } from "../src/domain/github/views.ts";
import { type Bindings, worldOf } from "../src/env.ts";
import type { InstallationEvent } from "../src/http/doors.ts";
import { limits } from "../src/limits.ts";
import { lookAt, retryAt } from "./github/asking.ts";
import { Deliveries } from "./github/deliveries.ts";
import { GithubRows, githubSchema } from "./github/rows.ts";
import { Tries, triesSchema } from "./github/tries.ts";
import { inTime } from "./in-time.ts";
import { githubOf, type RemoteGithubApp } from "./remote.ts";
import { applySchemas, durableSql } from "./sql.ts";

export class GithubObject extends DurableObject<Bindings> implements RemoteGithubApp {
  readonly #rows: GithubRows;
  readonly #deliveries: Deliveries;
  #looking = false;
  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    const sql = durableSql(ctx);
    applySchemas(sql, { github: githubSchema, github_tries: triesSchema });
    const rows = new GithubRows(sql);
    this.#rows = rows;
    this.#deliveries = new Deliveries(new Tries(sql), (gone) => rows.count("never_came", gone));
  }

  /** The scope that a repository is linked to now; null when it is nobody's. Throws while that is not known yet. */
  async scopeOf(installation_id: number, repository: GithubRepository): Promise<string | null> {
    const now = Date.now();
    const { scope_id, unsure } = this.#rows.transaction((rows) => rows.scopeOf(installation_id, repository, now));
    if (!unsure) return scope_id;
    await this.#arm();
    // GitHub counts the delivery as failed and brings it again, when the repository is known.
    throw new Error("the installation is being looked at: this delivery must come again");
  }
  /** Whatever the event says, GitHub itself is asked how the installation stands. */
  async installation(event: InstallationEvent, delivery_id: string): Promise<"accepted" | "seen"> {
    const now = Date.now();
    const first = this.#rows.transaction((rows) => {
      if (!rows.claim(delivery_id, now)) return false;
      rows.lookAgain({ id: event.installation_id, account: event.account }, now);
      return true;
    });
    await this.#arm();
    return first ? "accepted" : "seen";
  }
  async ignored(why: string): Promise<void> {
    this.#rows.transaction((rows) => rows.count(why));
  }

  async installations(): Promise<readonly InstallationView[]> {
    return this.#rows.views();
  }
  async counts(): Promise<readonly { readonly why: string; readonly n: number }[]> {
    return this.#rows.counts();
  }
  /** What is not known or cannot be brought of installations and deliveries, in words. */
  async troubles(): Promise<readonly string[]> {
    return [...this.#rows.troubles(), ...this.#deliveries.problems(Date.now())];
  }
  /** Null when there is no such installation. */
  async assign(installation_id: number, scope_id: string | null): Promise<InstallationView | null> {
    const done = this.#rows.transaction((rows) => rows.assign(installation_id, scope_id, Date.now()));
    await this.#arm();
    return done;
  }
  /** `scope_id` null: where its installation belongs. Null when that installation does not cover it. */
  async assignRepository(id: RepositoryOf, scope_id: string | null): Promise<InstallationView | null> {
    const done = this.#rows.transaction((rows) => rows.assignRepository(id, scope_id, Date.now()));
    await this.#arm();
    return done;
  }

  // --- time

  override async alarm(): Promise<void> {
    const parts = [() => this.#look(), () => this.#tell()];
    try {
      for (const part of parts)
        try {
          await part();
        } catch (error) {
          console.error("github: the alarm met a bug; it goes on", error);
        }
    } finally {
      await this.#arm();
    }
  }
  /** Asked each minute: what was lost is asked for again, and no installation goes unseen for long. */
  async sweep(): Promise<void> {
    const { githubConfig } = worldOf(this.env);
    if (githubConfig === null) return;
    const now = Date.now();
    this.#rows.transaction((rows) => rows.upkeep(now));
    await this.#arm();
    if (this.#looking || !this.#rows.transaction((rows) => rows.redeliveryDue(now))) return;
    this.#looking = true;
    try {
      await this.#deliveries.look(worldOf(this.env).githubApp, now);
    } catch (error) {
      console.warn("github: lost deliveries are asked for again later", error);
      this.#rows.transaction((rows) => rows.redeliveryPutOff(retryAt(error, 0, Date.now())));
    } finally {
      this.#looking = false;
    }
  }

  async #look(): Promise<void> {
    const { githubApp, githubConfig } = worldOf(this.env);
    for (const due of this.#rows.due(Date.now(), limits.github_installations_at_once)) {
      try {
        const scope = due.scope_id === null ? (githubConfig?.scope ?? null) : null;
        const seen = await lookAt(githubApp, due.id, scope);
        this.#rows.transaction((rows) => rows.seen(due, seen, Date.now()));
      } catch (error) {
        console.warn(`github: installation ${due.id} could not be looked at; it is tried again`, error);
        const why = error instanceof Error ? error.message : String(error);
        const now = Date.now();
        this.#rows.transaction((rows) => rows.putOff(due, retryAt(error, due.tries, now), { why, now }));
      }
    }
  }
  /** One after the other: whoever had a repository has let it go before another scope gets it. */
  async #tell(): Promise<void> {
    for (const { row, next } of this.#rows.untold(Date.now(), limits.github_tells_at_once)) {
      const { tell, told } = next;
      try {
        const scope = githubOf(this.env, tell.scope_id);
        const telling =
          tell.what === "linked"
            ? scope.githubLinked(tell.scope_id, [tell.repository])
            : scope.githubUnlinked(tell.scope_id, [tell.repository_id], tell.what);
        await inTime(telling, limits.github_tell_ms, `scope ${tell.scope_id}`);
        this.#rows.transaction((rows) => rows.told(row, told));
      } catch (error) {
        console.warn(`github: scope ${tell.scope_id} was not told; it is told again`, error);
        this.#rows.transaction((rows) => rows.tellLater(row, retryAt(error, row.tries, Date.now())));
      }
    }
  }
  async #arm(): Promise<void> {
    const at = this.#rows.nextDueAt();
    if (at !== null) await this.ctx.storage.setAlarm(Math.max(at, Date.now()));
  }
}
