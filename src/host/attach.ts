/** A terminal over a WebSocket: what it has said from an offset on, then live; what is typed goes in. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { HostFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { ptyFrame } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024 });
const query = z.object({
  sandbox: z.string(),
  pty: z.string(),
  from: z.coerce.number().int().nonnegative().default(0),
});
// A reader that does not keep up is waited for: the log keeps what it has not seen.
const backlogBytes = 1024 * 1024;

export function attachPty(host: Host, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const url = new URL(request.url ?? "", "http://host");
  if (url.pathname !== "/v1/pty") throw new HostFailure("bad_request", "only /v1/pty can be upgraded");
  const { sandbox: id, pty, from } = query.parse(Object.fromEntries(url.searchParams));
  const sandbox = host.get(id);
  if (sandbox.call("pty", pty) === null) throw new HostFailure("no_such_call", `there is no terminal "${pty}"`);
  sockets.handleUpgrade(request, socket, head, (client) => {
    client.on("error", () => client.terminate());
    client.on("message", (data, binary) => take(sandbox, pty, client, data, binary));
    void follow(sandbox, pty, client, from);
  });
}

async function follow(sandbox: Sandbox, pty: string, client: WebSocket, from: number): Promise<void> {
  const call = sandbox.call("pty", pty);
  let offset = from;
  while (call !== null && client.readyState === client.OPEN) {
    if (client.bufferedAmount > backlogBytes) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    const seen = await call.wait(offset, 20_000);
    const bytes = Buffer.from(seen.chunk, "base64");
    if (bytes.length > 0) client.send(bytes);
    else if (seen.outcome.state !== "running") {
      client.send(JSON.stringify({ exit: seen.outcome }));
      return client.close(1000);
    }
    offset = seen.next_offset;
  }
}

function take(sandbox: Sandbox, pty: string, client: WebSocket, data: RawData, binary: boolean): void {
  const open = sandbox.terminals.get(pty);
  if (open === undefined) return;
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer); // `nodebuffer` is the library's default.
  // Bytes pass as they are; the terminal's type knows only text.
  if (binary) {
    open.pty.write(bytes as unknown as string);
    return;
  }
  try {
    const { resize } = ptyFrame.parse(JSON.parse(bytes.toString()));
    open.pty.resize(resize.cols, resize.rows);
  } catch {
    client.close(1008, "text frames are {resize: {cols, rows}}");
  }
}
