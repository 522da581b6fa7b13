/** A forbidden step that is no single call: how it goes, and which calls may take effect in it, each once. [WORST-2] */
import {
  askingPlan,
  callerOf,
  grantedPlan,
  type Held,
  type HeldScope,
  missing,
  shell,
} from "../../fakes/held-scope.ts";
import { type Outcome, Scene } from "./scene.ts";

export interface Trick {
  readonly family: string;
  readonly name: string;
  /** Its scope, where it takes more than every scope has. */
  readonly scope?: () => HeldScope;
  /** Answers the ids of the calls that may take effect: `attempt/call tool`. */
  run(stage: Stage): Promise<readonly string[]>;
}
export const ada = callerOf("ada");
export const tree = "6".repeat(40);

export class Stage extends Scene {
  readonly trick: string;
  constructor(family: string, trick: string, held?: HeldScope) {
    super(family, held);
    this.trick = trick;
  }
  /** Noted under the trick's name. */
  try(held: Held, call: Parameters<Scene["ask"]>[2]) {
    return this.ask(this.trick, held, call);
  }
  async going(plan = askingPlan): Promise<{ task_id: string; held: Held }> {
    const task_id = await this.held.planned(plan);
    await this.approved(task_id);
    return { task_id, held: await this.held.begun() };
  }
  /** Its one step has asked, and the attempt waits for a person. */
  async waiting(asked = shell("echo a")) {
    const { task_id, held } = await this.going();
    await this.held.authorize(held, asked);
    await this.held.suspend(held, asked, tree);
    return { task_id, first: held, card: this.held.card(task_id) };
  }
  /** A person said yes, and the attempt goes on. */
  async allowed(asked = shell("echo a")) {
    const { task_id, first } = await this.waiting(asked);
    await this.approved(task_id);
    return { task_id, first, held: await this.held.begun() };
  }
  effect({ ref }: Held, call_id = "step-1", tool = "shell_execute"): string {
    return `${ref.attempt_id}/${call_id} ${tool}`;
  }
  row({ ref }: Held, call_id = "step-1") {
    return this.held.rows.calls.get(`${ref.attempt_id}/${call_id}`) ?? missing(`call ${call_id}`);
  }
  item(task_id: string) {
    return this.held.rows.items.ofTask(task_id)[0] ?? missing("item");
  }
}

/** The same holder under another name, epoch or lease. */
export function askedAs(held: Held, ref: Partial<Held["ref"]>): Held {
  return { ...held, ref: { ...held.ref, ...ref } };
}

export function trick(family: string, name: string, run: Trick["run"]): Trick {
  return { family, name, run };
}
/** Tries the recorded call in its own tree, granted or allowed: whatever was done to it before, it must not run. */
export const again = shell("echo a", "step-1", tree);
export const granted = grantedPlan;

export async function perform({ family, name, run, scope }: Trick): Promise<Outcome> {
  const stage = new Stage(family, name, scope?.());
  try {
    return stage.outcome(await run(stage));
  } finally {
    stage.close();
  }
}
