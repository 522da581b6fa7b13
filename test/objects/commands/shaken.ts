/**
 * Calls to objects that are aborted while the calls are in flight, and one task's whole road made of such calls, each
 * asked by two at once and again until it is answered. What was answered once must stand ever after. [OBJ-5]
 */
import { abortAllDurableObjects } from "cloudflare:test";
import { expect } from "vitest";
import type { AttemptRef } from "../../../src/agents/bus.ts";
import type { Result } from "../../../src/domain/refusal.ts";
import { isFinal } from "../../../src/domain/task.ts";
import type { Random } from "../../simulation/random.ts";
import {
  asked,
  type Driven,
  type Held,
  item,
  oneItem,
  planResult,
  publication,
  result,
  step,
  verdict,
} from "../driven.ts";
import { approve, as, inRuntime, missing, must, onlyCard, type Scope, task, taskRow, until } from "../scope.ts";

/** After so many tries the objects are left in peace: then the call must be answered. */
const shakenTries = 4;
const triesMost = 12;
const exited = { state: "exited", exit_code: 0, signal: null, duration_ms: 1 } as const;
const stages = ["planned", "approved", "claimed", "begun", "settled", "verified", "never"] as const;
type Stage = (typeof stages)[number];

export class Shaken {
  readonly #random: Random;
  aborts = 0;
  calls = 0;
  answers = 0;
  constructor(random: Random) {
    this.#random = random;
  }

  /** Every answer each caller got; each gets at least one. */
  async ask<T>(...callers: readonly (() => Promise<T>)[]): Promise<T[][]> {
    const answers: T[][] = callers.map(() => []);
    let last: unknown = null;
    for (let tries = 0; answers.some((own) => own.length === 0); tries++) {
      if (tries === triesMost) throw new Error("a call was never answered", { cause: last });
      const going = callers.map(async (call, at) => {
        // Who has its answer may ask again, as who lost it would.
        if ((answers[at] ?? []).length > 0 && this.#random.chance(0.5)) return;
        this.calls += 1;
        try {
          answers[at]?.push(await call());
          this.answers += 1;
        } catch (error) {
          last = error;
        }
      });
      if (tries < shakenTries && this.#random.chance(0.5)) await this.#abort();
      await Promise.all(going);
    }
    return answers;
  }
  async #abort(): Promise<void> {
    const wait = this.#random.int(6);
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait - 1));
    this.aborts += 1;
    await abortAllDurableObjects();
  }
}

/** From its creation to its branch, or to wherever it is cancelled. */
export async function shakenRoad(scope: Scope, shaken: Shaken, random: Random, name: string): Promise<void> {
  const cancelAt = random.chance(0.4) ? random.pick(stages) : "never";
  const task_id = await made(scope, shaken, name);
  const driven = await inReview(scope, shaken, task_id);
  const cancelled = async (now: Stage): Promise<boolean> => {
    if (now !== cancelAt) return false;
    await cancel(driven, shaken);
    return true;
  };
  if (await cancelled("planned")) return;
  await decide(driven, shaken);
  if (await cancelled("approved")) return;
  const { held, other } = await claimed(scope, shaken);
  if (await cancelled("claimed")) return;
  await begin(scope, shaken, held, other);
  if (await cancelled("begun")) return;
  await callOnce(scope, shaken, held, other);
  await twice(driven, shaken, await result(driven, held));
  if (await cancelled("settled")) return;
  const open = await until(() =>
    inRuntime(scope, ({ rows }) => rows.verifications.ofTask(task_id).find((row) => row.state === "open")),
  );
  await twice(driven, shaken, await verdict(driven, open));
  await until(async () => (await taskRow(scope, task_id)).publishing !== null);
  if (await cancelled("verified")) return;
  await twice(driven, shaken, await publication(driven));
  const ended = await until(async () => {
    const row = await taskRow(scope, task_id);
    return isFinal(row.status) ? row : null;
  });
  expect(ended.status).toBe("done");
  expect(await item(driven)).toMatchObject({ outcome: "done" });
}

