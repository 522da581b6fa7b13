/**
 * The three things that stand on GitHub for a task: how each is to look, and how it is written. A part that is known is
 * edited; one that is not is looked for, and only made when it is not found, in the same breath. [GHO-*]
 */
import { z } from "zod";
import { hashOf, sha256Hex } from "../domain/canonical.ts";
import { checkLook } from "../domain/github/check.ts";
import { commentBody } from "../domain/github/comment.ts";
import { pullText, wantsPull } from "../domain/github/pull.ts";
import { type GithubShown, githubShown } from "../domain/github/shapes.ts";
import type { GithubStanding } from "../domain/github/standing.ts";
import { waitingCard } from "../domain/github/status.ts";
import { marker } from "../domain/github/words.ts";
import { type CheckInput, type Github, GithubFailure, type Written } from "./github-port.ts";
import type { Effect } from "./step.ts";

/** In the order they are written: the later ones name the earlier. */
export const parts = ["pull", "check", "comment"] as const;
export type Part = (typeof parts)[number];

const { comment, check, pull, showed, wrote } = githubShown.shape;
/** What stands, as far as it is known. */
export const stands = z.strictObject({ comment, check, pull, showed, wrote: wrote.unwrap() });
export type Stands = Pick<GithubShown, Part | "showed" | "wrote">;

export interface Wanted {
  readonly hash: string;
  readonly details: Effect["details"];
  /**
   * One write. `written`: it stands as wanted, since `at` by GitHub's clock, if it said when; else it was found, or is
   * gone, and the next step goes on from there.
   */
  write(github: Github): Promise<{ readonly stands: Stands; readonly written: boolean } & Written>;
}

/** Null: nothing of it is to stand, or it is not known yet on which commit. */
export const wanted: Readonly<Record<Part, (standing: GithubStanding, known: Stands) => Wanted | null>> = {
  pull(standing, known) {
    if (!wantsPull(standing)) return null;
    const { repository, branch } = standing;
    const text = pullText(standing);
    return {
      hash: hashOf(text),
      details: { repository: repository.full_name, branch },
      write: async (github) => {
        const make = { head: branch, base: standing.base_branch ?? repository.default_branch, ...text };
        const { ref, ...how } = await write(known.pull, {
          bare: ({ number, url }) => ({ number, url }),
          find: () => github.findPull(repository, branch),
          create: () => github.createPull(repository, make),
          update: ({ number }) => github.updatePull(repository, number, text),
        });
        return { stands: { ...known, pull: ref }, ...how };
      },
    };
  },

  check(standing, known) {
    const sha = known.check?.sha ?? known.wrote.sha;
    if (sha === null) return null;
    const { repository, task_id } = standing;
    const look = checkLook(standing, known.pull?.url ?? null);
    return {
      hash: hashOf({ sha, look }),
      details: { repository: repository.full_name, sha },
      write: async (github) => {
        const { ref, ...how } = await write(known.check, {
          bare: ({ id, url, sha: on }) => ({ id, url, sha: on }),
          find: () => github.findCheck(repository, sha, task_id),
          create: () => github.createCheck(repository, sha, look),
          update: ({ id }) => updateCheck(github, repository, id, look),
        });
        return { stands: { ...known, check: ref }, ...how };
      },
    };
  },

  comment(standing, known) {
    const { repository, task_id, thread } = standing;
    if (thread === null) return null;
    const shows = showsCard(standing, known);
    const links = { check: known.check?.url ?? null, pull: known.pull?.url ?? null, shows };
    const body = commentBody(standing, links);
    return {
      hash: sha256Hex(body),
      details: { repository: repository.full_name, number: thread.number },
      write: async (github) => {
        const { ref, ...how } = await write(known.comment, {
          bare: ({ id, url }) => ({ id, url }),
          find: () => github.findComment(repository, thread.number, marker(task_id)),
          create: () => github.createComment(repository, thread.number, body),
          update: ({ id }) => github.updateComment(repository, id, body),
        });
        return { stands: { ...known, comment: ref }, ...how };
      },
    };
  },
};

/** The check shows what waits: of a plan all that a yes covers, which nobody may approve unseen. */
export function showsCard(standing: GithubStanding, known: Stands): boolean {
  const text = waitingCard(standing)?.text ?? null;
  return text === null || (known.check !== null && known.wrote.check === wanted.check(standing, known)?.hash);
}

interface Ways<Ref extends object> {
  /** What is kept of it: the answers of some calls hold more. */
  bare(ref: Ref): Ref;
  find(): Promise<Ref | null>;
  create(): Promise<Ref & Partial<Written>>;
  update(known: Ref): Promise<(Ref & Partial<Written>) | null>;
}
/** A step that is done again after the object died stands where it stood: so nothing is made without a look right before. */
async function write<Ref extends object>(known: Ref | null, { bare, find, create, update }: Ways<Ref>) {
  const kept = (ref: (Ref & Partial<Written>) | null, written: boolean) => {
    return { ref: ref === null ? null : bare(ref), written, at: ref?.at ?? null };
  };
  if (known !== null) {
    const ref = await update(known);
    return kept(ref, ref !== null);
  }
  const found = await find();
  if (found !== null) return kept(found, false);
  try {
    return kept(await create(), true);
  } catch (error) {
    // Refused for good: perhaps because it was made meanwhile, as of a branch's pull request there can be but one.
    if (!(error instanceof GithubFailure && error.code === "invalid")) throw error;
    const made = await find();
    if (made === null) throw error;
    return kept(made, false);
  }
}

/** Where GitHub does not let a check run that was completed go on, it says that it is not over, without buttons. */
async function updateCheck(github: Github, ...[repo, id, look]: [GithubStanding["repository"], number, CheckInput]) {
  try {
    return await github.updateCheck(repo, id, look);
  } catch (error) {
    const refused = error instanceof GithubFailure && error.code === "invalid" && look.status === "in_progress";
    if (!refused) throw error;
    return github.updateCheck(repo, id, { ...look, status: "completed", conclusion: "action_required", actions: [] });
  }
}
