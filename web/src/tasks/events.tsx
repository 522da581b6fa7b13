/** What happened to one task, oldest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { EventLine } from "../activity/line.tsx";
import { taskEvents } from "../api/queries.ts";
import { Failure, Loading } from "../ui/notice.tsx";

export function TaskEvents({ id }: { readonly id: string }) {
  const events = useInfiniteQuery(taskEvents(id));
  const items = events.data?.pages.flatMap((page) => page.items).filter((event) => event.type !== "agent_output");
  return (
    <section aria-label="Record">
      <h2>Record</h2>
      {events.isPending && <Loading what="the record" />}
      {events.error !== null && <Failure error={events.error} again={() => void events.refetch()} />}
      {items?.length === 0 && <p className="quiet">Nothing yet.</p>}
      {items !== undefined && items.length > 0 && (
        <ol className="events">
          {items.map((event) => (
            <EventLine event={event} key={event.seq} />
          ))}
        </ol>
      )}
      {events.hasNextPage && (
        <button
          type="button"
          className="small plain"
          disabled={events.isFetchingNextPage}
          onClick={() => void events.fetchNextPage()}
        >
          {events.isFetchingNextPage ? "Loading…" : "Show more"}
        </button>
      )}
    </section>
  );
}
