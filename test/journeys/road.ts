/**
 * A running service with a repository of its own, and what a person does with it in a journey: ask, look, decide,
 * and see what became of it. All of it goes through the HTTP API; only git is asked about git.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Client, connect } from "../../src/cli/client.ts";
import { safeGitEnv } from "../../src/dev/git.ts";
import { makeSample } from "../../src/dev/sample.ts";
import { type ApprovalView, approvalView } from "../../src/domain/approval-view.ts";
import { type AuditView, auditView, type EventView, eventView } from "../../src/domain/record-view.ts";
import { isFinal } from "../../src/domain/task.ts";
import { type Page, page, type TaskView, taskView } from "../../src/domain/view.ts";
import { type JourneyService, type ServiceOptions, startService } from "./helpers.ts";

/** A machine that does much else at once may be slow; a journey that is stuck shall still say where. */
const PATIENCE_MS = 90_000;
const POLL_MS = 200;

type Kind = ApprovalView["kind"];

export interface Repository {
  readonly url: string;
  readonly folder: string;
  git(...args: string[]): string;
  /** A file as it stands on a branch. */
  file(branch: string, path: string): string;
}
export interface Road {
  readonly service: JourneyService;
  readonly client: Client;
  readonly repo: Repository;
  /** Asks for a task with a plan; answers its id. */
  ask(plan: string): Promise<string>;
  task(id: string): Promise<TaskView>;
  /** The task, once it is as it should be. */
  becomes(id: string, what: string, as: (task: TaskView) => boolean): Promise<TaskView>;
  /** The task, once nothing more can happen to it. */
  ended(id: string): Promise<TaskView>;
  /** The task's pending card of that kind, once it is there. */
  card(task: string, kind: Kind): Promise<ApprovalView>;
  approve(card: ApprovalView, comment?: string): Promise<ApprovalView>;
  deny(card: ApprovalView, reason: string): Promise<ApprovalView>;
  /** Waits for the task's card and approves it as shown. */
  countersign(task: string, kind?: Kind): Promise<ApprovalView>;
  /** Everything the feed told of a task. */
  events(task: string): Promise<EventView[]>;
  /** The first event of the feed after `after` that is as asked for, once there is one. */
  happens(after: number, what: string, as: (event: EventView) => boolean): Promise<EventView>;
  /** The whole audit, or that of one trace, once all that is recorded now has arrived. */
  audit(trace?: string): Promise<AuditView[]>;
  close(): Promise<void>;
}

/** Tries until there is an answer. A service that is just restarting is no answer. */
export async function until<T>(what: string, look: () => Promise<T | null>, withinMs = PATIENCE_MS): Promise<T> {
  const end = Date.now() + withinMs;
  let last: unknown = "it did not happen";
  while (Date.now() < end) {
    try {
      const found = await look();
      if (found !== null) return found;
      last = "it did not happen";
    } catch (error) {
      last = error;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`waited ${withinMs} ms for ${what}`, { cause: last });
}

export async function openRoad(options: Pick<ServiceOptions, "args" | "env"> = {}): Promise<Road> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-journey-repo-"));
  const repo = repository(join(folder, "pager"));
  const service = await startService({ seed: false, repoRoots: [folder], ...options });
  const client = connect(service.url, service.token);
  const looks = looksAt(client);
  const decides = decidesBy(client);
  return {
    service,
    client,
    repo,
    ...looks,
    ...decides,
    ask: async (plan) => {
      const body = { title: "A journey", repo: { url: repo.url, ref: "main" }, plan };
      return (await client.post("/api/tasks", body, taskView)).id;
    },
    countersign: async (task, kind = "plan") => decides.approve(await looks.card(task, kind)),
    async close() {
      await service.discard();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function repository(folder: string): Repository {
  const url = makeSample(folder);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, env: safeGitEnv(), encoding: "utf8" });
  return { url, folder, git, file: (branch, path) => git("show", `${branch}:${path}`) };
}

function looksAt(client: Client) {
  const task = (id: string) => client.get(`/api/tasks/${id}`, taskView);
  const becomes = (id: string, what: string, as: (task: TaskView) => boolean) =>
    until(`task ${id} to be ${what}`, async () => {
      const now = await task(id);
      return as(now) ? now : null;
    });
  return {
    task,
    becomes,
    ended: (id: string) => becomes(id, "ended", ({ status }) => isFinal(status)),
    card: (taskId: string, kind: Kind) =>
      until(`a ${kind} card of ${taskId}`, async () => {
        for (const id of (await task(taskId)).pending_approvals) {
          const card = await client.get(`/api/approvals/${id}`, approvalView);
          if (card.kind === kind) return card;
        }
        return null;
      }),
    events: (id: string) => all(client, `/api/tasks/${id}/events?limit=200`, eventView),
    async happens(after: number, what: string, as: (event: EventView) => boolean) {
      let last = after;
      return until(what, async () => {
        const fed = await client.get(`/api/events?after=${last}&wait_ms=5000`, feed);
        last = fed.items.at(-1)?.seq ?? last;
        return fed.items.find(as) ?? null;
      });
    },
    async audit(trace?: string) {
      await until("the audit to be stored", async () =>
        (await client.get("/api/audit/verify", onItsWay)).chains.some(({ pending }) => pending > 0) ? null : true,
      );
      return all(client, `/api/audit?limit=200${trace === undefined ? "" : `&trace_id=${trace}`}`, auditView);
    },
  };
}
const onItsWay = z.object({ chains: z.array(z.object({ pending: z.number() })) });
const feed = z.object({ items: z.array(eventView) });

function decidesBy(client: Client) {
  return {
    approve: (card: ApprovalView, comment?: string) => {
      const said = comment === undefined ? {} : { comment };
      const body = { content_hash: card.content_hash, ...said };
      return client.post(`/api/approvals/${card.id}/approve`, body, approvalView);
    },
    deny: (card: ApprovalView, reason: string) =>
      client.post(`/api/approvals/${card.id}/deny`, { reason }, approvalView),
  };
}

async function all<T extends z.ZodType>(client: Client, path: string, row: T): Promise<z.infer<T>[]> {
  const rows: z.infer<T>[] = [];
  let cursor: string | null = null;
  do {
    const place: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const part: Page<z.infer<T>> = await client.get(path + place, page(row));
    rows.push(...part.items);
    cursor = part.next_cursor;
  } while (cursor !== null);
  return rows;
}

/** Processes of this machine, inside a sandbox or out, whose command line holds the text. */
export function processesSaying(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => commandLine(pid).includes(text));
}
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
