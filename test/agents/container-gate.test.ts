/** What leaves by a container's gate, byte for byte: pushes that are held until they are known, and hosts that were granted. */
import { describe, expect, it } from "vitest";
import { ContainerGate } from "../../src/adapters/container-gate.ts";
import { gateOrigin } from "../../src/domain/gate.ts";

const source = "https://github.com/acme/widgets";
const push = { branch: "countersign/t", commit: "c".repeat(40) };
const credential = { username: "x-access-token", password: "ghs_0123456789" };
const ticket = "a".repeat(64);
/** Hosts that are not closed. */
const open = new AbortController().signal;

function gate() {
  const sent: { url: string; body: string; headers: Headers; redirect: string }[] = [];
  const made = new ContainerGate({
    newTicket: () => ticket,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { url, headers, redirect } = request;
      sent.push({ url, body: await request.text(), headers, redirect });
      return new Response("done", { headers: { "content-type": "application/x-git-receive-pack-result" } });
    },
  });
  return { made, sent };
}
/** A push that arrives in pieces of so many bytes. */
function pushed(body: string, piece: number, shown = ticket): Request {
  const pieces = Array.from({ length: Math.ceil(body.length / piece) }, (_, at) =>
    body.slice(at * piece, (at + 1) * piece),
  );
  return inPieces(pieces, () => {}, shown);
}
/** `before` is told how many pieces are left before each of them. */
function inPieces(pieces: readonly string[], before: (left: number) => unknown, shown = ticket): Request {
  const left = [...pieces];
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await before(left.length);
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { authorization: `Bearer ${shown}`, "content-type": "application/x-git-receive-pack-request" };
  const init = { method: "POST", headers, body: stream, duplex: "half" } as const;
  return new Request(`${gateOrigin}/https/github.com/acme/widgets/git-receive-pack`, init);
}
function packets(...lines: string[]): string {
  return `${lines.map((line) => (line.length + 4).toString(16).padStart(4, "0") + line).join("")}0000`;
}
const change = (branch: string) => `${"0".repeat(40)} ${push.commit} refs/heads/${branch}\0 report-status`;

describe("what leaves by a container's gate", () => {
  it("[CON-2] a push leaves whole once its head is known, however it arrives, with the credential and following nothing", async () => {
    const body = `${packets(change(push.branch))}PACK and what is in it`;
    for (const piece of [1, 7, 100, 10_000]) {
      const { made, sent } = gate();
      made.open({ source, push }, credential);
      const answer = await made.carry(pushed(body, piece), new Set(), open);
      expect([answer.status, await answer.text()]).toEqual([200, "done"]);
      expect(sent).toMatchObject([{ url: `${source}/git-receive-pack`, body, redirect: "manual" }]);
      expect(sent[0]?.headers.get("authorization")).toBe(`Basic ${btoa("x-access-token:ghs_0123456789")}`);
    }
  });

  it("[CON-2] of any other push not a byte leaves", async () => {
    const { made, sent } = gate();
    made.open({ source, push }, credential);
    const bad = [
      packets(change("main")),
      packets(change(push.branch), change("main")),
      packets(change(push.branch)).slice(0, -4),
      "",
      `${packets(`x${"y".repeat(20_000)}`)}`,
      "0000PACK",
      `0000${packets(change("main"))}PACK`,
      packets(`${change(push.branch)} push-options`),
    ];
    for (const body of bad) expect((await made.carry(pushed(body, 50), new Set(), open)).status).toBe(421);
    expect((await made.carry(pushed(packets(change(push.branch)), 50, "b".repeat(64)), new Set(), open)).status).toBe(
      421,
    );
    // In pieces of four bytes, the first of which is all that git asks when it only asks.
    expect((await made.carry(pushed(`0000${packets(change("main"))}PACK`, 4), new Set(), open)).status).toBe(421);
    expect(sent).toEqual([]);
    expect((await made.carry(pushed("0000", 4), new Set(), open)).status).toBe(200);
    expect(sent.map(({ body }) => body)).toEqual(["0000"]);
  });

  it("[CON-3] when the operation is over nothing that was begun goes on: no push that waited, no byte after", async () => {
    const head = packets(change(push.branch));
    for (const before of ["", head]) {
      const { made, sent } = gate();
      const { close } = made.open({ source, push }, credential);
      const pieces = [before, `${before === "" ? head : ""}PACK`].filter((piece) => piece !== "");
      const answer = await made.carry(
        inPieces(pieces, (left) => {
          if (left === 1) close();
        }),
        new Set(),
        open,
      );
      expect([before, answer.status, sent]).toEqual([before, before === "" ? 421 : 502, []]);
    }
    const { made, sent } = gate();
    const { close: closeEmpty } = made.open({ source, push }, credential);
    const asking = inPieces(["0000"], (left) => left === 0 && closeEmpty());
    expect([(await made.carry(asking, new Set(), open)).status, sent]).toEqual([421, []]);
    const { close } = made.open({ source, push }, credential);
    const waiting = made.carry(
      inPieces([], () => new Promise(() => {})),
      new Set(),
      open,
    );
    close();
    expect([(await waiting).status, sent]).toEqual([421, []]);
  });

  it("[CON-5] what is sent to a granted host ends when the hosts are closed, whatever its sender makes of being told", async () => {
    const came: string[] = [];
    let taken = Promise.resolve("");
    const made = new ContainerGate({
      newTicket: () => ticket,
      fetch: async (_to, init) => {
        const read = async () => {
          // The gate gives a stream or nothing.
          for await (const piece of (init?.body ?? []) as AsyncIterable<Uint8Array>)
            came.push(new TextDecoder().decode(piece));
          return "to its end";
        };
        taken = read().catch(() => "cut");
        return new Response("begun");
      },
    });
    const over = new AbortController();
    const body = inPieces(["one", "two", "three"], (left) => left === 2 && over.abort()).body;
    const to = new Set(["packages.example"]);
    await made.carry(
      new Request("https://packages.example/", { method: "POST", body, duplex: "half" } as RequestInit),
      to,
      over.signal,
    );
    expect([await taken, came]).toEqual(["cut", ["one"]]);
    const later = new Request("https://packages.example/");
    expect((await made.carry(later, to, over.signal)).status).toBe(421);
  });

  it("[CON-5] what goes to a granted host keeps its own headers, gets no credential, and follows nothing", async () => {
    const { made, sent } = gate();
    made.open({ source, push: null }, credential);
    const headers = { "x-own": "1", authorization: "Bearer its-own" };
    await made.carry(new Request("https://packages.example/a", { headers }), new Set(["packages.example"]), open);
    await made.carry(new Request(`${source}/info/refs?service=git-upload-pack`, { headers }), new Set(), open);
    expect(sent).toMatchObject([{ url: "https://packages.example/a", redirect: "manual" }]);
    expect(sent[0]?.headers.get("x-own")).toBe("1");
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer its-own");
  });
});
