/** A scope whose items do not get on: what their agents, the verifier and the planner say, as the runtime hears it. */
import { vi } from "vitest";
import type { MessageInput } from "../../src/domain/message.ts";
import { consultation, replanning } from "../../src/domain/payloads.ts";
import { type ExecutionResult, verificationOrder } from "../../src/domain/result.ts";
import { limits } from "../../src/limits.ts";
import { missing } from "./held-scope.ts";
import { nodeSql } from "./node-sql.ts";
import { openRuntime } from "./scope-runtime.ts";

export type Run = ReturnType<typeof openRuntime>;
export type Held = Awaited<ReturnType<Run["begun"]>>;
export const item = (id: string, more = "max_attempts: 1") =>
  `{ id: ${id}, runner: steps, verify: none, ${more}, allow: { tools: [shell_execute], paths: ['src/${id}/**'] } }`;
export function planOf(title: string, ...items: string[]): string {
  const listed = items.length === 0 ? [item("a")] : items;
  const sections = listed.map((text) => `## ${/id: (\w+)/.exec(text)?.[1]}\n\`\`\`sh\necho it\n\`\`\`\n`).join("\n");
  return `---\ntitle: ${title}\ngoal: A goal\nitems:\n${listed.map((text) => `  - ${text}\n`).join("")}---\n${sections}`;
}
export const open = (sql = nodeSql()) => openRuntime(sql, () => true);

export async function fails(run: Run, id: string, how: Partial<ExecutionResult> = {}, held?: Held): Promise<void> {
  await run.deliver(run.result(id, held ?? (await run.begun()), { failed: true, content: "it broke", ...how }));
}
/** From its result to its merge. */
export async function merges(
  run: Run,
  id: string,
  held: Held,
  commit: string,
  path = "src/b/x.txt",
  insights: NonNullable<ExecutionResult["insights"]> = [],
): Promise<void> {
  const { attempt_id } = held.ref;
  const file = { path, change: "modified", old_mode: "100644", mode: "100644" } as const;
  const patch = { key: `${attempt_id}.patch`, bytes: 1, tree: "7".repeat(40), files: [file] };
  await run.deliver(run.result(id, held, { patch, insights }));
  const order = run
    .sent("verification_request")
    .map(({ payload }) => verificationOrder.parse(payload))
    .findLast((each) => each.stage === "verify" && each.attempt_id === attempt_id);
  if (order?.stage !== "verify") throw new Error("nothing was sent to the verifier");
  const { verification_id, parent } = order;
  const made = { commit, bundle_key: `${attempt_id}.bundle`, conflicts: [], checks: [], detail: "good" };
  const payload = { stage: "verify", verification_id, attempt_id, verdict: "pass", parent, ...made };
  await run.deliver(
    run.messageOf(id, { message_kind: "verification_result", sender: "verifier", recipient: "runtime_queue", payload }),
  );
}
export const consultOf = (run: Run, at = -1) =>
  consultation.parse((run.sent("consult_planner").at(at) ?? missing("consult")).payload);
export const replanOf = (run: Run, at = -1) => {
  const message = run.sent("replan_request").at(at) ?? missing("re-plan");
  return { message, asked: replanning.parse(message.payload) };
};
export function guidance(run: Run, id: string, consult_id: string, content: string, more: Partial<MessageInput> = {}) {
  return run.deliver(
    run.messageOf(id, {
      ...{ message_kind: "planner_guidance", sender: "planner", recipient: "runtime_queue", content },
      payload: { consult_id },
      ...more,
    }),
  );
}
export const noPlan = {
  error_code: "verification_failed",
  retryable: false,
  origin_agent: "planner",
  attempt_number: 1,
} as const;
export const answers = (run: Run, id: string, plan: string | null, content = "a plan") =>
  run.observe(
    plan === null
      ? run.planResult(id, "", { ...noPlan, plan_markdown: null, payload: {}, content })
      : run.planResult(id, plan, { content }),
  );
export const rungs = (run: Run, id: string) =>
  run.rows.rungs.ofTask(id).map(({ from, to, state }) => `${from} > ${to}: ${state}`);
export const effects = (run: Run) => run.audit("effect").map(({ decision }) => decision);

/** A task whose only item has used its one attempt. */
export async function consulting(run = open()) {
  const id = await run.going(planOf("First"));
  await fails(run, id);
  return { run, id, consult_id: consultOf(run).consult_id };
}
/** The planner was asked for another plan. */
export async function stuckTwice(run = open()) {
  const at = await consulting(run);
  vi.setSystemTime(Date.now() + limits.consult_timeout_ms);
  at.run.expire();
  return at;
}
