/** What the page asks about the policy, what it tries out, and the change an admin makes to it. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { evaluationView, PolicyChanged, PolicyVersion, PolicyView } from "../../../src/domain/policy-shapes.ts";
import type { Page } from "../../../src/domain/view.ts";
import { call } from "./client.ts";

export type { PolicyChanged, PolicyVersion, PolicyView };
export type Evaluation = z.infer<typeof evaluationView>;

/** With null, the policy in force. A version by its number never changes. */
export const policyAt = (version: number | null) =>
  queryOptions({
    queryKey: ["policy", version],
    queryFn: ({ signal }) =>
      call<PolicyView>(version === null ? "/api/policy" : `/api/policy/versions/${version}`, { signal }),
  });
export const policyVersions = infiniteQueryOptions({
  queryKey: ["policy", "versions"],
  initialPageParam: "",
  queryFn: ({ signal, pageParam }) => {
    const cursor = pageParam === "" ? "" : `&cursor=${encodeURIComponent(pageParam)}`;
    return call<Page<PolicyVersion>>(`/api/policy/versions?limit=20${cursor}`, { signal });
  },
  getNextPageParam: (page) => page.next_cursor,
});

export interface Tried {
  readonly call: { readonly tool: string; readonly args: unknown };
  readonly role: string;
  readonly taint: string;
}
export function tryCall(tried: Tried): Promise<Evaluation> {
  return call<Evaluation>("/api/policy/evaluate", { method: "POST", body: tried });
}
/** `seen` is the hash of the version the change was made from. */
export function changePolicy(policy: unknown, reason: string, seen: string): Promise<PolicyChanged> {
  return call<PolicyChanged>("/api/policy", { method: "PUT", body: { policy, reason }, ifMatch: `"${seen}"` });
}
