/** How one scope's runtime is put together: each part gets the few others it needs, and nothing is done yet. */
import type { ModelRole } from "../../src/agents/models.ts";
import { type Bindings, worldOf } from "../../src/env.ts";
import { limits } from "../../src/limits.ts";
import { EventSockets } from "../event-sockets.ts";
import { Post } from "../post.ts";
import { agentOf, type RemoteAgent } from "../remote.ts";
import type { Sql } from "../sql.ts";
import { Crew } from "./crew.ts";
import { AgentsDoor } from "./doors-agents.ts";
import { DecisionDoor } from "./doors-decisions.ts";
import { GithubDoor, type Places } from "./doors-github.ts";
import { MemoryDoor } from "./doors-memory.ts";
import { MindsDoor } from "./doors-minds.ts";
import { PeopleDoor } from "./doors-people.ts";
import { PolicyDoor } from "./doors-policy.ts";
import { QueuesDoor } from "./doors-queues.ts";
import { RecordsDoor } from "./doors-records.ts";
import { ShownDoor } from "./doors-shown.ts";
import { StandingDoor } from "./doors-standing.ts";
import { TaskDoor } from "./doors-tasks.ts";
import { TokensDoor } from "./doors-tokens.ts";
import { Feed } from "./feed.ts";
import { HooksDoor } from "./hooks.ts";
import { Mailroom } from "./mailroom.ts";
import { Pulse } from "./pulse.ts";
import { Scope } from "./scope.ts";
import { Signatures } from "./signatures.ts";
import { StandingUses } from "./standing-use.ts";
import { WebhooksDoor } from "./webhooks-door.ts";

export interface RuntimeParts {
  readonly scope: Scope;
  readonly sockets: EventSockets;
  readonly feed: Feed;
  readonly crew: Crew;
  readonly pulse: Pulse;
  readonly mailroom: Mailroom;
  readonly tasks: TaskDoor;
  readonly decisions: DecisionDoor;
  readonly standing: StandingDoor;
  readonly tokens: TokensDoor;
  readonly memory: MemoryDoor;
  readonly people: PeopleDoor;
  readonly shown: ShownDoor;
  readonly queues: QueuesDoor;
  readonly policy: PolicyDoor;
  readonly records: RecordsDoor;
  readonly agents: AgentsDoor;
  readonly minds: MindsDoor;
  readonly github: GithubDoor;
  readonly webhooks: WebhooksDoor;
  readonly hooks: HooksDoor;
  mail(): Post;
}

export function openParts(ctx: DurableObjectState, sql: Sql, bindings: Bindings): RuntimeParts {
  const has_mind = (role: ModelRole) => worldOf(bindings).models.configured(role).length > 0;
  const scope = new Scope(sql, has_mind, () => worldOf(bindings).allowPermissive);
  const { stores } = scope;
  let post: Post | null = null;
  /** Made at first use: before the scope is made it has no name to send under. */
  const mail = (): Post => {
    post ??= new Post(sql, `${scope.self().scope_id}/runtime`, bindings, stores);
    return post;
  };
  const agent = (name: string): RemoteAgent => agentOf(bindings, scope.self().scope_id, name);
  const sockets = new EventSockets(ctx, stores.events, (id) => scope.people.isLive(id, Date.now()));
  const signatures = new Signatures(stores.rows, {
    signer: () => worldOf(bindings).signer,
    policyHash: () => scope.policies.inForce().view.policy_hash,
  });
  const crew = new Crew(scope, agent);
  const feed = new Feed(stores.events, sockets);
  const records = new RecordsDoor(scope, agent, () => worldOf(bindings).signer);
  const decisions = new DecisionDoor(scope, signatures, () => pulse.after());
  const standing = new StandingUses(scope, signatures);
  const setAlarm = (at: number) => ctx.storage.setAlarm(at);
  const pulse = new Pulse(scope, { feed, crew, mail, records, decisions, standing, github: () => github, setAlarm });
  const after = () => pulse.after();
  const github: GithubDoor = new GithubDoor(scope, {
    after,
    soon: () => pulse.after(limits.github_answer_ms),
    places: () => placesOf(bindings),
  });
  const closeSockets = async (credentials: readonly string[]) => {
    sockets.close(credentials);
    await crew.closeSockets(credentials);
  };
  return {
    scope,
    sockets,
    feed,
    crew,
    pulse,
    mailroom: new Mailroom(scope, signatures, after),
    tasks: new TaskDoor(scope, after),
    decisions,
    standing: new StandingDoor(scope, after),
    tokens: new TokensDoor(scope, signatures),
    memory: new MemoryDoor(scope, after),
    people: new PeopleDoor(scope, { after, closeSockets }),
    shown: new ShownDoor(scope, agent),
    queues: new QueuesDoor(scope, agent, after),
    policy: new PolicyDoor(scope, after),
    records,
    agents: new AgentsDoor(scope, { signatures, feed, after }),
    minds: new MindsDoor(scope, after),
    github,
    webhooks: new WebhooksDoor(scope, after),
    hooks: new HooksDoor(scope, after),
    mail,
  };
}

/** Where nothing is configured nothing is linked, so that the first is never used. */
function placesOf(bindings: Bindings): Places {
  const config = worldOf(bindings).githubConfig;
  return { github: config?.url ?? "https://github.com", page: config?.public_url ?? null };
}
