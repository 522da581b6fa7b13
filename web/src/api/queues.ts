/** What the page asks about queues, and the changes a person makes to them. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  DeadLetterView,
  QueueDetail,
  QueueList,
  QueueMove,
  QueueView,
  Requeued,
} from "../../../src/domain/queue-shapes.ts";
import type { Page } from "../../../src/domain/view.ts";
import { call } from "./client.ts";

export type { DeadLetterView, QueueDetail, QueueMove, QueueView };

/** Work passes through queues without an event of its own, so they are also asked by the clock while one looks. */
const lookEveryMs = 3_000;

export const queues = queryOptions({
  queryKey: ["queues"],
  queryFn: ({ signal }) => call<QueueList>("/api/queues", { signal }),
  refetchInterval: lookEveryMs,
});
export const queueByName = (name: string) =>
  queryOptions({
    queryKey: ["queues", name],
    queryFn: ({ signal }) => call<QueueDetail>(pathOf(name), { signal }),
    refetchInterval: lookEveryMs,
  });
export const deadLetters = (name: string) =>
  infiniteQueryOptions({
    queryKey: ["queues", name, "dead-letters"],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) => {
      const cursor = pageParam === "" ? "" : `&cursor=${encodeURIComponent(pageParam)}`;
      return call<Page<DeadLetterView>>(`${pathOf(name)}/dead-letters?limit=50${cursor}`, { signal });
    },
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: lookEveryMs,
  });

export function moveQueue(name: string, move: QueueMove, reason: string): Promise<QueueDetail> {
  return call<QueueDetail>(`${pathOf(name)}/${move}`, { method: "POST", body: { reason } });
}
/** One letter, or, with null, as many as one call sends. */
export function sendAgain(name: string, message_id: string | null): Promise<Requeued> {
  const one = message_id === null ? "" : `/${encodeURIComponent(message_id)}`;
  return call<Requeued>(`${pathOf(name)}/dead-letters${one}/requeue`, { method: "POST", body: {} });
}
function pathOf(name: string): string {
  return `/api/queues/${encodeURIComponent(name)}`;
}
