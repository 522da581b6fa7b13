/** What leaves by a container's gate, byte for byte: pushes that are held until they are known, and hosts that were granted. */
import { describe, expect, it } from "vitest";
import { ContainerGate } from "../../src/adapters/container-gate.ts";
import { gateOrigin } from "../../src/domain/gate.ts";

const source = "https://github.com/acme/widgets";
const push = { branch: "countersign/t", commit: "c".repeat(40) };
const credential = { username: "x-access-token", password: "ghs_0123456789" };
const ticket = "a".repeat(64);

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
  const bytes = new TextEncoder().encode(body);
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + piece));
      at += piece;
    },
  });
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
      const answer = await made.carry(pushed(body, piece), new Set());
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
    ];
    for (const body of bad) expect((await made.carry(pushed(body, 50), new Set())).status).toBe(421);
    expect((await made.carry(pushed(packets(change(push.branch)), 50, "b".repeat(64)), new Set())).status).toBe(421);
    expect(sent).toEqual([]);
  });

  it("[CON-5] what goes to a granted host keeps its own headers, gets no credential, and follows nothing", async () => {
    const { made, sent } = gate();
    made.open({ source, push: null }, credential);
    const headers = { "x-own": "1", authorization: "Bearer its-own" };
    await made.carry(new Request("https://packages.example/a", { headers }), new Set(["packages.example"]));
    await made.carry(new Request(`${source}/info/refs?service=git-upload-pack`, { headers }), new Set());
    expect(sent).toMatchObject([{ url: "https://packages.example/a", redirect: "manual" }]);
    expect(sent[0]?.headers.get("x-own")).toBe("1");
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer its-own");
  });
});
