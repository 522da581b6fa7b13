/**
 * People: they make scopes and tasks, decide cards, cancel, and stop, empty and open queues, at any time, twice, late,
 * and with a wrong hash. What was not answered they try again. Nobody but them decides anything.
 */
import type { RemoteRuntime } from "../../../durable-objects/remote.ts";
import type { ApprovalView, Decision } from "../../../src/domain/approval-view.ts";
import type { Result } from "../../../src/domain/refusal.ts";
import type { Caller, TaskView } from "../../../src/domain/view.ts";
import type { RuntimeDoor } from "../../../src/http/doors.ts";
import { type Actor, as } from "../platform/actors.ts";
import type { Platform } from "../platform/platform.ts";
import type { Random } from "../random.ts";
import { randomPlan } from "./plans.ts";
import { repo } from "./programs.ts";

export type Runtime = RuntimeDoor & RemoteRuntime;
export interface Scope {
  readonly id: string;
  readonly runtime: Runtime;
  readonly admin: Caller;
}

/** A scope whose name begins with the given letter, made and in the list of scopes. */
export async function makeScope(platform: Platform, letter: string): Promise<Scope> {
  const id = letter.repeat(16);
  // The object implements the door and what objects ask of it; a stub has every method of its object.
  const runtime = platform.env.RUNTIME.getByName(`${id}/runtime`) as unknown as Runtime;
  const admin: Caller = { scope_id: id, subject: "ada", role: "admin", via: "token", credential_id: `${id}-token` };
  await platform.database
    .prepare("INSERT INTO scopes (id, name, created_at) VALUES (?, ?, ?)")
    .bind(id, id, new Date().toISOString())
    .run();
  const made = await platform.done(
    runtime.initScope({ scope_id: id, name: id, token_id: admin.credential_id, token_hash: `hash of ${id}` }),
  );
  if (!made.ok) throw new Error(made.refusal.detail);
  return { id, runtime, admin };
}

export interface TaskAsked {
  readonly plan: string;
  readonly key: string;
}
export function askTask(scope: Scope, { plan, key }: TaskAsked) {
  const input = {
    title: key,
    description: "",
    labels: [],
    repo: { url: repo, ref: "HEAD" },
    plan,
    register_repo: true,
  };
  return scope.runtime.createTask(scope.admin, input, { route: "POST /api/tasks", key, body_hash: key });
}

export interface Crowd {
  /** Ids of the tasks that were answered with success, by their Idempotency-Key. */
  readonly made: ReadonlyMap<string, string>;
  /** Nobody does anything new from now on. */
  leave(): void;
  readonly faults: readonly string[];
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const knownCards = 50;

export function crowd(scope: Scope, random: Random, tasks: number): Crowd {
  const made = new Map<string, string>();
  const faults: string[] = [];
  let gone = false;
  const person = (name: string, live: () => Promise<void>) => {
    const who: Actor = { name: `${name}@${scope.id.slice(0, 1)}`, alive: true };
    void as(who, live).catch((error: unknown) => faults.push(`${who.name}: ${String(error)}`));
  };
  /** Null when there was no answer. */
  const heard = async <T>(asked: Promise<Result<T>>): Promise<Result<T> | null> => asked.catch(() => null);

  for (let number = 0; number < tasks; number++)
    person(`asker-${number}`, async () => {
      const key = `${scope.id.slice(0, 1)}-task-${number}`;
      const plan = randomPlan(random.fork(key));
      await sleep(random.int(600_000));
      for (let tries = 0; tries < 100 && !gone; tries++) {
        const answer = await heard(askTask(scope, { plan, key }));
        if (answer?.ok === false) throw new Error(`${key} was refused: ${answer.refusal.detail}`);
        if (answer?.ok === true) {
          const id = answer.value.body.id;
          if ((made.get(key) ?? id) !== id) throw new Error(`${key} made two tasks: ${made.get(key)} and ${id}`);
          made.set(key, id);
          if (random.chance(0.8)) return;
        }
        await sleep(random.int(100, 20_000));
      }
    });
  person("approver", async () => {
    const seen: ApprovalView[] = [];
    while (!gone) {
      await sleep(random.int(500, 60_000));
      const page = await heard(scope.runtime.approvals(scope.admin, { status: "pending", limit: 20, cursor: null }));
      if (page?.ok !== true) continue;
      seen.push(...page.value.items);
      seen.splice(0, Math.max(0, seen.length - knownCards));
      if (seen.length === 0) continue;
      const cards = page.value.items.length > 0 && random.chance(0.9) ? page.value.items : seen;
      for (const card of cards.filter(() => random.chance(0.7))) {
        const asked = heard(scope.runtime.decide(scope.admin, card.id, decisionOn(card, random)));
        if (random.chance(0.8)) await asked;
        if (random.chance(0.1)) await heard(scope.runtime.decide(scope.admin, card.id, decisionOn(card, random)));
      }
    }
  });
  person("canceller", async () => {
    while (!gone) {
      await sleep(random.int(60_000, 900_000));
      const page = await heard(scope.runtime.tasks(scope.admin, { status: null, limit: 20, cursor: null }));
      if (page?.ok !== true || page.value.items.length === 0 || !random.chance(0.5)) continue;
      const { id } = random.pick(page.value.items);
      await heard<TaskView>(scope.runtime.cancelTask(scope.admin, id, "not wanted any more"));
    }
  });
  person("operator", async () => {
    const names = ["runtime_queue", "executor_queue", "planner", "verifier", "proxy", "crew-1"];
    while (!gone) {
      await sleep(random.int(20_000, 240_000));
      const name = random.pick(names);
      const reason = random.pick(["", "for a while"]);
      const moves = ["pause", "drain", "resume", "resume", "requeue"] as const;
      const move = random.pick(moves);
      if (move === "requeue")
        for (const each of names) await heard(scope.runtime.requeueLetters(scope.admin, each, reason));
      else await heard(scope.runtime.moveQueue(scope.admin, name, { move, reason }));
    }
    for (const name of names)
      for (let tries = 0; tries < 100; tries++) {
        const opened = await heard(scope.runtime.moveQueue(scope.admin, name, { move: "resume", reason: "" }));
        if (opened !== null) break;
        await sleep(1_000);
      }
  });
  return {
    made,
    faults,
    leave: () => {
      gone = true;
    },
  };
}

export function decisionOn(card: ApprovalView, random: Random): Decision {
  const content_hash = random.chance(0.95) ? card.content_hash : "0".repeat(64);
  const drawn = random.next();
  if (card.kind === "plan" && drawn < 0.08) return { decision: "request_changes", content_hash, comment: "shorter" };
  if (drawn < (card.kind === "escalation" ? 0.5 : 0.12))
    return { decision: "deny", content_hash, comment: "no", stop: random.chance(0.3) };
  return { decision: "approve", content_hash, comment: random.chance(0.2) ? "go on" : null };
}
