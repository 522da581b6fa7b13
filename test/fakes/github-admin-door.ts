/** The App's own doors made tame: installations, and the repositories that scopes have. Two scopes have one each. */
import type { RepositoryOf } from "../../src/domain/github/installations.ts";
import type { GithubRepository } from "../../src/domain/github/shapes.ts";
import { defaultTriggers, type Triggers } from "../../src/domain/github/triggers.ts";
import type { GithubLinkView, InstallationView } from "../../src/domain/github/views.ts";
import type { GithubAdminPorts } from "../../src/http/ports.ts";

export function linkOf(full_name: string, id: number): GithubLinkView {
  const repository: GithubRepository = { id, installation_id: 1, full_name, private: false, default_branch: "main" };
  return { repository, url: `https://github.com/${full_name}`, state: "linked", triggers: defaultTriggers };
}
export function installationOf(id: number, ...names: readonly string[]): InstallationView {
  const repositories = names.map((full_name, at) => ({
    ...{ id: id * 100 + at, full_name, private: false, own_scope_id: null, scope_id: null },
  }));
  return { id, account: "acme", state: "active", scope_id: null, repositories };
}

export class FakeGithubAdmin implements GithubAdminPorts {
  app: GithubAdminPorts["app"] = { slug: "countersign", url: "https://github.com", default_scope_id: null };
  lacks: GithubAdminPorts["lacks"] = [];
  readonly standing = new Set<string>(["abcdefghij012345", "zyxwvutsrq543210"]);
  readonly rows = new Map<number, InstallationView>();
  readonly linked = new Map<string, GithubLinkView[]>([
    ["abcdefghij012345", [linkOf("acme/home", 1)]],
    ["zyxwvutsrq543210", [linkOf("acme/elsewhere", 2)]],
  ]);
  readonly triggersSet: { scope_id: string; id: number; by: string }[] = [];
  undelivered: string[] = [];
  ignored: { why: string; n: number }[] = [];

  async scopeStands(scope_id: string) {
    return this.standing.has(scope_id);
  }
  async installations() {
    return [...this.rows.values()];
  }
  async assign(id: number, scope_id: string | null) {
    return this.#put(this.rows.get(id), (one) => ({ ...one, scope_id }));
  }
  async assignRepository({ installation_id, repository_id }: RepositoryOf, own_scope_id: string | null) {
    const is = ({ id }: { readonly id: number }) => id === repository_id;
    const found = this.rows.get(installation_id);
    return this.#put(found?.repositories.some(is) ? found : undefined, (one) => ({
      ...one,
      repositories: one.repositories.map((each) => (is(each) ? { ...each, own_scope_id } : each)),
    }));
  }
  async troubles() {
    return this.undelivered;
  }
  async counts() {
    return this.ignored;
  }
  async links(scope_id: string) {
    return this.linked.get(scope_id) ?? [];
  }
  async setTriggers(scope_id: string, id: number, triggers: Triggers, by: string) {
    const own = this.linked.get(scope_id) ?? [];
    const found = own.find(({ repository }) => repository.id === id);
    if (found === undefined) return null;
    this.triggersSet.push({ scope_id, id, by });
    const next = { ...found, triggers };
    this.linked.set(
      scope_id,
      own.map((one) => (one === found ? next : one)),
    );
    return next;
  }
  #put(found: InstallationView | undefined, change: (one: InstallationView) => InstallationView) {
    if (found === undefined) return null;
    const next = change(found);
    this.rows.set(next.id, next);
    return next;
  }
}
