/** Standing approvals as the service would show them, and what a tame service makes of a change. */
import type { StandingView } from "../../src/domain/standing-shape.ts";
import { standingOf } from "../fakes/standing-door.ts";

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

export function standingExamples(): StandingView[] {
  const ended = { by: "grace", at: ago(60), reason: "It let too much pass" };
  const used = [{ approval_id: "card-9", task_id: "task-2", at: ago(30) }];
  return [
    standingOf("s-chores", { name: "Small chores", made_at: ago(300), used }),
    standingOf("s-docs", { name: "Documents\u202e only", status: "revoked", made_at: ago(900), uses_left: 3, ended }),
  ];
}

/** Without an id one is made, and stands first; with one it is revoked. */
export function changedStanding(
  all: readonly StandingView[],
  id: string,
  body: Readonly<Record<string, unknown>>,
): StandingView[] {
  if (id === "") return [standingOf(`s-new-${all.length}`, { name: String(body.name), made_by: "ada" }), ...all];
  const ended = { by: "ada", at: new Date().toISOString(), reason: String(body.reason) };
  return all.map((each) => (each.id === id ? { ...each, status: "revoked", ended } : each));
}
