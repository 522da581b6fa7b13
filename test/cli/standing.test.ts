import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { standingBody, standingOf } from "../fakes/standing-door.ts";
import { type Answer, approval, command, type Fake, fakeService, json, problem } from "./fake.ts";

let fake: Fake;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-standing-"));
});
afterEach(() => fake?.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}
function file(content: unknown): string {
  const name = join(folder, "standing.json");
  writeFileSync(name, typeof content === "string" ? content : JSON.stringify(content));
  return name;
}
const one = standingOf("s1", {
  name: "Chores\u202e",
  used: [{ approval_id: "a1", task_id: "t1", at: "2026-01-02T03:04:05.000Z" }],
});

describe("standing approvals", () => {
  it("[CLI-45] list shows uses left and the end, a page at a time, and nothing in a name hides", async () => {
    const url = await serve((_, response) => json(response, 200, { items: [one], next_cursor: "s1" }));
    const said = await command(url, ["standing", "list", "--limit", "1"]);
    expect(fake.asked[0]?.path).toBe("/api/standing-approvals?limit=1");
    expect(said).toMatchObject({
      code: 0,
      out: "s1  active    2 of 3 left  until 2099-01-01T00:00:00.000Z  Chores⟦U+202E⟧\n",
    });
    expect(said.err).toContain("--cursor s1");
    const page = await command(url, ["standing", "list", "--json"]);
    expect(JSON.parse(page.out).items).toEqual([one]);
  });

  it("[CLI-46] show says every bound in words, who made it and why, and what it approved", async () => {
    const ended = { by: "ada", at: "2026-01-02T03:04:05.000Z", reason: "too wide" };
    const url = await serve((_, response) => json(response, 200, { ...one, status: "revoked", ended }));
    const { out, code } = await command(url, ["standing", "show", "s/1"]);
    expect([code, fake.asked[0]?.path]).toEqual([0, "/api/standing-approvals/s%2F1"]);
    for (const line of [
      ...[
        "made by   bob#def456",
        "ended by  ada at 2026-01-02T03:04:05.000Z: too wide",
        "For tasks of",
        "alice#abc123",
      ],
      ...[
        "Secrets                   none",
        "Budget of a plan          not bounded",
        "t1  a1",
        "Set-up may run            nothing",
      ],
    ])
      expect(out).toContain(line);
    expect(JSON.parse((await command(url, ["standing", "show", "s1", "--json"])).out)).toMatchObject({ id: "s1" });
  });

  it("[CLI-47] create shows the bounds and sends them only once somebody said so, under a key of its own", async () => {
    const url = await serve((_, response) => json(response, 201, one));
    const name = file(standingBody);
    expect((await command(url, ["standing", "create", "--file", name])).code).toBe(2);
    const no = await command(url, ["standing", "create", "--file", name], "no");
    expect([no.code, no.out.includes("Paths"), fake.asked]).toEqual([1, true, []]);
    const yes = await command(url, ["standing", "create", "--file", name], "approve");
    expect([yes.code, yes.out.endsWith("In force: s1\n")]).toEqual([0, true]);
    expect(fake.asked[0]?.body).toMatchObject({ uses: 3, bounds: { secrets: [], paths: ["src/**"] } });
    expect(fake.asked[0]?.headers["idempotency-key"]).toMatch(/^[\w-]{36}$/);
    expect((await command(url, ["standing", "create", "--file", name, "--yes", "--json"])).code).toBe(0);
  });

  it("[CLI-48] a file that is none is refused with the fields that are wrong, and nothing is sent", async () => {
    const url = await serve((_, response) => json(response, 201, one));
    const said = async (content: unknown) => command(url, ["standing", "create", "--yes", "--file", file(content)]);
    expect((await said("{")).err).toContain("is not JSON");
    expect((await said("x".repeat(2 * 1024 * 1024))).err).toContain("larger than a request");
    const wrong = await said({ ...standingBody, uses: 0, bounds: { ...standingBody.bounds, who: [] } });
    expect(wrong.code).toBe(2);
    expect(wrong.err).toMatch(/bounds\.who: names at least one person\n {2}uses: /);
    expect((await command(url, ["standing", "create", "--file", "/none/such"])).err).toContain("cannot be read");
    expect((await command(url, ["standing", "create"])).code).toBe(2);
    expect(fake.asked).toEqual([]);
  });

  it("[CLI-49] revoke needs a reason, sends it, and says how it stands; a refusal is a failure", async () => {
    const ended = { by: "ada", at: "2026-01-02T03:04:05.000Z", reason: "too wide" };
    const url = await serve(({ path }, response) =>
      path.endsWith("/gone")
        ? problem(response, 404, "standing_approval_not_found", "There is none.")
        : json(response, 200, { ...one, status: "revoked", ended }),
    );
    expect((await command(url, ["standing", "revoke", "s1"])).code).toBe(2);
    const done = await command(url, ["standing", "revoke", "s1", "--reason", "too wide"]);
    expect([done.code, done.out.startsWith("s1  revoked ")]).toEqual([0, true]);
    expect(fake.asked).toMatchObject([{ method: "DELETE", body: { reason: "too wide" } }]);
    expect((await command(url, ["standing", "revoke", "gone", "--reason", "x"])).code).toBe(1);
  });

  it("[STA-39] approvals show says which nearly spoke for the plan and why they did not", async () => {
    const standing_notes = [{ id: "s1", name: "Chores\u202e", why: "fix: the path ** is outside" }];
    const url = await serve((_, response) => json(response, 200, approval({ standing_notes })));
    const { out } = await command(url, ["approvals", "show", "ap-1"]);
    expect(out).toMatch(/standing +Chores⟦U\+202E⟧ does not speak for it: fix: the path \*\* is outside/);
  });
});
