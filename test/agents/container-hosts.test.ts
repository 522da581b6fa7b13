/** The hosts that set-up was granted: what closes them, for how long, and what becomes of what passes then. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { spec } from "../contract/programs.ts";
import { commit, deployment, source } from "../fakes/small-containers.ts";

const bytes = new Uint8Array();
const argv = ["true"];
const merge = { baseline: commit, parent: commit, patch: bytes, message: "m", at_s: 1 };
type Made = ReturnType<typeof deployment>;
const setup = ({ sandboxes }: Made) =>
  sandboxes.exec("one", "setup", { argv, timeout_ms: 1_000, network: { hosts: ["pkg.example"], cache: [] } });
const status = async ({ box }: Made) => (await box("one").outbound(new Request("https://pkg.example/"))).status;

const calls: Readonly<Record<string, (d: Made) => Promise<unknown>>> = {
  exec: ({ sandboxes }) => sandboxes.exec("one", "work", { argv, timeout_ms: 1_000 }),
  openPty: ({ sandboxes }) => sandboxes.openPty("one", "t", { argv, cols: 1, rows: 1, timeout_ms: 1_000 }),
  writePty: ({ sandboxes }) => sandboxes.writePty("one", "t", bytes),
  resizePty: ({ sandboxes }) => sandboxes.resizePty("one", "t", 1, 1),
  kill: ({ sandboxes }) => sandboxes.kill("one", "setup"),
  write: ({ sandboxes }) => sandboxes.write("one", "a", bytes),
  remove: ({ sandboxes }) => sandboxes.remove("one", "a"),
  restore: ({ sandboxes }) => sandboxes.restore("one", bytes),
  checkout: ({ sandboxes }) => sandboxes.checkout("one", source, commit),
  // Of these the small container's answer is none, which is not the matter here.
  snapshot: ({ sandboxes }) => sandboxes.snapshot("one").catch(() => {}),
  merge: ({ sandboxes }) => sandboxes.merge("one", merge).catch(() => {}),
  wait: ({ sandboxes }) => sandboxes.wait("one", "setup", 0, 1).catch(() => {}),
  outcome: ({ sandboxes }) => sandboxes.outcome("one", "setup").catch(() => {}),
  read: ({ sandboxes }) => sandboxes.read("one", "a").catch(() => {}),
  list: ({ sandboxes }) => sandboxes.list("one", ".").catch(() => {}),
  readPty: ({ sandboxes }) => sandboxes.readPty("one", "t", 0, 1).catch(() => {}),
};
const asking = ["wait", "outcome", "read", "list", "readPty"];

describe("the hosts that set-up was granted", () => {
  it("[CON-5] they are closed for good by all that begins something or changes files, and by nothing that asks or waits", async () => {
    for (const [name, call] of Object.entries(calls)) {
      const d = deployment();
      await d.sandboxes.create("one", spec("one"));
      await setup(d);
      expect([name, await status(d)]).toEqual([name, 200]);
      await call(d);
      const left = asking.includes(name) ? 200 : 421;
      expect([name, await status(d)]).toEqual([name, left]);
      await setup(d);
      d.anew();
      expect([name, await status(d)]).toEqual([name, left]);
    }
  });

  it("[CON-5] what lays out the files before set-up leaves it its hosts, and a command before it does not", async () => {
    for (const [name, call] of Object.entries(calls)) {
      const d = deployment();
      await d.sandboxes.create("one", spec("one"));
      await call(d);
      await setup(d);
      const ran = name === "exec" || name === "openPty";
      expect([name, await status(d)]).toEqual([name, ran ? 421 : 200]);
    }
  });

  it("[CON-5] a command that begins beside set-up closes them, whichever of the two is noted last", async () => {
    for (const first of ["exec", "setup"]) {
      const d = deployment();
      await d.sandboxes.create("one", spec("one"));
      const both = [calls.exec, setup];
      await Promise.all((first === "exec" ? both : both.toReversed()).map((call) => call?.(d)));
      expect([first, await status(d)]).toEqual([first, 421]);
    }
  });

  it("[CON-5] a container from before knows nothing of being closed, and a fresh one under the same name begins anew", async () => {
    const d = deployment();
    await d.sandboxes.create("one", spec("one"));
    await setup(d);
    const { closed: _, retired: __, ...before } = d.documents.get("one") as Record<string, unknown>;
    d.documents.set("one", before);
    d.anew();
    expect(await status(d)).toBe(200);
    await calls.exec?.(d);
    expect(await status(d)).toBe(421);
    await d.sandboxes.destroy("one");
    await d.sandboxes.create("one", spec("one"));
    await setup(d);
    expect(await status(d)).toBe(200);
  });

  it("[CON-5] what passes to them and back is cut when they are closed", async () => {
    const came: string[] = [];
    const cut: string[] = [];
    const server = createServer((request, response) => {
      request.on("data", (piece) => came.push(String(piece)));
      request.on("error", () => {});
      request.on("close", () => cut.push(request.method ?? ""));
      response.writeHead(200).write("one ");
      setInterval(() => response.write("more "), 5).unref();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // An address of a TCP server that listens is never a path.
    const there = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const d = deployment({ fetch: (_to, init) => fetch(there, init) });
    await d.sandboxes.create("one", spec("one"));
    await setup(d);
    const utf8 = new TextEncoder();
    let up: ReadableStreamDefaultController<Uint8Array> | null = null;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        up = controller;
        controller.enqueue(utf8.encode("first"));
      },
    });
    const init = { method: "POST", body, duplex: "half" } as const;
    const answer = await d.box("one").outbound(new Request("https://pkg.example/", init));
    const down = await d.box("one").outbound(new Request("https://pkg.example/"));
    const readers = [answer, down].map((each) => each.body?.getReader());
    for (const reader of readers) expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("one");
    await calls.exec?.(d);
    // Its writer may be told that nobody reads any more.
    try {
      (up as ReadableStreamDefaultController<Uint8Array> | null)?.enqueue(utf8.encode("second"));
    } catch {}
    const rest = async (reader: (typeof readers)[number]) => {
      for (let pieces = 0; pieces < 1_000; pieces += 1) if ((await reader?.read())?.done) return "ended";
      return "it goes on";
    };
    for (const reader of readers) expect(await rest(reader).catch(() => "cut")).toBe("cut");
    await expect.poll(() => cut.length).toBe(2);
    expect(came.join("")).toBe("first");
    server.closeAllConnections();
    server.close();
  });
});
