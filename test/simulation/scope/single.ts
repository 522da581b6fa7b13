/**
 * One scope, one task, one person who approves whatever is asked: the plain road, on which a single fault can be put
 * at each place in turn. Returns how the task ended.
 */
import type { TaskView } from "../../../src/domain/view.ts";
import { as } from "../platform/actors.ts";
import { type Platform, simulate } from "../platform/platform.ts";
import { unrest } from "./ends.ts";
import { type Ledger, Violation, watchScopes } from "./ledger.ts";
import { installPrograms } from "./programs.ts";
import { askTask, makeScope, type Scope } from "./users.ts";

export interface Road {
  readonly platform: Platform;
  readonly ledger: Ledger;
  readonly scope: Scope;
}
/** Two items, the second after the first, whose second call needs a person. */
export const roadPlan = [
  "---\ntitle: A plan\ngoal: A goal\nitems:",
  "  - { id: a, runner: steps, verify: [{ run: [test, -f, made/a] }], allow: { tools: [shell_execute], paths: ['made/**'] } }",
  "  - { id: b, runner: steps, verify: none, depends_on: [a], allow: { paths: ['made/**'] } }\n---",
  "## a\n```sh\necho a >> made/a; sleep 3\n```",
  "## b\n```sh\necho b >> made/b\n```\n",
].join("\n");

const restWithinMs = 3_600_000;

/** Walks the road with whatever faults `arrange` sets up once the scope is made. Throws a Violation when a law is broken or it does not end. */
export function walk(
  seed: string | number,
  arrange: (road: Road) => void,
  plan: string = roadPlan,
): Promise<{ view: TaskView; road: Road }> {
  return simulate(seed, (platform) => walkIn(platform, arrange, plan));
}
/** The same in a simulation that goes on afterwards. */
export async function walkIn(
  platform: Platform,
  arrange: (road: Road) => void = () => {},
  plan: string = roadPlan,
): Promise<{ view: TaskView; road: Road }> {
  const ledger = watchScopes(platform);
  installPrograms(platform);
  const scope = await makeScope(platform, "a");
  const road: Road = { platform, ledger, scope };
  arrange(road);
  let id: string | null = null;
  const person = { name: "ada", alive: true };
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  void as(person, async () => {
    while (id === null) {
      const made = await askTask(scope, { plan, key: "one" }).catch(() => null);
      if (made?.ok === true) id = made.value.body.id;
      else await sleep(500);
    }
    for (;;) {
      await sleep(1_000);
      const query = { status: "pending", limit: 20, cursor: null };
      const cards = await scope.runtime.approvals(scope.admin, query).catch(() => null);
      for (const { id, content_hash } of cards?.ok === true ? cards.value.items : [])
        await scope.runtime
          .decide(scope.admin, id, { decision: "approve", content_hash, comment: null })
          .catch(() => null);
    }
  });
  const over = () => {
    const row = platform.object(`${scope.id}/runtime`).disk.all("SELECT status FROM tasks")[0];
    return row !== undefined && ["done", "failed", "denied", "cancelled"].includes(String(row.status));
  };
  await platform.until(over, restWithinMs);
  for (const until = platform.timeline.now + restWithinMs; ; ) {
    await platform.pass(5_000);
    const left = await unrest(platform, scope.id);
    if (left.length === 0) break;
    if (platform.timeline.now > until) throw new Violation(`no rest: ${left.join("; ")}`);
  }
  const view = await platform.done(scope.runtime.task(scope.admin, id ?? ""));
  if (!view.ok) throw new Violation(view.refusal.detail);
  return { view: view.value, road };
}
