/**
 * One answer in a thread that no task of ours stands in: looked for by its marker right before it is made, so that a
 * step that is done again makes no second one. What GitHub refuses is left unsaid. [GHO-45]
 */
import { z } from "zod";
import { answerBody, answerMarker } from "../domain/github/answers.ts";
import { type GithubAnswer, githubAnswer } from "../domain/github/shapes.ts";
import { limits } from "../limits.ts";
import { bracketed, type UnderWay } from "./effects.ts";
import { type Github, GithubFailure } from "./github-port.ts";
import { waitAfter } from "./github-wait.ts";
import type { Role, Step } from "./step.ts";

const state = z.strictObject({
  kind: z.literal("github_answer"),
  at: z.enum(["begin", "write"]),
  failures: z.number().int(),
  waited_ms: z.number(),
});
type State = z.infer<typeof state>;

export const githubAnswers: Role<State> = {
  open: () => ({ kind: "github_answer", at: "begin", failures: 0, waited_ms: 0 }),
  parse: (stored) => state.parse(stored),
  async step(current, { message, cancelled }, { github }): Promise<Step<State>> {
    const answer = githubAnswer.parse(message.payload);
    const write: UnderWay = {
      kind: "github_comment",
      id: `answer:${answer.delivery_id}`,
      details: { repository: answer.repository.full_name, number: answer.number },
    };
    if (current.at === "begin") {
      if (cancelled) return { kind: "end", state: current, out: [] };
      return bracketed([], [write], { kind: "continue", state: { ...current, at: "write" } }, "done");
    }
    try {
      await say(github, answer);
      return bracketed([write], [], { kind: "end", state: current, out: [] }, "done");
    } catch (error) {
      if (!(error instanceof GithubFailure)) throw error;
      const left = error.code === "unavailable" ? "unknown" : "failed";
      const waiting = waitAfter(error, current, limits.github_sync_wait_ms);
      if (waiting === null) return bracketed([write], [], { kind: "end", state: current, out: [] }, left);
      const { wait_ms, ...patience } = waiting;
      const next: State = { ...current, ...patience, at: "begin" };
      return bracketed([write], [], { kind: "wait", wait_ms, for_notes: true, state: next }, left);
    }
  },
};

async function say(github: Github, { delivery_id, repository, number, words }: GithubAnswer): Promise<void> {
  if ((await github.findComment(repository, number, answerMarker(delivery_id))) !== null) return;
  await github.createComment(repository, number, answerBody(delivery_id, words));
}
