/** `GithubApp` over the REST API: what the App itself may ask, signed with its key. [GHA-16] [GHA-17] */
import type { Account, GithubApp } from "../agents/github-port.ts";
import type { GithubRepository } from "../domain/github/shapes.ts";
import { limits } from "../limits.ts";
import { Answered } from "./github-failures.ts";
import type { GithubLine } from "./github-line.ts";
import * as shapes from "./github-shapes.ts";
import { type InstallationTokens, nothing } from "./github-tokens.ts";

export class HttpGithubApp implements GithubApp {
  readonly #line: GithubLine;
  readonly #tokens: InstallationTokens;

  constructor(line: GithubLine, tokens: InstallationTokens) {
    this.#line = line;
    this.#tokens = tokens;
  }

  async owner(): Promise<Account | null> {
    return (await this.#line.call("GET /app", {}, shapes.app, this.#tokens.asApp)).data.owner ?? null;
  }

  async installation(id: number): Promise<{ id: number; account: Account | null; suspended: boolean } | null> {
    const route = "GET /app/installations/{installation_id}";
    try {
      const { data } = await this.#line.call(route, { installation_id: id }, shapes.installation, this.#tokens.asApp);
      return { id: data.id, account: data.account ?? null, suspended: typeof data.suspended_at === "string" };
    } catch (error) {
      if (error instanceof Answered && error.code === "not_found") return null;
      throw error;
    }
  }

  async repositories(installation_id: number): Promise<readonly GithubRepository[]> {
    const shape = shapes.repositories(installation_id);
    const all = new Map<number, GithubRepository>();
    const most = limits.github_page * limits.github_repository_pages;
    for (let page = 1; page <= limits.github_repository_pages; page++) {
      const { data, next } = await this.#tokens.with({ installation_id, id: null }, { metadata: "read" }, (token) => {
        const parameters = { per_page: limits.github_page, page };
        const bounds = { most_bytes: limits.github_texts_bytes };
        return this.#line.call("GET /installation/repositories", parameters, shape, { token }, bounds);
      });
      // Said by the first page, so that no other is asked for in vain, each time anew.
      if (data.total_count > most) break;
      // One that was added in the meantime may stand on two pages.
      for (const one of data.repositories) all.set(one.id, one);
      if (next === null) return [...all.values()];
    }
    throw new Answered(
      "invalid",
      `The installation covers more than ${most} repositories: select those to work on.`,
      null,
    );
  }

  async deliveries(cursor: string | null) {
    const { data, next } = await this.#line.call(
      "GET /app/hook/deliveries",
      { per_page: limits.github_page, ...(cursor === null ? {} : { cursor }) },
      shapes.deliveries,
      this.#tokens.asApp,
    );
    return { items: data, next: next?.searchParams.get("cursor") ?? null };
  }

  async redeliver(id: string): Promise<void> {
    const route = "POST /app/hook/deliveries/{delivery_id}/attempts";
    await this.#line.call(route, { delivery_id: id }, nothing, this.#tokens.asApp);
  }
}
