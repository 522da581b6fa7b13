/** What GitHub's door brings, what links and unlinks a repository, and what the courier and git ask of it. [RTO-*] [GHR-*] */
import { z } from "zod";
import { byteLength, canonicalJson } from "../../src/domain/canonical.ts";
import {
  type GithubEvent,
  type GithubRepository,
  githubEvent,
  githubRepository,
  type Happening,
} from "../../src/domain/github/shapes.ts";
import type { GithubStanding } from "../../src/domain/github/standing.ts";
import { type Triggers, triggers as triggersShape } from "../../src/domain/github/triggers.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { build, type JsonValue } from "../../src/domain/message.ts";
import type { GithubDelivered } from "../../src/http/doors.ts";
import { limits } from "../../src/limits.ts";
import type { GithubLink, RemoteGithub, RemoteRuntime } from "../remote.ts";
import { taskIdOf, toCourier } from "./github-courier.ts";
import { linkRepository, unlinkRepository } from "./github-links.ts";
import { madeOf } from "./github-requests.ts";
import type { LinkRow } from "./github-rows.ts";
import { offering, standingOf } from "./github-standing.ts";
import { leave, lookAgain } from "./github-sync.ts";
import type { Scope } from "./scope.ts";
import { traceOf } from "./tasks.ts";

/** Where GitHub is, and this deployment; the second is null when it does not know. */
export interface Places {
  readonly github: string;
  readonly page: string | null;
}

export class GithubDoor implements RemoteGithub, Pick<RemoteRuntime, "githubStanding"> {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  readonly #soon: () => Promise<void>;
  readonly #places: () => Places;
  /** `soon` is `after` for who does not wait: what has not left by then leaves without them. */
  constructor(scope: Scope, hands: { after: () => Promise<void>; soon: () => Promise<void>; places: () => Places }) {
    this.#scope = scope;
    this.#after = hands.after;
    this.#soon = hands.soon;
    this.#places = hands.places;
  }

