/** What the page asks about standing approvals, and the two changes a person makes to them. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { StandingView } from "../../../src/domain/standing-shape.ts";
import type { Page } from "../../../src/domain/view.ts";
import { call } from "./client.ts";

export type { StandingView };

const path = "/api/standing-approvals";
const pathOf = (id: string): string => `${path}/${encodeURIComponent(id)}`;

export const standingApprovals = infiniteQueryOptions({
  queryKey: ["standing"],
  initialPageParam: "",
  queryFn: ({ signal, pageParam }) => {
    const cursor = pageParam === "" ? "" : `&cursor=${encodeURIComponent(pageParam)}`;
    return call<Page<StandingView>>(`${path}?limit=50${cursor}`, { signal });
  },
  getNextPageParam: (page) => page.next_cursor,
});
export const standingById = (id: string) =>
  queryOptions({
    queryKey: ["standing", "one", id],
    queryFn: ({ signal }) => call<StandingView>(pathOf(id), { signal }),
  });

/** The service says what is wrong with it: the page only knows that it is JSON. */
export function makeStanding(input: unknown, idempotencyKey: string): Promise<StandingView> {
  return call<StandingView>(path, { method: "POST", body: input, idempotencyKey });
}
export function revokeStanding(id: string, reason: string): Promise<StandingView> {
  return call<StandingView>(pathOf(id), { method: "DELETE", body: { reason } });
}
