/** What the page asks about thinking: a task's model calls, and what the scope remembers. */
import { infiniteQueryOptions } from "@tanstack/react-query";
import type { MemoryKind, MemoryView } from "../../../src/domain/memory.ts";
import type { Page, ThoughtView } from "../../../src/domain/view.ts";
import { call } from "./client.ts";

export type { MemoryKind, MemoryView, ThoughtView };

/** Its calls of models, oldest first. */
export const taskThoughts = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["task", id, "thoughts"],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) =>
      call<Page<ThoughtView>>(`/api/tasks/${encodeURIComponent(id)}/thoughts?limit=100${after(pageParam)}`, { signal }),
    getNextPageParam: (page) => page.next_cursor,
  });

export interface MemorySearch {
  readonly words: string;
  readonly kind: MemoryKind | "";
}
export const memories = ({ words, kind }: MemorySearch) =>
  infiniteQueryOptions({
    queryKey: ["memory", words, kind],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) => {
      const asked = new URLSearchParams({ limit: "50" });
      if (words !== "") asked.set("q", words);
      if (kind !== "") asked.set("kind", kind);
      return call<Page<MemoryView>>(`/api/memory?${asked}${after(pageParam)}`, { signal });
    },
    getNextPageParam: (page) => page.next_cursor,
  });

export function forgetMemory(id: string, reason: string): Promise<MemoryView> {
  return call<MemoryView>(`/api/memory/${encodeURIComponent(id)}`, { method: "DELETE", body: { reason } });
}

function after(cursor: string): string {
  return cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
}
