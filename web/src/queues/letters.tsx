/** What was given up: why, where, and once more. One press sends one letter once. [WEB-34] [WEB-35] */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type DeadLetterView, deadLetters, sendAgain } from "../api/queues.ts";
import { Link } from "../route.tsx";
import { useMay } from "../session.ts";
import { Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";

export function DeadLetters({ name }: { readonly name: string }) {
  const letters = useInfiniteQuery(deadLetters(name));
  const may = useMay("approver");
  const sending = useSendAgain(name);
  const items = letters.data?.pages.flatMap((page) => page.items) ?? [];
  const live = items.filter((letter) => letter.card?.status !== "denied");
  return (
    <section aria-labelledby="letters-title">
      <div className="page-head">
        <h2 id="letters-title" tabIndex={-1}>
          Given up
        </h2>
        {may && live.length > 1 && (
          <button type="button" className="small plain" aria-disabled={sending.busy} onClick={() => sending.send(null)}>
            Send all again
          </button>
        )}
      </div>
      <p role="status" className="quiet">
        {sending.said}
      </p>
      {sending.error !== null && <Failure error={sending.error} />}
      {letters.isPending && <Loading what="what was given up" />}
      {letters.data === undefined && letters.error !== null && (
        <Failure error={letters.error} again={() => void letters.refetch()} />
      )}
      {letters.data !== undefined && items.length === 0 && <p className="quiet">Nothing was given up.</p>}
      <ul className="letters">
        {items.map((letter) => (
          <Letter
            letter={letter}
            send={may ? () => sending.send(letter.message_id) : null}
            busy={sending.busy}
            key={`${letter.died_in} ${letter.message_id}`}
          />
        ))}
      </ul>
      {letters.hasNextPage && (
        <button type="button" className="plain" onClick={() => void letters.fetchNextPage()}>
          Show older ones
        </button>
      )}
    </section>
  );
}

interface LetterProps {
  readonly letter: DeadLetterView;
  readonly send: (() => void) | null;
  readonly busy: boolean;
}

function Letter({ letter, send, busy }: LetterProps) {
  const { card } = letter;
  const dropped = card?.status === "denied";
  return (
    <li className="letter">
      <p className="letter-what">
        <Shown text={letter.message_kind.replaceAll("_", " ")} line /> from <Shown text={letter.sender} line /> to{" "}
        <Shown text={letter.recipient} line />
      </p>
      <p className="letter-reason">
        <Shown text={letter.reason} />
      </p>
      <p className="quiet">
        {letter.died_in === "inbox" ? "Given up here" : "Never arrived: given up by its sender"} <Ago at={letter.at} />{" "}
        after {letter.deliveries} {letter.deliveries === 1 ? "try" : "tries"} ·{" "}
        <code>
          <Shown text={letter.message_id} line />
        </code>
        {letter.task_id !== null && (
          <>
            {" · "}
            <Link to={`/tasks/${encodeURIComponent(letter.task_id)}`}>its task</Link>
          </>
        )}
        {card !== null && card.status === "pending" && (
          <>
            {" · "}
            <Link to={`/review/${encodeURIComponent(card.id)}`}>waits in Review</Link>
          </>
        )}
      </p>
      {dropped && <p className="quiet">Somebody dropped it in Review. It is kept for the record.</p>}
      {send !== null && !dropped && (
        <button
          type="button"
          className="small plain"
          aria-disabled={busy}
          aria-label={`Send again: ${letter.message_id}`}
          onClick={send}
        >
          Send again
        </button>
      )}
    </li>
  );
}

interface Sending {
  readonly send: (message_id: string | null) => void;
  readonly busy: boolean;
  readonly said: string;
  readonly error: unknown;
}

function useSendAgain(name: string): Sending {
  const client = useQueryClient();
  const [said, setSaid] = useState("");
  // A second press comes before React has drawn the first.
  const inFlight = useRef(false);
  const sending = useMutation({
    mutationFn: (message_id: string | null) => sendAgain(name, message_id),
    onSuccess: ({ requeued, left }) => {
      setSaid(`${requeued} sent again${left > 0 ? `, ${left} left` : ""}.`);
      // The pressed button goes with its letter: the focus stays in the section.
      setTimeout(() => document.getElementById("letters-title")?.focus());
    },
    onError: () => setSaid(""),
    onSettled: () => {
      inFlight.current = false;
      void client.invalidateQueries({ queryKey: ["approvals"] });
      return client.invalidateQueries({ queryKey: ["queues"] });
    },
  });
  const send = (message_id: string | null): void => {
    if (inFlight.current) return;
    inFlight.current = true;
    sending.mutate(message_id);
  };
  return { send, busy: sending.isPending, said, error: sending.error };
}
