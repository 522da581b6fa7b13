/** What is shown of the scope's machinery: agents and attempts. Nothing changes here. [RTO-*] */
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { AgentView, RuntimeDoor } from "../../src/http/doors.ts";
import type { Move } from "../agent/self.ts";
import type { RemoteAgent } from "../remote.ts";
import type { Scope } from "./scope.ts";

type Door = Pick<RuntimeDoor, "agents" | "agent" | "agentTransitions" | "attemptAgent">;

export class ShownDoor implements Door {
  readonly #scope: Scope;
  readonly #agent: (name: string) => RemoteAgent;
  constructor(scope: Scope, agent: (name: string) => RemoteAgent) {
    this.#scope = scope;
    this.#agent = agent;
  }

  async agents(): Promise<Result<AgentView[]>> {
    return ok(this.#scope.directory.agents());
  }
  async agent(_caller: Caller, name: string): Promise<Result<AgentView>> {
    const found = this.#scope.directory.agent(name);
    return found === null ? refuse("agent_not_found", `There is no agent ${name} in this scope.`) : ok(found);
  }
  async agentTransitions(caller: Caller, name: string): Promise<Result<Move[]>> {
    const found = await this.agent(caller, name);
    return found.ok ? ok(await this.#agent(name).transitions(caller.scope_id)) : found;
  }
  async attemptAgent(_caller: Caller, attempt_id: string): Promise<Result<{ agent: string }>> {
    const agent = this.#scope.stores.rows.attempts.get(attempt_id)?.agent ?? null;
    return agent === null
      ? refuse("attempt_not_found", "There is no attempt with this id that has started.")
      : ok({ agent });
  }
}
