/** Where a task stands, for GitHub to show, read from its rows as they are now. [GHR-80] */
import type { GithubStanding } from "../../src/domain/github/standing.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { isFinal } from "../../src/domain/task.ts";
import { visible } from "../../src/domain/visible.ts";
import { limits } from "../../src/limits.ts";
import { spentOf } from "./accounts.ts";
import { decidedThere, offeredOf, pendingOf } from "./github-decisions.ts";
import type { ThreadRow } from "./github-rows.ts";
import type { ItemRow, PlanRow, ScopeRows, TaskRow } from "./rows.ts";
import type { ScopeStores } from "./tx.ts";

/** Null when GitHub is to show nothing of it (any more). `page` is the deployment's own address. */
export function standingOf(
  stores: Pick<ScopeStores, "rows" | "people" | "github">,
  task_id: string,
  about: { readonly scope_id: string; readonly approvals: Policy["approvals"]; readonly page: string | null },
): GithubStanding | null {
  const { rows, github } = stores;
  const task = rows.tasks.get(task_id);
  const thread = github.thread(task_id);
  const link = thread === null ? null : github.link(thread.repository_id);
  if (task === null || thread === null || link?.state !== "linked") return null;
  const plan = rows.plans.ofTask(task.id).findLast(({ status }) => status !== "superseded") ?? null;
  const items = plan === null ? [] : rows.items.ofTask(task.id).filter((item) => item.plan_id === plan.id);
  const [card = null] = pendingOf(rows, task.id);
  const { tokens, usd, unknown_price } = totals(rows, task.id);
  return {
    ...{ task_id, version: thread.version, repository: link.repository },
    thread: { kind: thread.kind, number: thread.number },
    title: task.title,
    asked_by: task.asked?.by ?? task.created_by,
    asked_id: thread.asked_id,
    ...{ status: task.status, phase: task.phase, reason: task.reason },
    infrastructure: task.status === "failed" && brokeItself(rows, task, items),
    page_url: about.page === null ? null : `${about.page}/tasks/${task.id}`,
    base_commit: task.base_commit ?? plan?.base_commit ?? null,
    ...{ branch: task.branch, published: task.published, follows: task.follows },
    plan: plan === null ? null : { title: plan.title, goal: plan.goal, hash: plan.plan_hash, version: plan.version },
    items: items.map((item) => ({ title: item.spec.title, state: stateOf(rows, item) })),
    card:
      card === null
        ? null
        : {
            ...{ approval_id: card.id, kind: card.kind, title: card.card.title, why: card.card.why },
            ...{ content_hash: card.content_hash, ...decidedThere(about.approvals, stores, card, thread) },
          },
    checks: plan === null ? [] : checksOf(rows, plan, items),
    spent: { tokens, usd: unknown_price ? null : usd },
    audit_head: isFinal(task.status) ? thread.audit_head : null,
    ...{ note: thread.note, base_branch: thread.base_branch, shown: thread.shown },
  };
}

/** Whoever is handed a plan may show it, and may die before it says so. Null where nothing is new. */
export function offering(row: ThreadRow, { card }: Pick<GithubStanding, "card">): ThreadRow | null {
  if (card?.kind !== "plan" || row.offered === null || row.offered.includes(card.content_hash)) return null;
  const offered = [...new Set([...(offeredOf(row) ?? []), card.content_hash])].slice(0, limits.github_offered);
  return offered.length === row.offered.length ? null : { ...row, offered };
}

function totals(rows: ScopeRows, task_id: string) {
  const { input_tokens, output_tokens, usd, unknown_price } = spentOf(rows, task_id);
  return { tokens: input_tokens + output_tokens, usd, unknown_price };
}
function stateOf(rows: ScopeRows, item: ItemRow): GithubStanding["items"][number]["state"] {
  if (item.outcome !== "open") return item.outcome;
  const last = rows.attempts.ofTask(item.task_id).findLast(({ work_item_id }) => work_item_id === item.id);
  return last !== undefined && ["running", "suspended", "executed", "verifying", "merging"].includes(last.state)
    ? "running"
    : "open";
}
/** Nobody's code failed: the deployment could not do its part. */
function brokeItself(rows: ScopeRows, task: TaskRow, items: readonly ItemRow[]): boolean {
  if (task.error_code === "verification_failed" || task.error_code === "gate_blocked") return false;
  // All of it was verified, and it could not be pushed.
  if (items.length > 0 && items.every(({ outcome }) => outcome === "done")) return true;
  const verified = rows.verifications.ofTask(task.id).at(-1);
  return verified?.verdict === "infra_error" || rows.attempts.ofTask(task.id).at(-1)?.state === "crashed";
}

/** Of each item the verification that counted: the one that let it pass, else its last. */
function checksOf(rows: ScopeRows, plan: PlanRow, items: readonly ItemRow[]): GithubStanding["checks"] {
  const attempts = new Map(rows.attempts.ofTask(plan.task_id).map((one) => [one.id, one.work_item_id]));
  const ended = rows.verifications.ofTask(plan.task_id).filter(({ verdict }) => verdict !== null);
  const counted = items.flatMap((item) => {
    const of = ended.filter(({ attempt_id }) => attempts.get(attempt_id) === item.id);
    const one = of.findLast(({ verdict }) => verdict === "pass") ?? of.at(-1);
    return one?.checks ?? [];
  });
  return counted.slice(0, limits.github_checks_shown).map(({ argv, exit_code, output }) => ({
    run: visible(argv.join(" ")).slice(0, limits.github_check_chars).toWellFormed(),
    exit_code,
    output: output.slice(-limits.github_check_chars).toWellFormed(),
  }));
}
