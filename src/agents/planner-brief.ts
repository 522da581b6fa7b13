/**
 * What a planner is told at first: the wish and what it follows, the plan that is to be changed or replaced, what the
 * scope remembers. Gathered once; whatever was said by others stands in it as data. [PLR-*]
 */
import { givenIn, givenWords, spentWords } from "../domain/asked-budget.ts";
import { assemble, type Piece } from "../domain/context.ts";
import type { Message, Taint } from "../domain/message.ts";
import { consultation, replanning } from "../domain/payloads.ts";
import { limits } from "../limits.ts";
import { memoryPieces } from "./memory-pieces.ts";
import type { PlannerPhase } from "./planner-tools.ts";
import type { Ports } from "./step.ts";

export interface Brief {
  readonly text: string;
  /** What there was no room for, as a line of the run's log. */
  readonly log: string;
}
/** A piece that is of no use in part. */
const whole = 100_000;

export async function planBrief(
  phase: PlannerPhase,
  message: Message,
  about: { readonly agent: string; readonly base_commit: string },
  ports: Ports,
): Promise<Brief> {
  const pieces = piecesOf(phase, message, about.base_commit);
  const query = [message.content, ...pieces.map(({ title }) => title)].join(" ").slice(0, 500);
  const asker = { task_id: message.task_id ?? "", agent: about.agent, unasked: true } as const;
  const found = await ports.minds.recall(asker, query, limits.recalled);
  const { text, tokens, left_out } = assemble([...pieces, ...memoryPieces(found)], limits.planner_context_tokens);
  const missing = left_out.map(({ kind, title, why }) => `${kind} "${title}" (${why})`).join("; ");
  return { text, log: `context: ${tokens} tokens${missing === "" ? "" : `; left out: ${missing}`}\n` };
}

function piecesOf(phase: PlannerPhase, message: Message, base_commit: string): Piece[] {
  const { payload, taint } = message;
  switch (phase) {
    case "plan":
      return [
        item("The wish", message.content, taint, "task"),
        where(payload.repo, payload.ref, base_commit),
        ...given(payload.budget),
      ];
    case "revise": {
      const previous = payload.previous_markdown;
      return [
        item("What the person wants changed", message.content, taint, "decision"),
        where(payload.repo, payload.ref, base_commit),
        ...given(payload.budget),
        ...(typeof previous === "string" ? [item("The plan as it was", previous, taint, "plan", 64)] : []),
      ];
    }
    case "consult": {
      const asked = consultation.parse(payload);
      return [
        item(
          "The work item that is stuck",
          `${asked.title}\nGoal of the plan: ${asked.goal}\nIts briefing:\n${asked.section}`,
          taint,
          "plan",
        ),
        found("What became of its attempts", listed(asked.failures), taint),
        ...(asked.budget_remaining_tokens === null
          ? []
          : [item("Budget", `Tokens left: ${asked.budget_remaining_tokens}`, "owner", "runtime")]),
      ];
    }
    case "replan": {
      const asked = replanning.parse(payload);
      const mode =
        asked.mode === "decompose"
          ? "The work item is too big. Split it into smaller items; keep the approach."
          : "This approach failed and was given up. Propose a different one, not the same again.";
      return [
        item("What is asked", `${mode}\nGoal: ${asked.goal}\nWork item: ${asked.work_item_id}`, taint, "runtime"),
        where(asked.repo, asked.ref, base_commit),
        ...given(asked.budget, asked.spent),
        item("What is done and stays", listed(asked.done), taint, "plan"),
        found("What failed", listed(asked.failures), taint),
        item("The plan to replace", message.plan_markdown ?? "", taint, "plan", 64),
      ];
    }
  }
}
function item(title: string, text: string, taint: Taint, source: string, least_tokens = whole): Piece {
  return { kind: "item", title, text, taint, source, least_tokens: Math.min(least_tokens, Math.ceil(text.length / 4)) };
}
/** Tests and commands print it: it is looked at, whoever the task is by. */
function found(title: string, text: string, taint: Taint): Piece {
  return { ...item(title, text, taint, "attempts"), data: true };
}
/** Nothing where none was stated: the plan's budget is the planner's to propose. */
function given(stated: unknown, spent: Readonly<Record<string, number>> = {}): Piece[] {
  const budget = givenIn(stated);
  const words = givenWords(budget);
  if (words === null) return [];
  const { tokens = 0, usd = 0 } = spent;
  const gone = spentWords(budget, { tokens, usd }, false);
  const rest = gone ?? "What planning takes is paid from it too, so leave room for that.";
  const text = `Whoever asked gave this task ${words}. The plan's budget stays within that; usd: 0 would be no limit in dollars. ${rest}`;
  return [item("Budget", text, "owner", "runtime")];
}
function where(repo: unknown, ref: unknown, commit: string): Piece {
  const text = `Repository: ${String(repo)}\nReference: ${String(ref)}\nCommit: ${commit}`;
  return item("Where", text, "owner", "runtime");
}
function listed(lines: readonly string[]): string {
  return lines.length === 0 ? "Nothing." : lines.map((line) => `- ${line}`).join("\n");
}
