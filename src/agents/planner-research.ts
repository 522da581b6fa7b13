/**
 * The planner's questions as they leave and as their answers come: each step hears first what was answered in time, then
 * what time has ended. [PLR-*] [RSC-*]
 */
import type { z } from "zod";
import { asData } from "../domain/context.ts";
import { joinTaint } from "../domain/message.ts";
import { openQuestions, type Question, stepResearch } from "../domain/research.ts";
import { limits } from "../limits.ts";
import type { ToolMove } from "./mind.ts";
import { refusedCall, told } from "./own-tools.ts";
import { type Hand, type PlanMind, type PlannerOrder, type ResearchNote, researchNote } from "./planner-state.ts";
import { asking } from "./planner-tools.ts";
import type { Outgoing, RunContext } from "./step.ts";

/** What came since the last step: answers first, so that one in time counts, then what time has ended. */
export function hear(stored: PlanMind, context: RunContext, now: number): PlanMind {
  let { research } = stored;
  const untold = [...stored.untold];
  const fresh = context.notes.filter(({ key }) => !stored.heard.includes(key));
  for (const { body } of fresh) {
    const note = researchNote.parse(body);
    const taken = stepResearch(research, { kind: "result", id: note.research_id, now: note.at });
    research = taken.state;
    if (taken.said.kind === "taken") untold.push(answerWords(taken.said.question, note));
  }
  const plan_ends_at = context.opened_at_ms + limits.plan_timeout_ms;
  const before = research.at;
  const ticked = stepResearch(research, { kind: "tick", now, plan_ends_at });
  research = ticked.state;
  if (ticked.said.kind === "moved")
    for (const question of ticked.said.timed_out)
      untold.push(`No answer came in time to: ${question.task}\nGo on without it, or ask in another way.`);
  let { ends_by } = stored;
  if (research.at === "expired" && before !== "expired") untold.push(lastWords("The time for this plan is over."));
  if (research.at === "expired") ends_by ??= stored.loop.steps + limits.planner_last_steps;
  return { ...stored, research, untold, ends_by, heard: [...stored.heard, ...fresh.map(({ key }) => key)] };
}
function answerWords(question: Question, note: ResearchNote): string {
  const about = { taint: joinTaint("member", note.taint), source: `research ${question.id}` };
  const head = note.failed ? "The research failed" : "The answer";
  return `${head} to the question: ${question.task}\n${asData(note.text, about)}`;
}
function lastWords(why: string): string {
  return `${why} Ask nothing more: hand in the best plan you can with submit_plan, or end with give_up.`;
}

export function request(order: PlannerOrder, hand: Hand, value: unknown, run_id: string, now: number): ToolMove {
  const asked = asking.parse(value);
  const { state: research, said } = stepResearch(hand.state.research, { kind: "request", asking: asked, run_id, now });
  hand.state = { ...hand.state, research };
  switch (said.kind) {
    case "dispatched": {
      hand.send.push(requestMessage(order, hand.state.base_commit, asked, said.question, run_id));
      return told(`Dispatched as ${said.question.id}. The answer comes later.`);
    }
    case "same":
      return told(
        said.question.state === "open"
          ? `The same question is under way as ${said.question.id}.`
          : `The same question was answered already, as ${said.question.id}.`,
      );
    case "too_many":
      return refusedCall(`${limits.research_in_flight} questions are under way. Wait for one with await_research.`);
    default: {
      const none = `All ${limits.research_rounds} questions of this plan are used up.`;
      if (openQuestions(research).length > 0) return refusedCall(`${none} Wait for those under way, then finish.`);
      hand.state = { ...hand.state, ends_by: hand.state.ends_by ?? hand.state.loop.steps + limits.planner_last_steps };
      return refusedCall(lastWords(none));
    }
  }
}
function requestMessage(
  order: PlannerOrder,
  commit: string,
  { task, return_format, max_tokens }: z.infer<typeof asking>,
  question: Question,
  plan_run_id: string,
): Outgoing & { readonly key: string } {
  const { id: research_id, due_at } = question;
  const tools_allowed = ["web_search", "file_read", "search_files", "list_directory", "memory_search"];
  return {
    key: research_id,
    message_kind: "research_request",
    recipient: "executor_queue",
    content: task,
    constraints: { return_format, max_tokens, tools_allowed },
    payload: { research_id, plan_run_id, repo: order.repo, commit, answer_by: new Date(due_at).toISOString() },
    urgency: "background",
  };
}
