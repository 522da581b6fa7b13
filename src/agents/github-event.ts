/**
 * What happened on GitHub, on its way to the runtime: GitHub is asked what everybody may do there who counts, one call a
 * step, and which branch a pull request without one has. Nothing is decided here, and nothing is lost. [GHO-*]
 */
import { z } from "zod";
import { branchOfOurs } from "../domain/github/branches.ts";
import {
  type GithubEvent,
  githubEvent,
  githubThread,
  type Happening,
  mayWrite,
  permission,
} from "../domain/github/shapes.ts";
import { limits } from "../limits.ts";
import { GithubFailure } from "./github-port.ts";
import { waitAfter } from "./github-wait.ts";
import type { Ports, Role, RunContext, Step } from "./step.ts";

const state = z.strictObject({
  kind: z.literal("github_event"),
  people: z.record(z.string(), permission),
  /** Of the thread's pull request, once it was asked for; null when it has none that counts. */
  head: githubThread.shape.head,
  head_asked: z.boolean(),
  failures: z.number().int(),
  waited_ms: z.number(),
});
type State = z.infer<typeof state>;

export const githubEvents: Role<State> = {
  open: () => ({
    ...{ kind: "github_event", people: {}, head: null, head_asked: false, failures: 0, waited_ms: 0 },
  }),
  parse: (stored) => state.parse(stored),
  async step(current, context, ports) {
    const event = githubEvent.parse(context.message.payload);
    if (isComplete(current, event)) return end(current, event);
    try {
      const next = { ...(await ask(current, event, ports)), failures: 0 };
      return isComplete(next, event) ? end(next, event) : { kind: "continue", state: next };
    } catch (error) {
      return afterFailure(error, current, event, context);
    }
  },
};

/** Logins, each once, in the order they are named; the first few. A change of words counts whoever made it. */
function peopleOf(happening: Happening): string[] {
  if (happening.kind === "changed") return [];
  const texts = happening.kind === "wish" ? happening.texts.map(({ by }) => by) : [];
  const all = [...(happening.by === null ? [] : [happening.by]), ...texts];
  return [...new Set(all.map(({ login }) => login))].slice(0, limits.github_people);
}
function unasked({ people }: State, { happening }: GithubEvent): string | undefined {
  return peopleOf(happening).find((login) => !Object.hasOwn(people, login));
}
function wantsHead({ head_asked }: State, { happening }: GithubEvent): boolean {
  return !head_asked && happening.kind === "wish" && happening.thread.kind === "pull" && happening.thread.head === null;
}
function isComplete(current: State, event: GithubEvent): boolean {
  return mayNot(current, event) || (unasked(current, event) === undefined && !wantsHead(current, event));
}

/** Whoever may do nothing there costs one call: nothing of it counts, whoever else is in it. Bots were listed by name. */
function mayNot({ people }: State, { happening: { by } }: GithubEvent): boolean {
  if (by === null || by.is_bot || !Object.hasOwn(people, by.login)) return false;
  return !mayWrite(people[by.login] ?? "none");
}

/** One call. Whoever GitHub does not know, or in a repository that is gone, may do nothing. */
async function ask(current: State, event: GithubEvent, { github }: Ports): Promise<State> {
  const login = unasked(current, event);
  if (login !== undefined) {
    const held = await orNull(github.permission(event.repository, login));
    return { ...current, people: { ...current.people, [login]: held ?? "none" } };
  }
  const number = event.happening.thread?.number;
  const found = number === undefined ? null : await orNull(github.pull(event.repository, number));
  const own = found?.same_repository === true ? { branch: found.head_branch, sha: found.head_sha } : null;
  // A head that cannot be written down is none.
  const head = githubThread.shape.head.safeParse(own);
  return { ...current, head: head.success ? head.data : null, head_asked: true };
}
async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof GithubFailure && error.code === "not_found") return null;
    throw error;
  });
}

/** A repository that is not ours to read any more has nobody who may; what else ends in a throw becomes a dead letter. */
function afterFailure(error: unknown, current: State, event: GithubEvent, { opened_at_ms }: RunContext): Step<State> {
  if (!(error instanceof GithubFailure)) throw error;
  if (error.code === "suspended") {
    const people = Object.fromEntries(peopleOf(event.happening).map((login) => [login, "none" as const]));
    return end({ ...current, people }, event);
  }
  const waiting = waitAfter(error, current, limits.github_event_wait_ms);
  if (waiting === null) {
    const since = new Date(opened_at_ms).toISOString();
    throw new GithubFailure(
      error.code,
      `GitHub could not be asked who may do this in ${event.repository.full_name} (since ${since}): ${error.message} When that is mended, requeue this message.`,
    );
  }
  const { wait_ms, ...patience } = waiting;
  return { kind: "wait", wait_ms, for_notes: true, state: { ...current, ...patience } };
}

function end(current: State, event: GithubEvent): Step<State> {
  const { delivery_id, repository, happening } = event;
  const people = Object.fromEntries(peopleOf(happening).map((login) => [login, current.people[login] ?? "none"]));
  const payload = { delivery_id, repository, happening: withHead(happening, current.head), people };
  const content = `What happened in ${repository.full_name}, and what its people may do there.`;
  return {
    kind: "end",
    state: current,
    out: [{ message_kind: "github_request", recipient: "runtime_queue", content, payload }],
  };
}
function withHead(happening: Happening, head: State["head"]): Happening {
  if (head === null || happening.kind !== "wish") return happening;
  const thread = { ...happening.thread, head };
  return { ...happening, thread, follows: branchOfOurs(thread) };
}
