/**
 * Makes GitHub show where a task stands: a draft pull request, a check run, a comment. What stands unchanged is not
 * written; each write has its intent on record before and its outcome after; a part that fails keeps no other from
 * standing; and after each wait the runtime is asked anew, so that nothing old is shown. [GHO-*]
 */
import { z } from "zod";
import type { EffectKind } from "../domain/effect.ts";
import { githubSync } from "../domain/github/shapes.ts";
import { type GithubStanding, githubStanding } from "../domain/github/standing.ts";
import { waitingCard } from "../domain/github/status.ts";
import { limits } from "../limits.ts";
import { bracketed, type Left, type UnderWay } from "./effects.ts";
import { type Part, parts, showsCard, stands, wanted } from "./github-parts.ts";
import { GithubFailure, type GithubFailureCode } from "./github-port.ts";
import { waitAfter } from "./github-wait.ts";
import type { Ports, Role, Step } from "./step.ts";

const state = z.strictObject({
  kind: z.literal("github_sync"),
  at: z.enum(["gather", "head", ...parts, "answer"]),
  standing: githubStanding.nullable(),
  stands,
  /** Why a part does not stand, by part. */
  failed: z.partialRecord(z.enum(parts), z.string()),
  /** How often something was gone that was known or just found. */
  gone: z.number().int(),
  failures: z.number().int(),
  waited_ms: z.number(),
});
type State = z.infer<typeof state>;

const nothing: State["stands"] = {
  ...{ comment: null, check: null, pull: null, showed: null },
  wrote: { comment: null, check: null, pull: null, sha: null },
};

export const githubSyncs: Role<State> = {
  open: () => ({
    ...{ kind: "github_sync", at: "gather", standing: null, stands: nothing, failed: {} },
    ...{ gone: 0, failures: 0, waited_ms: 0 },
  }),
  parse: (stored) => state.parse(stored),
  async step(current, context, ports) {
    const { task_id } = githubSync.parse(context.message.payload);
    const { at, standing } = current;
    if (context.cancelled && at !== "answer") return closed(current, gaveUp(current, "called off by the runtime"));
    if (at === "gather") return gather(current, task_id, ports);
    // Every other place is only reached with it.
    if (standing === null) throw new Error(`${task_id}: what it is to show was lost`);
    if (at === "answer") return answer(current, standing);
    try {
      const next =
        at === "head" ? await chooseCommit(current, standing, ports) : await show(at, current, standing, ports);
      return leaving(current, { kind: "continue", state: placed({ ...next, failures: 0 }) }, "done");
    } catch (error) {
      if (!(error instanceof GithubFailure)) throw error;
      return afterFailure(at, current, error);
    }
  },
};

/** What stands is known best by this run itself, once it has begun. */
async function gather(current: State, task_id: string, { shows }: Ports): Promise<Step<State>> {
  const standing = await shows.standing(task_id);
  if (standing === null) return { kind: "end", state: current, out: [] };
  const { comment, check, pull, showed, wrote } = standing.shown ?? nothing;
  const known = current.standing === null ? { comment, check, pull, showed, wrote } : current.stands;
  return leaving(
    current,
    { kind: "continue", state: placed({ ...current, standing, stands: known, failed: {} }) },
    "done",
  );
}

/** The first place where something is left to do. */
function placed(current: State): State {
  const { standing, stands, failed } = current;
  if (standing === null) return { ...current, at: "gather" };
  const sha = stands.check?.sha ?? stands.wrote.sha ?? standing.base_commit;
  const known = { ...current, stands: { ...stands, wrote: { ...stands.wrote, sha } } };
  const due = parts.find(
    (part) => failed[part] === undefined && (isDue(part, known) || (part === "check" && sha === null)),
  );
  return { ...known, at: due === undefined ? "answer" : due === "check" && sha === null ? "head" : due };
}
function isDue(part: Part, { standing, stands }: State): boolean {
  const want = standing === null ? null : wanted[part](standing, stands);
  return want !== null && (stands[part] === null || stands.wrote[part] !== want.hash);
}

/** A check stands on a commit: until the task has its own, on the newest of the branch that it is about. Once chosen it stays. */
async function chooseCommit(
  current: State,
  { repository, follows }: GithubStanding,
  { github }: Ports,
): Promise<State> {
  const head = await github.head(repository, follows);
  if (head === null) return withFailed(current, ["check"], "there is no commit to stand on");
  const { stands } = current;
  return { ...current, stands: { ...stands, wrote: { ...stands.wrote, sha: head.sha } } };
}

