/**
 * One socket for the whole page: events arrive in order of `seq`, wake the queries they concern, and are
 * kept for Activity. A lost socket is opened again with growing patience, from the last `seq` seen. [WEB-11]
 */
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { EventView } from "../../../src/domain/record-view.ts";
import { call, isRecord, openSocket, Problem } from "./client.ts";

const firstRetryMs = 500;
const maxRetryMs = 15_000;
const invalidateEveryMs = 200;
const eventsKept = 500;
/** How far back the feed begins when the page is opened. */
const eventsBefore = 150;

export interface Live {
  /** `waiting`: the link is down and will be tried again. */
  readonly link: "connecting" | "live" | "waiting";
  readonly events: readonly EventView[];
  /** The service no longer had everything this page missed. */
  readonly gap: boolean;
}

let live: Live = { link: "connecting", events: [], gap: false };
const listeners = new Set<() => void>();

function update(next: Partial<Live>): void {
  live = { ...live, ...next };
  for (const listener of listeners) listener();
}
export function useLive(): Live {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => live,
  );
}

/** Starts the feed; returns what ends it. */
export function startLive(client: QueryClient): () => void {
  let ended = false;
  let socket: WebSocket | null = null;
  let retryMs = firstRetryMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const touched = invalidator(client);

  const connect = async (): Promise<void> => {
    clearTimeout(timer);
    let from = 0;
    try {
      if (live.events.length === 0) from = Math.max(0, (await newestSeq()) - eventsBefore);
      socket = await openSocket("/api/events");
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return;
      again();
      return;
    }
    if (ended) {
      socket.close();
      return;
    }
    const opened = socket;
    opened.onopen = () => {
      retryMs = firstRetryMs;
      opened.send(JSON.stringify({ type: "subscribe", events: [], after: live.events.at(-1)?.seq ?? from }));
      update({ link: "live" });
      // What happened while nobody listened is not known: ask everything again once.
      void client.invalidateQueries();
    };
    opened.onmessage = (frame) => receive(frame.data, touched);
    opened.onclose = () => again();
  };
  const again = (): void => {
    socket = null;
    if (ended) return;
    update({ link: "waiting" });
    clearTimeout(timer);
    timer = setTimeout(connect, retryMs * (0.75 + Math.random() / 2));
    retryMs = Math.min(retryMs * 2, maxRetryMs);
  };
  const atOnce = (): void => {
    if (socket === null && !ended) void connect();
  };
  addEventListener("online", atOnce);
  void connect();
  return () => {
    ended = true;
    removeEventListener("online", atOnce);
    clearTimeout(timer);
    socket?.close();
    live = { link: "connecting", events: [], gap: false };
  };
}

/** A page of a type that does not exist is empty and says how far the feed has come. */
async function newestSeq(): Promise<number> {
  return (await call<{ last_seq: number }>("/api/events?after=0&types=none&limit=1")).last_seq;
}

function receive(data: unknown, touched: (event: EventView) => void): void {
  const frame: unknown = typeof data === "string" ? parse(data) : null;
  if (!isRecord(frame)) return;
  if (frame.type === "reset") {
    // What follows is a new beginning; its numbers may even be lower.
    update({ gap: true, events: [] });
    return;
  }
  if (typeof frame.seq !== "number" || typeof frame.type !== "string") return;
  // Checked for the two keys everything here turns on; the rest is the server's promise (`eventView`).
  const event = frame as EventView;
  if (event.seq <= (live.events.at(-1)?.seq ?? -1)) return;
  update({ events: [...live.events.slice(1 - eventsKept), event] });
  touched(event);
}
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Gathers what events touch and wakes those queries a few times a second at most. */
function invalidator(client: QueryClient): (event: EventView) => void {
  const keys = new Map<string, readonly string[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    for (const queryKey of keys.values()) void client.invalidateQueries({ queryKey });
    keys.clear();
  };
  return (event) => {
    for (const key of keysTouchedBy(event)) keys.set(key.join("/"), key);
    if (keys.size > 0 && timer === undefined) timer = setTimeout(flush, invalidateEveryMs);
  };
}

export function keysTouchedBy(event: EventView): readonly (readonly string[])[] {
  if (event.type === "agent_output") return [];
  const keys: string[][] = [];
  if (event.task_id !== null) keys.push(["tasks"], ["task", event.task_id]);
  if (/^(approval_|tool_approval|plan_ready|task_)/.test(event.type)) keys.push(["approvals"], ["approval"]);
  if (event.type === "standing_changed") keys.push(["standing"]);
  if (/^(agent_|state_changed)/.test(event.type)) keys.push(["agents"]);
  if (event.type === "approval_resolved" || event.type.startsWith("task_execution_")) keys.push(["memory"]);
  if (event.type === "policy_changed") keys.push(["policy"]);
  if (/^(queue_changed|dead_letter|message$|agent_)/.test(event.type)) keys.push(["queues"]);
  return keys;
}