async function made(scope: Scope, shaken: Shaken, key: string): Promise<string> {
  const create = () => asked(scope, { key, title: key });
  const answers = (await shaken.ask(create, create)).flat().map((answer) => must(answer).body.id);
  const [id = missing("task")] = answers;
  expect(new Set(answers)).toEqual(new Set([id]));
  const stored = await inRuntime(scope, ({ rows }) => rows.tasks.all().filter((row) => row.title === key));
  expect(stored.map((row) => row.id)).toEqual([id]);
  return id;
}
async function inReview(scope: Scope, shaken: Shaken, task_id: string): Promise<Driven> {
  const plan = await planResult(scope, task_id, oneItem);
  const observe = () => scope.runtime.observe(plan);
  await shaken.ask(observe, observe);
  return { scope, task_id, card: await onlyCard(scope, task_id) };
}
/** Two people at once: one of them decided it, and who was told so is that one. */
async function decide({ scope, card }: Driven, shaken: Shaken): Promise<void> {
  const bob = as(scope, "bob", "approver");
  const answers = await shaken.ask(
    () => approve(scope, card),
    () => approve(scope, card, { by: bob }),
  );
  const stored = must(await scope.runtime.approval(scope.admin, card.id));
  expect(stored).toMatchObject({ status: "approved", decisions: [{ decision: "approve" }] });
  const told = [scope.admin, bob].filter((_, at) => answers[at]?.some((answer) => answer.ok));
  for (const { subject } of told) expect(stored.decisions.map(({ by }) => by)).toEqual([subject]);
}
async function cancel({ scope, task_id }: Driven, shaken: Shaken): Promise<void> {
  const call = (): Promise<Result<unknown>> => scope.runtime.cancelTask(scope.admin, task_id, "not wanted");
  await shaken.ask(call, call);
  expect(await task(scope, task_id)).toMatchObject({ status: "cancelled" });
}
/** Two agents at once: one has it, and asked again it has the same. */
async function claimed(scope: Scope, shaken: Shaken): Promise<{ held: Held; other: string }> {
  const crew = ["crew-1", "crew-2"] as const;
  const answers = await shaken.ask(...crew.map((agent) => () => scope.runtime.claim(scope.id, agent)));
  const leases = answers.flat().filter((lease) => lease !== null);
  const [lease = missing("lease")] = leases;
  expect(new Set(leases.map(({ lease_id }) => lease_id))).toEqual(new Set([lease.lease_id]));
  const { attempt_id, entry, steps } = orderOf(lease.message.payload);
  const { holder: agent, lease_id, epoch } = lease;
  const ref: AttemptRef = { attempt_id, entry, agent, lease_id, epoch };
  return { held: { lease, steps, ref }, other: agent === "crew-1" ? "crew-2" : "crew-1" };
}
function orderOf(payload: Record<string, unknown>): { attempt_id: string; entry: number; steps: readonly string[] } {
  const { attempt_id, entry, steps } = payload;
  if (typeof attempt_id !== "string" || typeof entry !== "number" || !Array.isArray(steps)) return missing("order");
  return { attempt_id, entry, steps: steps.map(String) };
}
async function begin(scope: Scope, shaken: Shaken, { ref }: Held, other: string): Promise<void> {
  const [own = [], theirs = []] = await shaken.ask(
    () => scope.runtime.begin(scope.id, ref),
    () => scope.runtime.begin(scope.id, { ...ref, agent: other }),
  );
  expect(new Set(own.map(({ answer }) => answer))).toEqual(new Set(["go"]));
  expect(new Set(theirs.map(({ answer }) => answer))).toEqual(new Set(["stale"]));
}
async function callOnce(scope: Scope, shaken: Shaken, held: Held, other: string): Promise<void> {
  const { ref } = held;
  const [own = [], theirs = []] = await shaken.ask(
    () => scope.runtime.authorize(scope.id, ref, step(held, 1)),
    () => scope.runtime.authorize(scope.id, { ...ref, agent: other }, step(held, 1)),
  );
  expect(new Set(own.map(({ answer }) => answer))).toEqual(new Set(["run"]));
  expect(new Set(theirs.map(({ answer }) => answer))).toEqual(new Set(["stale"]));
  const settle = () => scope.runtime.settle(scope.id, ref, "step-1", exited);
  await shaken.ask(settle, settle);
}
async function twice(
  { scope }: Driven,
  shaken: Shaken,
  message: Parameters<Scope["runtime"]["deliver"]>[0],
): Promise<void> {
  const deliver = () => scope.runtime.deliver(message);
  for (const answer of (await shaken.ask(deliver, deliver)).flat()) expect(answer.refused).toBeNull();
}
