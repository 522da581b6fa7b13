/** How one scope's runtime is put together: each part gets the few others it needs, and nothing is done yet. */
import { type Bindings, worldOf } from "../../src/env.ts";
import { EventSockets } from "../event-sockets.ts";
import { Post } from "../post.ts";
import { agentOf, type RemoteAgent } from "../remote.ts";
import type { Sql } from "../sql.ts";
import { Crew } from "./crew.ts";
import { AgentsDoor } from "./doors-agents.ts";
import { DecisionDoor } from "./doors-decisions.ts";
import { PeopleDoor } from "./doors-people.ts";
import { QueuesDoor } from "./doors-queues.ts";
import { RecordsDoor } from "./doors-records.ts";
import { ShownDoor } from "./doors-shown.ts";
import { TaskDoor } from "./doors-tasks.ts";
import { Feed } from "./feed.ts";
import { Mailroom } from "./mailroom.ts";
import { Pulse } from "./pulse.ts";
import { Scope } from "./scope.ts";
import { Signatures } from "./signatures.ts";

export interface RuntimeParts {
  readonly scope: Scope;
  readonly sockets: EventSockets;
  readonly feed: Feed;
  readonly crew: Crew;
  readonly pulse: Pulse;
  readonly mailroom: Mailroom;
  readonly tasks: TaskDoor;
  readonly decisions: DecisionDoor;
  readonly people: PeopleDoor;
  readonly shown: ShownDoor;
  readonly queues: QueuesDoor;
  readonly records: RecordsDoor;
  readonly agents: AgentsDoor;
  mail(): Post;
}

export function openParts(ctx: DurableObjectState, sql: Sql, bindings: Bindings): RuntimeParts {
  const scope = new Scope(sql);
  const { stores } = scope;
  let post: Post | null = null;
  /** Made at first use: before the scope is made it has no name to send under. */
  const mail = (): Post => {
    post ??= new Post(sql, `${scope.self().scope_id}/runtime`, bindings, stores);
    return post;
  };
  const agent = (name: string): RemoteAgent => agentOf(bindings, scope.self().scope_id, name);
  const sockets = new EventSockets(ctx, stores.events, (id) => scope.people.isLive(id, Date.now()));
  const signatures = new Signatures(stores.rows, () => worldOf(bindings).signer);
  const crew = new Crew(scope, agent);
  const feed = new Feed(stores.events, sockets);
  const records = new RecordsDoor(scope, agent, () => worldOf(bindings).signer);
  const pulse = new Pulse(scope, { feed, crew, mail, records, setAlarm: (at) => ctx.storage.setAlarm(at) });
  const after = () => pulse.after();
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
    decisions: new DecisionDoor(scope, signatures, after),
    people: new PeopleDoor(scope, { after, closeSockets }),
    shown: new ShownDoor(scope, agent),
    queues: new QueuesDoor(scope, agent, after),
    records,
    agents: new AgentsDoor(scope, { signatures, feed, after }),
    mail,
  };
}
