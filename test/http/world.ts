/** The whole app over a fake deployment, and short words for asking it. */

import type { CallerRole } from "../../src/domain/view.ts";
import { createApp } from "../../src/http/app.ts";
import { FakeDeployment, home } from "../fakes/door-ports.ts";

export const origin = "http://localhost:8787";

export interface Asking {
  readonly as?: CallerRole;
  /** The Authorization header, when it is not the token of `as`. */
  readonly authorization?: string;
  readonly body?: unknown;
  /** The body as it is. */
  readonly raw?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  readonly headers?: Record<string, string>;
}
// biome-ignore lint/suspicious/noExplicitAny: tests read answers field by field and fail when one is missing.
type Answer = { status: number; headers: Headers; text: string; body: any };

export function world() {
  const deployment = new FakeDeployment();
  const app = createApp(deployment);
  const send = async (method: string, path: string, asking: Asking = {}): Promise<Response> => {
    const headers = new Headers(asking.headers);
    if (asking.as !== undefined) headers.set("authorization", `Bearer ${deployment.token(asking.as)}`);
    if (asking.authorization !== undefined) headers.set("authorization", asking.authorization);
    const init: RequestInit & { duplex?: "half" } = { method, headers };
    if (asking.body !== undefined || asking.raw !== undefined) {
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      init.body = asking.raw ?? JSON.stringify(asking.body);
      init.duplex = "half"; // Node wants it said for a body that is a stream.
    }
    return app.request(path.startsWith("http") ? path : origin + path, init);
  };
  const ask = async (method: string, path: string, asking: Asking = {}): Promise<Answer> => {
    const response = await send(method, path, asking);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
  return { deployment, app, send, ask, runtime: deployment.runtime(home) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const repo = { url: "https://git.example/a/b", ref: "main" };
export const taskBody = { title: "Show the last page", repo };
export const plan = `---
title: Show the last page
goal: The pager lists every row
items:
  - id: fix
    title: Correct the page count
    runner: steps
    allow: { tools: [shell_execute], paths: ["src/**"] }
    verify:
      - { run: ["npm", "test"] }
---
## fix
\`\`\`sh
npm test
\`\`\`
`;
