/** A loopback server that answers as the API does, and everything one run of the command said. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { run } from "../../src/cli/run.ts";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import type { EventView } from "../../src/domain/record-view.ts";
import type { TaskView } from "../../src/domain/view.ts";
import { openCard } from "../fakes/views.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}
export type Answer = (asked: Asked, response: ServerResponse) => void;

export interface Fake {
  readonly url: string;
  readonly asked: Asked[];
  close(): Promise<void>;
}

export async function fakeService(answer: Answer): Promise<Fake> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const one = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: text === "" ? null : JSON.parse(text),
    };
    asked.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  const type = status < 400 ? "application/json" : "application/problem+json";
  response.writeHead(status, { "content-type": type }).end(JSON.stringify(body));
}
export function problem(
  response: ServerResponse,
  status: number,
  code: string,
  detail: string,
  extra: object = {},
): void {
  json(response, status, { type: "about:blank", title: code, status, code, detail, trace_id: "t", ...extra });
}

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line against the fake, with a person's typed answer if one sits there. */
export async function command(
  url: string,
  argv: readonly string[],
  typed: string | null = null,
  cwd = "/",
): Promise<Said> {
  let out = "";
  let err = "";
  const code = await run(
    argv,
    { COUNTERSIGN_URL: url, COUNTERSIGN_TOKEN: "cs_token" },
    {
      out: (text) => {
        out += `${text}\n`;
      },
      err: (text) => {
        err += `${text}\n`;
      },
      ask: typed === null ? null : async () => typed,
      cwd,
    },
  );
  return { code, out, err };
}

export const summary = {
  id: "task-1",
  trace_id: "trace-123",
  title: "Show the last page",
  status: "active",
  waiting_on: null,
  phase: "planning",
  repo: { url: "file:///repo", ref: "main" },
  labels: [],
  branch: null,
  created_by: "me",
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  ended_at: null,
  error_code: null,
  reason: null,
  unknown_effects: [],
} as const;

export function task(over: Partial<TaskView> = {}): TaskView {
  const rest = {
    description: "",
    base_commit: null,
    commit: null,
    plan: null,
    items: [],
    attempts: [],
    phases: [],
    pending_approvals: [],
  };
  return { ...summary, repo: { ...summary.repo }, labels: [], unknown_effects: [], ...rest, ...over };
}

export function event(seq: number, type: string, over: Record<string, unknown> = {}): EventView {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    seq,
    type,
    scope_id: "s",
    task_id: "task-1",
    trace_id: "t",
    at,
    actor: "runtime",
    surfaces: ["activity"],
    detail: null,
    ...over,
  };
}

export function approval(over: Partial<ApprovalView> = {}): ApprovalView {
  return {
    id: "ap-1",
    kind: "plan",
    task_id: "task-1",
    agent_id: "planner",
    tool_name: null,
    arguments: null,
    requested_at: "2026-01-01T00:00:00.000Z",
    status: "pending",
    resolved_at: null,
    content_hash: "hash-of-the-card",
    rule: "plan",
    decisions: [],
    ...openCard,
    card: {
      kind: "plan",
      title: "Show the last page",
      why: "A plan needs a countersignature.",
      repo: "file:///repo",
      base_commit: "abc",
      publishes: "countersign/task-1",
      plan_hash: "plan-hash",
      environment: { setup: [["npm", "ci"]], hosts: ["npm"], cache: [] },
      items: [
        {
          id: "fix",
          item_hash: "item-hash",
          title: "Count the last page",
          runner: "steps",
          depends_on: [],
          grants: { tools: ["shell_execute"], paths: ["src/**"], commands: [], hosts: [], secrets: [] },
          protect: ["test/**"],
          verify: [["npm", "test", "--", "a b"]],
          steps: ["npm test || true", "sed -i s/a/b/ x\nnpm test"],
          max_attempts: 3,
        },
      ],
      tool: null,
      facts: [],
      budget: { tokens: 10, usd: null, minutes: 5 },
      taint: "owner",
      policy_hash: "policy-hash",
      requested_by: "planner",
    },
    ...over,
  };
}
