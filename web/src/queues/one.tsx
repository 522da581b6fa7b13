/** One queue: how it stands, who holds what until when, and what was given up. [WEB-31] [WEB-32] */
import { useQuery } from "@tanstack/react-query";
import { type QueueDetail, queueByName } from "../api/queues.ts";
import { useMay } from "../session.ts";
import { Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago, Clock } from "../ui/time.tsx";
import { DeadLetters } from "./letters.tsx";
import { Moves } from "./moves.tsx";
import { standingMeans, standingWords } from "./words.ts";

export function OneQueue({ name }: { readonly name: string }) {
  const queue = useQuery(queueByName(name));
  const may = useMay("admin");
  if (queue.data === undefined)
    return (
      <>
        <h1>
          <Shown text={name} line />
        </h1>
        {queue.error === null ? (
          <Loading what="the queue" />
        ) : (
          <Failure error={queue.error} again={() => void queue.refetch()} />
        )}
      </>
    );
  return (
    <article className="queue">
      <Head queue={queue.data} />
      {may ? <Moves queue={queue.data} /> : <p className="quiet">Pausing and draining needs an admin.</p>}
      <Leases queue={queue.data} />
      <DeadLetters name={name} />
    </article>
  );
}

function Head({ queue }: { readonly queue: QueueDetail }) {
  const { state, by, at, reason, outbox } = queue;
  return (
    <header>
      <div className="page-head">
        <h1 tabIndex={-1} id="queue-title">
          <Shown text={queue.name} line />
        </h1>
        <span className={`standing ${state}`} role="status">
          {standingWords[state]}
        </span>
      </div>
      <p>{standingMeans[state]}</p>
      {by !== null && (
        <p className="quiet">
          By <Shown text={by} line />
          {at !== null && (
            <>
              {" "}
              <Ago at={at} />
            </>
          )}
          {reason !== null && reason !== "" && (
            <>
              {": "}
              <Shown text={reason} line />
            </>
          )}
        </p>
      )}
      <dl className="queue-figures">
        <Figure word="Waiting">{queue.queued}</Figure>
        <Figure word="Held">{queue.leased}</Figure>
        <Figure word="Given up">{queue.dead}</Figure>
        <Figure word="Oldest">{queue.oldest_at === null ? "none" : <Ago at={queue.oldest_at} />}</Figure>
        {outbox !== null && <Figure word="On their way out">{outbox.waiting}</Figure>}
        {outbox !== null && <Figure word="Never arrived">{outbox.dead}</Figure>}
      </dl>
    </header>
  );
}
function Figure({ word, children }: { readonly word: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Leases({ queue }: { readonly queue: QueueDetail }) {
  const hidden = queue.leased - queue.leases.length;
  return (
    <section aria-labelledby="held-title">
      <h2 id="held-title">Held now</h2>
      {queue.leases.length === 0 && <p className="quiet">Nobody holds a message.</p>}
      <ul className="leases">
        {queue.leases.map((lease) => (
          <li key={lease.message_id}>
            <span className="lease-holder">
              <Shown text={lease.holder} line />
            </span>
            <span>
              <Shown text={lease.message_kind.replaceAll("_", " ")} line />{" "}
              <code>
                <Shown text={lease.message_id} line />
              </code>
            </span>
            <span className="quiet">
              since <Clock at={lease.leased_at} />, until <Clock at={lease.expires_at} /> · delivery {lease.deliveries}{" "}
              · {lease.heartbeats} {lease.heartbeats === 1 ? "heartbeat" : "heartbeats"}
            </span>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p className="quiet">And {hidden} more.</p>}
    </section>
  );
}
