/** GitHub's answers, as far as they are read: loose where GitHub may add, bounded where we keep. [GHA-5] */
import { z } from "zod";
import type { PullFacts } from "../agents/github-port.ts";
import type { GithubRepository, Permission } from "../domain/github/shapes.ts";
import { fullName, permission as permissionName } from "../domain/github/shapes.ts";

const id = z.number().int().positive();
/** Ids that are above 2^53 come as big integers. */
const bigId = z
  .union([z.number().int(), z.bigint()])
  .transform(String)
  .pipe(z.string().regex(/^[0-9]{1,20}$/));
const url = z.string().max(2_048);
const sha = z.string().regex(/^[0-9a-f]{40}$/);

/** `permission` is one of four; `role_name` says more, and may be a name that an organization made up. */
export const held = z
  .object({ permission: z.string(), role_name: z.string().catch("") })
  .transform(({ permission, role_name }): Permission => {
    if (permission === "write" && role_name === "maintain") return "maintain";
    if (permission === "read" && role_name === "triage") return "triage";
    return permissionName.catch("none").parse(permission);
  });

export const repository = z.object({ default_branch: z.string().min(1).max(255) });
export const ref = z.object({ object: z.object({ sha }) });

export const comment = z.object({
  id,
  html_url: url,
  body: z.string().nullish(),
  user: z.object({ login: z.string() }).nullish(),
  performed_via_github_app: z.object({ id }).nullish(),
});
export const comments = z.array(comment);

export const check = z.object({
  id,
  head_sha: sha,
  html_url: url.nullish(),
  external_id: z.string().nullish(),
  app: z.object({ id }).nullish(),
});
export const checks = z.object({ check_runs: z.array(check) });

const branch = z.object({ ref: z.string().max(255), sha, repo: z.object({ id }).nullish() });
export const pull = z
  .object({
    number: id,
    html_url: url,
    state: z.enum(["open", "closed"]),
    draft: z.boolean().catch(false),
    head: branch,
    base: branch,
  })
  .transform(
    ({ number, html_url, state, draft, head, base }): PullFacts => ({
      number,
      url: html_url,
      state,
      draft,
      head_branch: head.ref,
      head_sha: head.sha,
      same_repository: typeof head.repo?.id === "number" && head.repo.id === base.repo?.id,
      base_branch: base.ref,
    }),
  );
export const pulls = z.array(pull);

/** An enterprise has no login. */
const account = z.union([
  z.object({ id, login: z.string() }).transform((one) => ({ id: one.id, name: one.login })),
  z.object({ id, slug: z.string() }).transform((one) => ({ id: one.id, name: one.slug })),
]);
export const app = z.object({ owner: account.nullish() });
export const installation = z.object({
  id,
  account: account.nullish(),
  suspended_at: z.string().nullish(),
});
/** Those of the installation `installation_id`. */
export const repositories = (installation_id: number) =>
  z.object({
    total_count: z.number().int().catch(0),
    repositories: z.array(
      z
        .object({
          id,
          full_name: fullName,
          private: z.boolean(),
          default_branch: z.string().min(1).max(255).catch("main"),
        })
        .transform((one): GithubRepository => ({ ...one, installation_id })),
    ),
  });

export const deliveries = z.array(
  z
    .object({
      id: bigId,
      guid: z.string().max(100),
      delivered_at: z.string().max(40),
      redelivery: z.boolean(),
      status_code: z.number().int().catch(0),
    })
    .transform(({ status_code, ...one }) => ({ ...one, ok: status_code >= 200 && status_code < 300 })),
);
