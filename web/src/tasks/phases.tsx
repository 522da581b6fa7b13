/** The task's phases as a strip: those it went through, the one it is in, those still to come. */
import type { TaskView } from "../api/queries.ts";
import { duration } from "../ui/time.tsx";
import { phaseWords } from "../ui/words.ts";

type Phase = TaskView["phase"];
type Shown = { readonly phase: Phase; readonly state: "done" | "now" | "failed" | "ahead"; readonly ms: number };

const road: readonly Phase[] = [
  "discovery",
  "context_gathering",
  "spec_creation",
  "planning",
  "coding",
  "qa",
  "fixing",
  "merging",
  "complete",
];

export function Phases({ task }: { readonly task: TaskView }) {
  return (
    <ol className="phases" aria-label="Phases">
      {phasesOf(task).map(({ phase, state, ms }) => (
        <li className={state} key={phase} aria-current={state === "now" ? "step" : undefined}>
          <span className="phase-word">{phaseWords[phase]}</span>
          <span className="phase-note">{state === "done" && ms > 0 ? duration(ms) : stateWords[state]}</span>
        </li>
      ))}
    </ol>
  );
}

const stateWords = { done: "done", now: "now", failed: "failed", ahead: "to come" } as const;

export function phasesOf(task: Pick<TaskView, "phase" | "phases" | "status">): readonly Shown[] {
  const over = task.status !== "active" && task.status !== "waiting";
  const shown = road.map((phase): Shown => {
    const rows = task.phases.filter((row) => row.phase === phase);
    const ms = rows.reduce((sum, row) => sum + (row.duration_ms ?? 0), 0);
    if (phase === "complete" && task.phase === "complete") return { phase, state: "done", ms: 0 };
    if (task.phase === phase && !over) return { phase, state: "now", ms };
    const last = rows.at(-1);
    if (last === undefined) return { phase, state: "ahead", ms };
    // A phase that is open while the task is elsewhere, or over, was left unfinished.
    return {
      phase,
      state: last.outcome === "completed" ? "done" : last.outcome === "failed" || over ? "failed" : "done",
      ms,
    };
  });
  // Nobody fixes what never failed, and a road that ended does not go on.
  return shown.filter(({ phase, state }) => (phase !== "fixing" || state !== "ahead") && !(over && state === "ahead"));
}
