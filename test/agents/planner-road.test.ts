import { describe, expect, it } from "vitest";
import { crew } from "../../src/agents/crew.ts";
import { planner } from "../../src/agents/planner.ts";
import type { Note, Outgoing, RunContext } from "../../src/agents/step.ts";
import { build, type Message } from "../../src/domain/message.ts";
import { testScope } from "../fakes/messages.ts";
import { only } from "../fakes/orders.ts";
import { calling, goodPlan, planMessage } from "../fakes/planning.ts";
import { thinker } from "../fakes/thinking.ts";
import { drive, runContext } from "../fakes/world.ts";

/** What the objects make of a message on its way between two agents. */
function travelling({ key: _, ...out }: Outgoing & { key?: string }, sender: string, number: number): Message {
  const failed = (out.error_code ?? null) !== null;
  return build({
    ...out,
    ...{ message_id: `travelling-${number}`, trace_id: "trace-1-long", scope_id: testScope, sender, taint: "owner" },
    ...{ task_id: "task-1", attempt_number: failed ? 0 : null, origin_agent: failed ? sender : null },
    retryable: failed ? (out.retryable ?? false) : null,
    created_at: "2026-01-01T00:00:00.000Z",
  });
}

describe("a question, its answer and the plan", () => {
  it("[PLR-16] the crew looks the question up at the plan's commit, with tools that only read, and the planner plans with what was found", async () => {
    const w = thinker();
    const offered: string[][] = [];
    w.models.script = ({ role, turns, tools }) => {
      const said = turns.filter(({ kind }) => kind === "said").length;
      const ask = [
        "request_research",
        { task: "What is in README.md?", return_format: "its words", max_tokens: 50 },
      ] as const;
      const planning = [
        calling(ask),
        calling(["await_research", {}]),
        calling(["submit_plan", { plan_markdown: goodPlan }]),
      ];
      const looking = [calling(["file_read", { path: "README.md" }]), calling(["answer", { text: "It says hello." }])];
      if (role === "executor") offered.push(tools.map(({ name }) => name));
      const next = (role === "planner" ? planning : looking)[said];
      if (next === undefined) throw new Error(`${role} asked once more`);
      return next;
    };
    const notes: Note[] = [];
    let sent: (Outgoing & { key: string }) | null = null;
    const role: typeof planner = {
      ...planner,
      step: async (state, context, ports) => {
        const step = await planner.step(state, { ...context, notes: [...notes] } satisfies RunContext, ports);
        for (const one of step.send ?? []) sent = one;
        if (step.kind === "wait" && sent !== null) notes.push(await lookedUp(sent));
        return step;
      },
    };
    async function lookedUp(question: Outgoing & { key: string }): Promise<Note> {
      const asked = travelling(question, "planner", 1);
      const run = runContext(asked, { agent: "research-1", run_id: `${asked.message_id}.3` });
      const found = travelling(only((await drive(crew, run, w.ports)).out), "research-1", 2);
      const heard = await planner.step(
        planner.open(runContext(found)),
        runContext(found, { agent: "planner" }),
        w.ports,
      );
      if (heard.kind !== "end") throw new Error("a result is a run of one step");
      return only(heard.notes ?? []);
    }
    const context = runContext(planMessage(), { agent: "planner", lease: null, opened_at_ms: w.clock.at });
    const { out } = await drive(role, context, w.ports);
    expect(only(out)).toMatchObject({ message_kind: "plan_result", plan_markdown: goodPlan });
    const told = w.models.requests.at(-1)?.turns.flatMap((turn) => (turn.kind === "told" ? [turn.text] : [])) ?? [];
    expect(told.filter((text) => text.includes("It says hello."))).toHaveLength(1);
    expect(offered.length).toBeGreaterThan(0);
    for (const names of offered)
      for (const tool of ["file_write", "file_edit", "shell_execute", "python_execute", "git_commit"])
        expect(names).not.toContain(tool);
  });
});
