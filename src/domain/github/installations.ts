/**
 * Which repository is linked to which scope: what GitHub says stands beside what people assigned, and from both follows
 * what the scopes still have to be told. A repository is one scope's at a time. [GHL-1] to [GHL-5]
 */
import type { GithubRepository } from "./shapes.ts";

/** `removed`: the App was taken off the account, or GitHub knows it no more. */
export const installationStates = ["active", "suspended", "removed"] as const;
export type InstallationState = (typeof installationStates)[number];

/** What GitHub answered about one installation. */
export interface Seen {
  readonly state: InstallationState;
  /** All that it covers; of one that is not active nobody is told, so what was known stays. */
  readonly repositories: readonly GithubRepository[];
}
/** Both as GitHub says them now: numbers are each kind's own, and a name may have been another account's. */
export function isOwners(account: AccountOf | null, owner: AccountOf | null): boolean {
  if (account === null || owner === null) return false;
  return account.id === owner.id && account.name.toLowerCase() === owner.name.toLowerCase();
}
interface AccountOf {
  readonly id: number;
  readonly name: string;
}
/** A repository as one installation covers it: what has its name by now may be another one. */
export interface RepositoryOf {
  readonly installation_id: number;
  readonly repository_id: number;
}
/** One repository as it is kept. */
export interface Kept {
  readonly repository: GithubRepository;
  /** Its installation still covers it. */
  readonly covered: boolean;
  /** Assigned by itself; null where its installation's scope holds. */
  readonly own: string | null;
  /** What some scope was told last, and answered; null when no scope has it. */
  readonly told: Told | null;
}
export interface Told {
  readonly scope_id: string;
  readonly state: "linked" | "suspended";
  readonly repository: GithubRepository;
}

/** The repositories after GitHub was asked. One that went to another installation of ours is that one's. */
export function covered(before: readonly Kept[], installation_id: number, seen: Seen): Kept[] {
  const now = new Map(seen.repositories.map((repository) => [repository.id, repository]));
  const kept = before.map((row): Kept => {
    const found = now.get(row.repository.id);
    now.delete(row.repository.id);
    if (found !== undefined) {
      // Whoever assigned it did so under another account: in new hands it is their installation's.
      const own = found.installation_id === row.repository.installation_id ? row.own : null;
      return { ...row, repository: found, covered: true, own };
    }
    if (row.repository.installation_id !== installation_id) return row;
    return { ...row, covered: seen.state === "suspended" && row.covered };
  });
  return [...kept, ...[...now.values()].map((repository) => ({ repository, covered: true, own: null, told: null }))];
}

/** Whose the repository is to be: its own assignment first, then its installation's. */
export function scopeFor(
  row: Kept,
  installation: { readonly state: InstallationState; readonly scope_id: string | null },
): string | null {
  return row.covered && installation.state !== "removed" ? (row.own ?? installation.scope_id) : null;
}

export type Tell =
  | { readonly what: "linked"; readonly scope_id: string; readonly repository: GithubRepository }
  | { readonly what: "suspended" | "removed"; readonly scope_id: string; readonly repository_id: number };

/**
 * The next thing a scope must be told about the repository, and what is told once it has answered. Whoever had it is told
 * before whoever gets it, so that it is never two scopes' at once. Null when everybody knows.
 */
export function nextTell(
  row: Kept,
  installation: { readonly state: InstallationState; readonly scope_id: string | null },
): { readonly tell: Tell; readonly told: Told | null } | null {
  const { repository, told } = row;
  const wanted = scopeFor(row, installation);
  if (told !== null && told.scope_id !== wanted)
    return { tell: { what: "removed", scope_id: told.scope_id, repository_id: repository.id }, told: null };
  if (wanted === null) return null;
  if (installation.state === "suspended") {
    // A scope that never had it has nothing to stop.
    if (told === null || told.state === "suspended") return null;
    return {
      tell: { what: "suspended", scope_id: wanted, repository_id: repository.id },
      told: { ...told, state: "suspended" },
    };
  }
  if (told?.state === "linked" && same(told.repository, repository)) return null;
  return {
    tell: { what: "linked", scope_id: wanted, repository },
    told: { scope_id: wanted, state: "linked", repository },
  };
}
function same(a: GithubRepository, b: GithubRepository): boolean {
  return (
    a.installation_id === b.installation_id &&
    a.full_name === b.full_name &&
    a.private === b.private &&
    a.default_branch === b.default_branch
  );
}
