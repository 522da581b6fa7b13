/** The courier with a GitHub in memory, and a runtime that says where one task stands and keeps what it is told. */
import { courier } from "../../src/agents/courier.ts";
import { type GithubShown, githubShown } from "../../src/domain/github/shapes.ts";
import type { GithubStanding } from "../../src/domain/github/standing.ts";
import { FakeGithub, standingOf } from "./github.ts";
import { MemorySandboxes } from "./memory-sandboxes.ts";
import { testMessage } from "./messages.ts";
import { only, stamped } from "./orders.ts";
import { type Driven, type Driving, drive, runContext, tameWorld } from "./world.ts";

export interface CourierWorld {
  readonly github: FakeGithub;
  readonly clock: { at: number };
  /** Where the task stands; `shown` is what the courier said last. */
  stands: GithubStanding | null;
  asked: number;
  sync(change?: Partial<GithubStanding>, driving?: Driving): Promise<Driven & { readonly shown: GithubShown }>;
}
export function courierWorld(fields: Partial<GithubStanding> = {}): CourierWorld {
  const github = new FakeGithub();
  const { ports, clock } = tameWorld(new MemorySandboxes({}));
  const w: CourierWorld = {
    ...{ github, clock, stands: standingOf(fields), asked: 0 },
    async sync(change = {}, driving = {}) {
      if (w.stands !== null) w.stands = { ...w.stands, ...change, version: w.stands.version + 1 };
      const ended = await drive(
        courier,
        runContext(syncOrder(), { agent: "courier" }),
        { ...ports, github: github.port, shows },
        driving,
      );
      const shown = githubShown.parse(stamped(only(ended.out), "courier").payload);
      if (w.stands !== null) w.stands = { ...w.stands, shown };
      return { ...ended, shown };
    },
  };
  const shows = {
    standing: async () => {
      w.asked++;
      return structuredClone(w.stands);
    },
  };
  return w;
}
export function syncOrder() {
  const payload = { task_id: "tabcdefgh2345678", version: 1 };
  return testMessage(1, {
    message_kind: "github_sync",
    sender: "runtime",
    recipient: "courier",
    task_id: payload.task_id,
    payload,
  });
}

/** How many comments, checks and pull requests of ours stand. */
export function counts({ github }: CourierWorld): number[] {
  const { comments, checks, pulls } = github.standing();
  return [comments.length, checks.length, pulls.length];
}