async function show(part: Part, current: State, standing: GithubStanding, { github }: Ports): Promise<State> {
  const want = wanted[part](standing, current.stands);
  if (want === null) return current;
  const done = await want.write(github);
  if (done.written) return { ...current, stands: written(part, done.stands, standing, { ...done, hash: want.hash }) };
  const gone = current.gone + (current.stands[part] === null ? 0 : 1);
  const next = { ...current, gone, stands: { ...done.stands, wrote: { ...done.stands.wrote, [part]: null } } };
  return gone > limits.github_gone ? withFailed(next, [part], "GitHub finds it and says that it is gone") : next;
}
/**
 * A card counts as shown where people answer it: in the thread, or on the check where there is none; and only where the
 * check shows it too. Since when, GitHub says.
 */
function written(
  part: Part,
  now: State["stands"],
  standing: GithubStanding,
  { hash, at }: { readonly hash: string; readonly at: string | null },
): State["stands"] {
  const next = { ...now, wrote: { ...now.wrote, [part]: hash } };
  if (part !== (standing.thread === null ? "check" : "comment")) return next;
  const card = waitingCard(standing)?.content_hash ?? null;
  if (card !== null && card === now.showed?.content_hash) return next;
  const shown = card !== null && at !== null && showsCard(standing, next);
  return { ...next, showed: shown ? { content_hash: card, at } : null };
}

/** Codes after which no other call can go better. */
const hopeless: readonly GithubFailureCode[] = ["not_configured", "unauthorized", "suspended"];

function afterFailure(at: Part | "head", current: State, error: GithubFailure): Step<State> {
  const left = error.code === "unavailable" ? "unknown" : "failed";
  const part = at === "head" ? "check" : at;
  // Whatever it left there, the next write is made.
  const { stands } = current;
  const unsure = { ...current, stands: { ...stands, wrote: { ...stands.wrote, [part]: null } } };
  const waiting = waitAfter(error, current, limits.github_sync_wait_ms);
  if (waiting !== null) {
    const { wait_ms, ...patience } = waiting;
    return leaving(
      current,
      { kind: "wait", wait_ms, for_notes: true, state: { ...unsure, ...patience, at: "gather" } },
      left,
    );
  }
  const failed = hopeless.includes(error.code)
    ? gaveUp(unsure, error.message)
    : withFailed(unsure, [part], error.message);
  return leaving(current, { kind: "continue", state: placed(failed) }, left);
}
function withFailed(current: State, which: readonly Part[], why: string): State {
  return { ...current, failed: { ...current.failed, ...Object.fromEntries(which.map((part) => [part, why])) } };
}
function gaveUp(current: State, why: string): State {
  return withFailed(
    current,
    parts.filter((part) => current.failed[part] === undefined && isDue(part, current)),
    why,
  );
}

function answer(current: State, { task_id, version }: GithubStanding): Step<State> {
  const { failed, stands } = current;
  const all = parts.flatMap((part) => (failed[part] === undefined ? [] : [`the ${named[part]}: ${failed[part]}`]));
  const words = all.length === 0 ? null : all.join("; ").slice(0, limits.github_failed_chars);
  const payload = { task_id, version, ...stands, failed: words };
  const content = words === null ? "GitHub shows where the task stands." : `GitHub does not show all of it: ${words}`;
  return {
    kind: "end",
    state: current,
    out: [{ message_kind: "github_shown", recipient: "runtime_queue", content, payload }],
  };
}
const named: Readonly<Record<Part, string>> = { pull: "pull request", check: "check run", comment: "comment" };
const kinds: Readonly<Record<Part, EffectKind>> = {
  pull: "github_pull",
  check: "github_check",
  comment: "github_comment",
};

/** The write that a state stands before, named by the task and by what is to stand. */
function underWay({ at, standing, stands }: State): UnderWay[] {
  const part = parts.find((each) => each === at);
  const want = part === undefined || standing === null ? null : wanted[part](standing, stands);
  if (part === undefined || standing === null || want === null) return [];
  return [{ kind: kinds[part], id: `${standing.task_id}@${want.hash.slice(0, 12)}`, details: want.details }];
}
function leaving(before: State, step: Step<State>, left: Left): Step<State> {
  return bracketed(underWay(before), underWay(step.state), step, left);
}
function closed(before: State, failed: State): Step<State> {
  return leaving(before, { kind: "continue", state: { ...failed, at: "answer" } }, "unknown");
}