  /** Claimed, on record and on its way in one commit. One that is not claimed leaves nothing but a count. */
  async githubDelivery(scope: string, given: GithubEvent, body_hash: string): Promise<GithubDelivered> {
    this.#scope.belongs(scope);
    const delivery = fitted(githubEvent.parse(given));
    const { delivery_id, repository, happening } = delivery;
    // What happens twice differs in its ids or its second, and what GitHub sends again keeps id and bytes. Only a button
    // pressed twice is told in the same bytes; it decides for its one card or task, whenever it comes.
    const body = happening.kind === "decision" && happening.via === "button" ? null : sha256.parse(body_hash);
    const answer = this.#scope.commit((tx) => {
      const { github } = tx.stores;
      if (github.isClaimed(delivery_id, body)) return "seen";
      const why =
        github.link(repository.id)?.state !== "linked"
          ? "not_linked"
          : happening.kind === "changed" && madeOf(tx.stores, repository.id, happening).length === 0
            ? "no_task"
            : null;
      if (why !== null) {
        github.count(happening.kind, why);
        return why;
      }
      const longer = limits.github_wish_kept_ms - limits.github_delivery_kept_ms;
      github.claim(delivery_id, body, tx.now + (happening.kind === "wish" ? longer : 0));
      const trace_id = traceOf(taskIdOf(delivery_id));
      const by = happening.by?.login ?? null;
      const details = { delivery_id, repository: repository.full_name, kind: happening.kind, by };
      tx.audit("effect", { trace_id }, { actor: "user", decision: "github_delivery", details });
      toCourier(
        tx,
        build({
          message_id: derivedId(delivery_id, "github_event", 0),
          trace_id,
          scope_id: tx.scope.scope_id,
          message_kind: "github_event",
          sender: "runtime",
          recipient: "courier",
          content: `${happening.kind} on ${repository.full_name}`,
          taint: "outsider",
          // Parsed above by its schema, which holds JSON alone.
          payload: { ...delivery } as Record<string, JsonValue>,
          created_at: tx.at,
        }),
      );
      return "claimed";
    });
    if (answer === "claimed") await this.#soon();
    return answer;
  }
  async githubIgnored(scope: string, why: string): Promise<void> {
    this.#scope.belongs(scope);
    this.#scope.commit((tx) => tx.stores.github.count("ignored", why));
  }

  async githubLinked(scope: string, repositories: readonly GithubRepository[]): Promise<void> {
    this.#scope.belongs(scope);
    const parsed = repositories.map((one) => githubRepository.parse(one));
    const { github } = this.#places();
    this.#scope.commit((tx) => {
      for (const repository of parsed) linkRepository(tx, repository, github);
    });
    await this.#after();
  }
  async githubUnlinked(scope: string, ids: readonly number[], why: "removed" | "suspended"): Promise<void> {
    this.#scope.belongs(scope);
    this.#scope.commit((tx) => {
      for (const id of ids) unlinkRepository(tx, id, why);
    });
    await this.#after();
  }
  async githubLink(scope: string, repository_id: number): Promise<GithubLink | null> {
    this.#scope.belongs(scope);
    const row = this.#scope.stores.github.link(repository_id);
    return row === null ? null : linkOf(row);
  }
  async githubLinks(scope: string): Promise<readonly GithubLink[]> {
    this.#scope.belongs(scope);
    return this.#scope.stores.github.links().map(linkOf);
  }
  async githubTriggers(scope: string, repository_id: number, given: Triggers, by: string): Promise<GithubLink | null> {
    this.#scope.belongs(scope);
    const triggers = triggersShape.parse(given);
    return this.#scope.commit((tx) => {
      const row = tx.stores.github.link(repository_id);
      if (row === null) return null;
      const details = { repository: row.repository.full_name, by, triggers };
      tx.audit("transition", { trace_id: "scope" }, { actor: "user", decision: "github_triggers", details });
      return linkOf(tx.stores.github.putLink({ ...row, triggers }));
    });
  }
  /** For git's credentials: a suspended link lends none. */
  async githubRepository(scope: string, url: string): Promise<GithubRepository | null> {
    this.#scope.belongs(scope);
    const row = this.#scope.stores.github.linkAt(url);
    return row?.state === "linked" ? row.repository : null;
  }
  async githubCounts(scope: string): Promise<readonly { event: string; why: string; n: number }[]> {
    this.#scope.belongs(scope);
    return this.#scope.stores.github.counts();
  }

  async githubStanding(scope: string, task_id: string): Promise<GithubStanding | null> {
    this.#scope.belongs(scope);
    const { approvals } = this.#scope.policies.inForce().policy;
    const { stores } = this.#scope;
    const standing = standingOf(stores, task_id, { scope_id: scope, approvals, page: this.#places().page });
    const row = stores.github.thread(task_id);
    // The look that asked ends with this answer, and nobody tells its end.
    if (standing === null && row?.sync != null) this.#scope.commit((tx) => leave(tx, row));
    const offered = standing === null || row === null ? null : offering(row, standing);
    if (offered !== null) this.#scope.commit((tx) => tx.stores.github.putThread(offered));
    return standing;
  }

  // --- time

  /** Looks that are due, and claims so old that nobody delivers them again. */
  settle(now: number): void {
    this.#scope.commit((tx) => {
      tx.stores.github.forget(now);
      lookAgain(tx);
    });
  }
  nextDueAt(): number | null {
    return this.#scope.stores.github.nextDueAt();
  }
}

function linkOf({ repository, url, state, triggers }: LinkRow): GithubLink {
  return { repository, url, state, triggers };
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A message holds a mebibyte; of more text than that the beginnings are kept, and said to be cut. */
function fitted(delivery: GithubEvent): GithubEvent {
  const { happening } = delivery;
  if (happening.kind !== "wish") return delivery;
  let fits = delivery;
  for (const most of limits.github_event_cuts) {
    if (byteLength(canonicalJson(fits)) <= limits.github_event_bytes) break;
    fits = { ...delivery, happening: cut(happening, most) };
  }
  return fits;
}
function cut(happening: Extract<Happening, { kind: "wish" }>, most: number): Happening {
  const texts = happening.texts.map((said) =>
    said.text.length <= most ? said : { ...said, text: said.text.slice(0, most).toWellFormed(), cut: true },
  );
  return { ...happening, texts };
}
