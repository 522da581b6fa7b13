/** What the API tells of GitHub: how the App stands, its installations, and the repositories of a scope. [GHL-40] [GHL-41] */
import { z } from "zod";
import { installationStates } from "./installations.ts";
import { githubRepository } from "./shapes.ts";
import { triggers } from "./triggers.ts";

export const githubOverview = z.strictObject({
  configured: z.boolean(),
  slug: z.string().nullable(),
  /** Where an owner installs the App; null without one. */
  install_url: z.string().nullable(),
  /** The scope that new installations belong to; null when each is assigned. */
  default_scope_id: z.string().nullable(),
  /** What is lacking or cannot be used, and what to do. */
  problems: z.array(z.string()),
  /** What does not work between GitHub and here, and as of when: deliveries that did not come, installations that cannot be read. */
  troubles: z.array(z.string()).default([]),
  /** Events of no scope that were let go by. */
  ignored: z.array(z.strictObject({ why: z.string(), n: z.number().int() })),
});
export type GithubOverview = z.infer<typeof githubOverview>;

export const installationView = z.strictObject({
  id: z.number().int(),
  account: z.string().nullable(),
  state: z.enum(installationStates),
  scope_id: z.string().nullable(),
  repositories: z.array(
    z.strictObject({
      id: z.number().int(),
      full_name: z.string(),
      private: z.boolean(),
      /** Assigned by itself. */
      own_scope_id: z.string().nullable(),
      /** The scope that has it now. */
      scope_id: z.string().nullable(),
    }),
  ),
});
export type InstallationView = z.infer<typeof installationView>;

/** Null: an installation's repositories are nobody's, a repository is where its installation belongs. */
export const assignment = z.strictObject({ scope_id: z.string().min(1).max(64).nullable() });

export const githubLinkView = z.strictObject({
  repository: githubRepository,
  url: z.string(),
  state: z.enum(["linked", "suspended"]),
  triggers,
});
export type GithubLinkView = z.infer<typeof githubLinkView>;
/** The whole of them: what is left out is as it is by default. */
export const triggersInput = z.strictObject({ triggers });

/** Where the owner of an account installs the App: a GitHub of one's own has its Apps at another address. */
export function installUrl(github: string, slug: string): string {
  return `${github}/${github === "https://github.com" ? "apps" : "github-apps"}/${slug}/installations/new`;
}
