/** How a message stands in its queue, by kind: what is handed out first, how often before it dies, and what it leaves behind. [MSG-11] */
import { limits } from "../limits.ts";
import type { MessageKind } from "./message.ts";

export interface Delivery {
  /** Higher first; equal ones in the order they came. */
  readonly priority: number;
  readonly max_deliveries: number;
}
const usual: Delivery = { priority: 0, max_deliveries: limits.max_deliveries };

/** In `executor_queue` what a person approved comes before research, and research before the rest. */
export const delivery: Record<MessageKind, Delivery> = {
  user_message: usual,
  plan_request: usual,
  plan_result: usual,
  research_request: { ...usual, priority: 10 },
  research_result: usual,
  execution_status: usual,
  consult_planner: usual,
  planner_guidance: usual,
  replan_request: usual,
  system_event: usual,
  execution_request: { ...usual, priority: 20 },
  execution_result: usual,
  verification_request: usual,
  verification_result: usual,
  agent_message: usual,
  agent_notice: usual,
  plan_review_request: usual,
  plan_review_result: usual,
  shutdown_request: usual,
  shutdown_response: usual,
  github_event: usual,
  github_request: usual,
  github_sync: usual,
  github_shown: usual,
  github_answer: usual,
  webhook_order: usual,
  webhook_result: usual,
};

/**
 * What stands still for good when a message of that kind is dropped: the attempt it is about, a task that has no plan
 * yet, or nothing, because others go on without it. [DL-14]
 */
export const stalls: Record<MessageKind, "attempt" | "planning" | "nothing"> = {
  user_message: "planning",
  plan_request: "planning",
  plan_result: "planning",
  research_request: "planning",
  research_result: "planning",
  execution_status: "nothing",
  consult_planner: "nothing",
  planner_guidance: "nothing",
  replan_request: "planning",
  system_event: "nothing",
  execution_request: "attempt",
  execution_result: "attempt",
  verification_request: "attempt",
  verification_result: "attempt",
  agent_message: "planning",
  agent_notice: "nothing",
  plan_review_request: "nothing",
  plan_review_result: "nothing",
  shutdown_request: "nothing",
  shutdown_response: "nothing",
  github_event: "nothing",
  github_request: "nothing",
  github_sync: "nothing",
  github_shown: "nothing",
  github_answer: "nothing",
  webhook_order: "nothing",
  webhook_result: "nothing",
};
