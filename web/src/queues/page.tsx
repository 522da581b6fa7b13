/** Queues: how deep each is, how old its oldest message, how it stands; and one of them being looked at. [WEB-30] */
import { useQuery } from "@tanstack/react-query";
import { type QueueView, queues } from "../api/queues.ts";
import { Link, navigate } from "../route.tsx";
import { Empty, Failure, Loading } from "../ui/notice.tsx";
import { useShortcuts } from "../ui/shortcuts.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { OneQueue } from "./one.tsx";
import { standingWords } from "./words.ts";

export function QueuesPage({ name }: { readonly name: string | null }) {
  const list = useQuery(queues);
  const items = list.data?.items ?? [];
  const silent = list.data?.silent ?? [];
  const step = (by: 1 | -1): void => {
    const at = items.findIndex((queue) => queue.name === name);
    const next = items[at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by];
    if (next !== undefined) navigate(pathOf(next));
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
  // The open queue's name is the page's heading while there is one.
  const ListTitle = name === null ? "h1" : "h2";
  return (
    <div className={name === null ? "queues" : "queues reading"}>
      <section className="queue-list" aria-label="All queues">
        {name !== null && (
          <Link to="/queues" className="back">
            All queues
          </Link>
        )}
        <ListTitle className="list-title">Queues</ListTitle>
        {list.isPending && <Loading what="queues" />}
        {list.data === undefined && list.error !== null && (
          <Failure error={list.error} again={() => void list.refetch()} />
        )}
        {silent.length > 0 && (
          <p className="quiet" role="status">
            No answer from <Shown text={silent.join(", ")} line />: asked again in a moment.
          </p>
        )}
        {list.data !== undefined && items.length === 0 && (
          <Empty title="No queue yet">
            <p>Queues are made with the scope's agents.</p>
          </Empty>
        )}
        <ul>
          {items.map((queue) => (
            <Row queue={queue} current={queue.name === name} key={queue.name} />
          ))}
        </ul>
      </section>
      <div className="queue-open">
        {name === null ? (
          items.length > 0 && <p className="quiet">Choose a queue to see who holds what, and what was given up.</p>
        ) : (
          <OneQueue name={name} key={name} />
        )}
      </div>
    </div>
  );
}

function Row({ queue, current }: { readonly queue: QueueView; readonly current: boolean }) {
  const dead = queue.dead + (queue.outbox?.dead ?? 0);
  return (
    <li>
      <Link to={pathOf(queue)} className="queue-row" aria-current={current ? "true" : undefined}>
        <span className="queue-name">
          <Shown text={queue.name} line />
        </span>
        <span className={`standing ${queue.state}`}>{standingWords[queue.state]}</span>
        <span className="quiet queue-counts">
          {queue.queued} waiting, {queue.leased} held
          {dead > 0 && <span className="bad-text">, {dead} given up</span>}
          {queue.oldest_at !== null && (
            <>
              {" · oldest "}
              <Ago at={queue.oldest_at} />
            </>
          )}
        </span>
      </Link>
    </li>
  );
}

function pathOf(queue: QueueView): string {
  return `/queues/${encodeURIComponent(queue.name)}`;
}
