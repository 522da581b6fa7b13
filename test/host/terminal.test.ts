/** Terminals: job control, and the WebSocket a page attaches by. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { failure, utf8 } from "../contract/programs.ts";
import { World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world?.close());
const open = { argv: ["bash", "--norc", "-i"], cols: 80, rows: 24, timeout_ms: 60_000 };

/** Everything a socket brought, and a way to wait for a word in it. */
function attach(id: string, from = 0) {
  const url = `${world.host.url.replace("http", "ws")}/v1/pty?sandbox=${id}&pty=t&from=${from}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${world.host.secret}` } });
  let said = "";
  const frames: string[] = [];
  const waiting = new Set<() => void>();
  socket.on("message", (data: Buffer, binary) => {
    if (binary) said += data.toString();
    else frames.push(data.toString());
    for (const look of waiting) look();
  });
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!holds()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    socket,
    frames,
    said: () => said,
    says: (word: string) => until(() => said.includes(word)),
    framed: () => until(() => frames.length > 0),
  };
}

describe("terminals", () => {
  it("[SBX-32] a job is stopped by Ctrl-Z, listed, and ended by Ctrl-C", async () => {
    const id = await world.fresh();
    await world.sandboxes.openPty(id, "t", open);
    const seen = attach(id);
    await seen.says("$");
    const job = (word: string) => utf8.encode(`bash -c 'echo ${word}; exec sleep 300'\n`);
    await world.sandboxes.writePty(id, "t", job("first"));
    await seen.says("\rfirst\r\n");
    await world.sandboxes.writePty(id, "t", new Uint8Array([26]));
    await seen.says("Stopped");
    await world.sandboxes.writePty(id, "t", job("second"));
    await seen.says("\rsecond\r\n");
    await world.sandboxes.writePty(id, "t", new Uint8Array([3]));
    await world.sandboxes.writePty(id, "t", utf8.encode("jobs; echo after-$((1+1))\n"));
    await seen.says("after-2");
    seen.socket.close();
  });

  it("[SBX-32] an attached socket brings what was said from its offset on, takes bytes and sizes, and tells the end", async () => {
    const id = await world.fresh();
    await world.sandboxes.openPty(id, "t", open);
    const first = attach(id);
    await first.says("$");
    first.socket.send(utf8.encode("echo one-$((40+2))\n"));
    await first.says("one-42");
    const late = attach(id, Buffer.byteLength(first.said()) - 2);
    first.socket.send(JSON.stringify({ resize: { cols: 101, rows: 33 } }));
    first.socket.send(utf8.encode("stty size\n"));
    await late.says("33 101");
    expect(late.said()).not.toContain("one-42");
    first.socket.send(utf8.encode("exit 9\n"));
    await Promise.all([first.framed(), late.framed()]);
    expect(JSON.parse(first.frames[0] ?? "")).toMatchObject({ exit: { state: "exited", exit_code: 9 } });
    const after = attach(id);
    await after.framed();
    expect(after.said()).toContain("one-42");
  });

  it("[SBX-32] a scope has 16 terminals at most, and a closed one makes room", async () => {
    const id = await world.fresh({ scope_id: "crowded" });
    const quiet = { ...open, argv: ["sleep", "300"] };
    for (let n = 0; n < 16; n += 1) await world.sandboxes.openPty(id, `p${n}`, quiet);
    expect(await failure(world.sandboxes.openPty(id, "p16", quiet))).toBe("too_many");
    const other = await world.fresh({ scope_id: "roomy" });
    await world.sandboxes.openPty(other, "p0", quiet);
    await world.sandboxes.destroy(id);
    const next = await world.fresh({ scope_id: "crowded" });
    await world.sandboxes.openPty(next, "p16", quiet);
    await world.sandboxes.destroy(next);
    await world.sandboxes.destroy(other);
  });
});
