import { afterEach, describe, expect, it } from "vitest";
import { madeBy } from "../fakes/views.ts";
import { type Answer, approval, command, type Fake, fakeService, json, problem } from "./fake.ts";

let fake: Fake;
afterEach(() => fake?.close());
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}

describe("approvals", () => {
  const standing: Answer = (asked, response) => {
    if (asked.path.startsWith("/api/approvals?"))
      return json(response, 200, { items: [approval()], next_cursor: null });
    if (asked.method === "GET") return json(response, 200, approval());
    json(response, 200, approval({ status: asked.path.endsWith("/approve") ? "approved" : "denied" }));
  };
  const posts = () => fake.asked.filter((one) => one.method === "POST");

  it("[CLI-12] lists and shows what waits", async () => {
    const url = await serve(standing);
    expect((await command(url, ["approvals", "list", "--status", "pending"])).out).toContain("ap-1  pending     plan");
    expect((await command(url, ["approvals", "show", "ap-1"])).out).toContain("hash-of-the-card");
  });

  it("[CLI-13] approve shows the card, waits for the typed word, and sends the hash it showed", async () => {
    const url = await serve(standing);
    const said = await command(url, ["approvals", "approve", "ap-1", "--comment", "fine"], "approve\n");
    expect(said.code).toBe(0);
    expect(said.out).toContain("| npm test || true");
    expect(posts()).toMatchObject([
      { path: "/api/approvals/ap-1/approve", body: { content_hash: "hash-of-the-card", comment: "fine" } },
    ]);
  });

  it("[CLI-13] any other word approves nothing", async () => {
    const url = await serve(standing);
    expect(await command(url, ["approvals", "approve", "ap-1"], "y")).toMatchObject({ code: 1 });
    expect(posts()).toEqual([]);
  });

  it("[CLI-13] with nobody there --yes is needed, and --hash holds it to the card that was seen", async () => {
    const url = await serve(standing);
    expect((await command(url, ["approvals", "approve", "ap-1"])).code).toBe(2);
    expect((await command(url, ["approvals", "approve", "ap-1", "--yes", "--hash", "another"])).code).toBe(1);
    expect(posts()).toEqual([]);
    expect((await command(url, ["approvals", "approve", "ap-1", "--yes", "--hash", "hash-of-the-card"])).code).toBe(0);
    expect(posts()).toHaveLength(1);
  });

  it("[CLI-13] --json alone approves nothing; with --yes it answers the status", async () => {
    const url = await serve(standing);
    expect((await command(url, ["approvals", "approve", "ap-1", "--json"], "approve")).code).toBe(2);
    const said = await command(url, ["approvals", "approve", "ap-1", "--json", "--yes"]);
    expect(JSON.parse(said.out)).toEqual({ id: "ap-1", status: "approved" });
  });

  it("[CLI-13] one approval of two needed is 3", async () => {
    const url = await serve((_, response) => json(response, 200, approval()));
    expect((await command(url, ["approvals", "approve", "ap-1", "--yes"])).code).toBe(3);
  });

  it("[CLI-60] show says until when, whose approval stands and whose lacks, who may not and how it must be proved", async () => {
    const waiting = approval({
      expires_at: "2026-02-01T00:00:00.000Z",
      needs: { approvers: 2, proof: "session", not_by: "sue#tok001", revisions_left: 0 },
      decisions: [madeBy("ada\u202e#tok002", "approve", { proof: "session", content_hash: "hash-of-the-card" })],
    });
    const shown = await command(await serve((_, response) => json(response, 200, waiting)), [
      "approvals",
      "show",
      "ap-1",
    ]);
    expect(shown.out).toMatch(/^expires +2026-02-01T00:00:00\.000Z, if nobody decides before$/m);
    expect(shown.out).toMatch(/^approvals +1 of 2 different people: by ada⟦U\+202E⟧#tok002 at 2026/m);
    expect(shown.out).toMatch(/^not by +sue#tok001, who asked for the task/m);
    expect(shown.out).toMatch(/^proof +only a person signed in/m);
    const plain = await command(await serve(standing), ["approvals", "show", "ap-1"]);
    expect(plain.out).not.toMatch(/^(expires|approvals|not by|proof)/m);
    const winner = {
      by: "eve",
      what: "cancel",
      at: "2026-01-02T00:00:00.000Z",
      reason: "the task is cancelled",
    } as const;
    const over = approval({ status: "superseded", winner });
    const ended = await command(await serve((_, response) => json(response, 200, over)), ["approvals", "show", "ap-1"]);
    expect(ended.out).toMatch(/^ended +cancel by eve at 2026-01-02T00:00:00\.000Z: the task is cancelled$/m);
  });

  it("[CLI-63] a card says whose sign-in link a decision came by, before it is over and after", async () => {
    const made = madeBy("heidi#tok003", "approve", { link_by: "ada\u202e#tok002", content_hash: "hash-of-the-card" });
    const needs = { approvers: 2, proof: "session", not_by: null, revisions_left: 0 } as const;
    for (const card of [approval({ needs, decisions: [made] }), approval({ status: "approved", decisions: [made] })]) {
      const url = await serve((_, response) => json(response, 200, card));
      const shown = await command(url, ["approvals", "show", "ap-1"]);
      expect(shown.out).toMatch(/by heidi#tok003 \(by a sign-in link that ada⟦U\+202E⟧#tok002 made\)/);
    }
  });

  it("[WHO-25] a card shows whose approval counts no more, and does not count it", async () => {
    const waiting = approval({
      needs: { approvers: 2, proof: "token", not_by: null, revisions_left: 0, revoked: ["ada\u202e#tok002"] },
      decisions: [madeBy("ada\u202e#tok002", "approve", { content_hash: "hash-of-the-card" })],
    });
    const url = await serve((_, response) => json(response, 200, waiting));
    const shown = await command(url, ["approvals", "show", "ap-1"]);
    expect(shown.out).toMatch(/^approvals +0 of 2 different people$/m);
    expect(shown.out).toMatch(/^no longer +by ada⟦U\+202E⟧#tok002: their token was revoked since$/m);
  });

  it("[CLI-14] deny sends the reason, and --stop with it", async () => {
    const url = await serve(standing);
    expect((await command(url, ["approvals", "deny", "ap-1", "--reason", "too wide", "--stop"])).code).toBe(0);
    expect(posts()[0]?.body).toEqual({ reason: "too wide", stop: true });
  });

  it("[CLI-14] who comes second is told the first decision", async () => {
    const first = approval({
      status: "denied",
      decisions: [madeBy("ada", "deny", { comment: "no" })],
    });
    const url = await serve((asked, response) =>
      asked.method === "GET"
        ? json(response, 200, first)
        : problem(response, 409, "already_resolved", "It was denied by ada."),
    );
    const said = await command(url, ["approvals", "approve", "ap-1", "--yes"]);
    expect(said.code).toBe(1);
    expect(said.err).toMatch(/It was denied by ada\.\nap-1 {2}denied/);
  });
});
