/** Every question the page asks, by name: where it goes, what comes back, and the key events invalidate. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ApprovalView } from "../../../src/domain/approval-view.ts";
import type { EventView } from "../../../src/domain/record-view.ts";
import type { Page, TaskInput, TaskSummary, TaskView } from "../../../src/domain/view.ts";
import type { AgentView, RepoView } from "../../../src/http/doors.ts";
import { call, callText, Problem } from "./client.ts";

export type { AgentView, ApprovalView, EventView, RepoView, TaskInput, TaskSummary, TaskView };

export const pendingApprovals = queryOptions({
  queryKey: ["approvals"],
  queryFn: ({ signal }) => call<Page<ApprovalView>>("/api/approvals?status=pending&limit=200", { signal }),
});
export const approvalById = (id: string) =>
  queryOptions({
    queryKey: ["approval", id],
    queryFn: ({ signal }) => call<ApprovalView>(`/api/approvals/${encodeURIComponent(id)}`, { signal }),
  });
export const tasks = (cursor: string | null) =>
  queryOptions({
    queryKey: ["tasks", cursor],
    queryFn: ({ signal }) =>
      call<Page<TaskSummary>>(`/api/tasks?limit=50${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`, {
        signal,
      }),
  });
/** Tasks that go on or wait for a person, newest first. */
export const openTasks = queryOptions({
  queryKey: ["tasks", "open"],
  queryFn: async ({ signal }) => {
    const of = (status: string) => call<Page<TaskSummary>>(`/api/tasks?status=${status}&limit=200`, { signal });
    return (await Promise.all([of("waiting"), of("active")])).flatMap((page) => page.items);
  },
});
export const taskById = (id: string) =>
  queryOptions({
    queryKey: ["task", id],
    queryFn: ({ signal }) => call<TaskView>(`/api/tasks/${encodeURIComponent(id)}`, { signal }),
  });
export const taskEvents = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["task", id, "events"],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) => {
      const cursor = pageParam === "" ? "" : `&cursor=${encodeURIComponent(pageParam)}`;
      return call<Page<EventView>>(`/api/tasks/${encodeURIComponent(id)}/events?limit=200${cursor}`, { signal });
    },
    getNextPageParam: (page) => page.next_cursor,
  });
/** The task's diff as text; "" while there is none yet. */
export const taskPatch = (id: string) =>
  queryOptions({
    queryKey: ["task", id, "patch"],
    queryFn: async ({ signal }) => {
      try {
        return await callText(`/api/tasks/${encodeURIComponent(id)}/patch`, { signal });
      } catch (error) {
        if (error instanceof Problem && error.status === 404) return "";
        throw error;
      }
    },
  });
export const agents = queryOptions({
  queryKey: ["agents"],
  queryFn: async ({ signal }) => (await call<{ items: AgentView[] }>("/api/agents", { signal })).items,
});
export const repos = queryOptions({
  queryKey: ["repos"],
  queryFn: async ({ signal }) => (await call<{ items: RepoView[] }>("/api/repos", { signal })).items,
});

export type DecisionBody = Readonly<Record<string, unknown>>;
export type DecisionPath = "approve" | "deny" | "request-changes";

export function decide(
  id: string,
  path: DecisionPath,
  body: DecisionBody,
  idempotencyKey: string,
): Promise<ApprovalView> {
  return call<ApprovalView>(`/api/approvals/${encodeURIComponent(id)}/${path}`, {
    method: "POST",
    body,
    idempotencyKey,
  });
}
export function createTask(input: TaskInput, idempotencyKey: string): Promise<TaskView> {
  return call<TaskView>("/api/tasks", { method: "POST", body: input, idempotencyKey });
}
export function cancelTask(id: string, reason: string): Promise<TaskView> {
  return call<TaskView>(`/api/tasks/${encodeURIComponent(id)}/cancel`, { method: "POST", body: { reason } });
}
