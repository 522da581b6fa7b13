/** Deliveries claimed once, the courier made for them, and repositories linked, renamed, suspended and taken away. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RemoteAgent } from "../../durable-objects/remote.ts";
import { Crew } from "../../durable-objects/runtime/crew.ts";
import { firstAgents, startedAgents } from "../../durable-objects/runtime/directory.ts";
import { limits } from "../../src/limits.ts";
import {
  alice,
  bob,
  GithubScope,
  issue,
  linked,
  mallory,
  permissions,
  said,
  url,
  wish,
} from "../fakes/github-scope.ts";
import { askingPlan, callerOf, must, scopeId } from "../fakes/held-scope.ts";

let at: GithubScope;
beforeEach(async () => {
  at = await new GithubScope().linked();
});
afterEach(() => at.close());

const repos = () => at.held.scope.directory.repos().map((repo) => repo.url);
const tasks = () => at.held.rows.tasks.all();
const audited = () => at.held.scope.stores.audit.after(0, 10_000).length;

describe("deliveries", () => {
  it("[GHR-1] is claimed, on record and on its way to the courier in one commit; the same id again changes nothing, also after a restart", async () => {
    expect(at.held.scope.directory.agents().map(({ name }) => name)).toEqual([...firstAgents]);
    expect(await at.deliver(wish(), "d-1")).toBe("claimed");
    expect(at.audited("github_delivery")).toMatchObject([
      { details: { delivery_id: "d-1", kind: "wish", by: "alice" } },
    ]);
    const [order] = at.orders("github_event");
    expect(order).toMatchObject({ recipient: "courier", taint: "outsider", payload: { delivery_id: "d-1" } });
    expect(at.held.scope.directory.agent("courier")).not.toBeNull();
    const before = audited();
    at.reopen();
    for (const repository of [linked, { ...linked, full_name: "octo/new" }])
      expect(await at.deliver(wish({ by: bob }), "d-1", repository)).toBe("seen");
    expect([audited(), at.orders("github_event")]).toEqual([before, [order]]);
  });

  it("[GHR-2] of a repository that is not linked, or suspended, nothing is kept but a count, so that it may come again", async () => {
    const before = audited();
    expect(await at.deliver(wish(), "d-1", { ...linked, id: 501 })).toBe("not_linked");
    expect([audited(), at.orders("github_event")]).toEqual([before, []]);
    await at.door.githubUnlinked(scopeId, [linked.id], "suspended");
    expect(await at.deliver(wish(), "d-1")).toBe("not_linked");
    expect(await at.door.githubCounts(scopeId)).toEqual([{ event: "wish", why: "not_linked", n: 2 }]);
    await at.linked();
    expect(await at.deliver(wish(), "d-1")).toBe("claimed");
    await expect(
      at.door.githubDelivery(
        "anotherscope0000",
        { delivery_id: "d", repository: linked, happening: wish() },
        "0".repeat(64),
      ),
    ).rejects.toThrow("belongs to another scope");
  });

  it("[GHR-3] a claim is forgotten after thirty days, a wish's after two years, who may not write after seven days, a batch at a time", async () => {
    const begun = at.held.now;
    await at.deliver(said("status"), "old");
    await at.deliver(wish(), "wish");
    await at.happens(wish({ by: mallory }), permissions, "strange");
    for (const [kept_ms, id, left] of [
      [limits.github_refused_kept_ms, "strange", ["old", "wish"]],
      [limits.github_delivery_kept_ms, "old", ["wish"]],
      [limits.github_wish_kept_ms, "wish", []],
    ] as const) {
      at.held.now = begun + kept_ms;
      at.door.settle(at.held.now);
      expect(at.held.scope.stores.github.isClaimed(id, null)).toBe(true);
      at.held.now += 1;
      at.door.settle(at.held.now);
      expect(["old", "wish", "strange"].filter((each) => at.held.scope.stores.github.isClaimed(each, null))).toEqual(
        left,
      );
    }
  });

  it("[GHR-4] an event too big for a message is cut, and says so", async () => {
    const text = "\u0001".repeat(90_000);
    await at.deliver(wish({ texts: [alice, bob].map((by) => ({ by, text, cut: false })) }));
    const [order] = at.orders("github_event");
    expect(JSON.stringify(order?.payload).length).toBeLessThan(limits.github_event_bytes);
    expect(order?.payload).toMatchObject({ happening: { texts: [{ cut: true }, { cut: true }] } });
  });

  it("[GHR-5] what was passed over is counted by why", async () => {
    for (const why of ["ping", "ping", "bot"]) await at.door.githubIgnored(scopeId, why);
    expect(await at.door.githubCounts(scopeId)).toMatchObject([
      { why: "bot", n: 1 },
      { why: "ping", n: 2 },
    ]);
  });
});

describe("the courier", () => {
  it("[GHR-16] is made with the first message for it, started once before that leaves, and nobody is started twice", async () => {
    const started: string[] = [];
    const crew = new Crew(at.held.scope, (name) => stub({ start: async () => void started.push(name) }));
    await crew.startNew(at.held.now);
    expect(started.toSorted()).toEqual(["planner", "proxy", "verifier"]);
    expect(at.held.scope.directory.agent("courier")).toBeNull();
    await at.deliver(wish());
    await crew.startNew(at.held.now);
    await crew.startNew(at.held.now);
    expect(started.filter((name) => name === "courier")).toEqual(["courier"]);
    expect(startedAgents).toContain("courier");
  });
});
/** Only what is asked of it here. */
function stub(agent: Partial<RemoteAgent>): RemoteAgent {
  return agent as RemoteAgent;
}

describe("links", () => {
  it("[GHR-10] a link registers the repository's address; the same again changes nothing", async () => {
    expect(repos()).toEqual([url]);
    const before = audited();
    await at.linked();
    expect(audited()).toBe(before);
    expect(await at.door.githubLink(scopeId, linked.id)).toMatchObject({
      url,
      state: "linked",
      triggers: { comment: true },
    });
  });

  it("[GHR-11] a new name keeps the id: the address moves, and git still knows the old one, whatever its case", async () => {
    await at.linked({ ...linked, full_name: "octo/renamed", private: true });
    expect(repos()).toEqual([url.replace("app", "renamed")]);
    for (const name of ["octo/app", "OCTO/App", "octo/renamed"])
      expect(await at.door.githubRepository(scopeId, url.replace("octo/app", name))).toMatchObject({
        id: linked.id,
        full_name: "octo/renamed",
      });
    expect(await at.door.githubRepository(scopeId, `${url}x`)).toBeNull();
  });

  it("[GHR-17] repositories that exchange names are all registered under their own in the end, in whatever order that is told", async () => {
    const named = (id: number, name: string) => ({ ...linked, id, full_name: `octo/${name}` });
    const address = (name: string) => url.replace("app", name);
    const names = ["app", "shop", "shop-v2", "shop-old"] as const;
    const told = fc.record({
      news: fc.array(fc.tuple(fc.nat(2), fc.nat(3)), { maxLength: 6 }),
      stop: fc.option(fc.tuple(fc.nat(2), fc.constantFrom("removed", "suspended")), { nil: null }),
      ends: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 3, maxLength: 3 }),
      order: fc.shuffledSubarray([0, 1, 2], { minLength: 3, maxLength: 3 }),
    });
    at.held.scope.directory.addRepo({
      url: address("own"),
      default_ref: "HEAD",
      added_by: "ada",
      added_at: "2026-01-01T00:00:00.000Z",
    });
    await fc.assert(
      fc.asyncProperty(told, async ({ news, stop, ends, order }) => {
        for (const [id, name] of news) await at.linked(named(linked.id + id, names[name] ?? ""));
        if (stop !== null) await at.door.githubUnlinked(scopeId, [linked.id + stop[0]], stop[1]);
        // GitHub has a name once: so it ends. Where nothing has changed since it was told, nothing is.
        const has = ends.map((name) => address(names[name] ?? ""));
        for (const id of order) {
          const known = at.held.scope.stores.github.link(linked.id + id);
          if (known?.url === has[id] && known?.state === "linked") continue;
          await at.linked(named(linked.id + id, names[ends[id] ?? 0] ?? ""));
        }
        expect(repos().toSorted()).toEqual([...has, address("own")].toSorted());
        const links = at.held.scope.stores.github.links();
        expect(links.map((link) => [link.url, link.registered])).toEqual(has.map((one) => [one, true]));
        for (const [id, one] of has.entries())
          expect((await at.door.githubRepository(scopeId, one))?.id).toBe(linked.id + id);
      }),
      { numRuns: 60 },
    );
    for (const id of [0, 1, 2]) await at.door.githubUnlinked(scopeId, [linked.id + id], "removed");
    expect(repos()).toEqual([address("own")]);
  });

  it("[GHR-17] what somebody registered while a link was suspended stays theirs", async () => {
    const byHand = { url, default_ref: "HEAD", added_by: "ada", added_at: "2026-01-01T00:00:00.000Z" };
    await at.door.githubUnlinked(scopeId, [linked.id], "suspended");
    at.held.scope.directory.addRepo(byHand);
    await at.linked();
    await at.door.githubUnlinked(scopeId, [linked.id], "suspended");
    await at.door.githubUnlinked(scopeId, [linked.id], "removed");
    expect(repos()).toEqual([url]);
    at.held.scope.directory.removeRepo(url);
    await at.linked();
    await at.door.githubUnlinked(scopeId, [linked.id], "suspended");
    at.held.scope.directory.addRepo(byHand);
    await at.door.githubUnlinked(scopeId, [linked.id], "removed");
    expect(repos()).toEqual([url]);
    // Nor does it become the link's of another repository that has its name by now.
    at.held.scope.directory.removeRepo(url);
    await at.linked();
    await at.door.githubUnlinked(scopeId, [linked.id], "suspended");
    at.held.scope.directory.addRepo(byHand);
    await at.linked({ ...linked, id: 501 });
    await at.door.githubUnlinked(scopeId, [501], "removed");
    expect(repos()).toEqual([url]);
  });

  it("[GHR-12] unlinking ends its open tasks in words people understand, and takes back the address", async () => {
    const open = await at.planned(askingPlan);
    await at.door.githubUnlinked(scopeId, [linked.id], "removed");
    expect(at.task(open)).toMatchObject({
      status: "cancelled",
      reason: expect.stringContaining("no access to octo/app"),
    });
    expect([repos(), await at.door.githubLink(scopeId, linked.id)]).toEqual([[], null]);
    expect(await at.door.githubRepository(scopeId, url)).toBeNull();
    const input = { title: "x", description: "", labels: [], repo: { url, ref: "HEAD" }, register_repo: false };
    const refused = await at.held.tasks.createTask(callerOf("sue#sub001", "submitter"), input, null);
    expect(refused).toMatchObject({ ok: false, refusal: { code: "repo_not_registered" } });
  });

  it("[GHR-13] suspended in the middle: what comes back from the courier makes nothing; linked again, it shows how its tasks ended", async () => {
    const open = await at.planned(askingPlan);
    await at.shows(open);
    await at.deliver(wish({ thread: { ...issue, number: 6 } }), "late");
    const [order] = at.orders("github_event");
    await at.door.githubUnlinked(scopeId, [linked.id], "suspended");
    expect(at.task(open)).toMatchObject({ status: "cancelled", reason: expect.stringContaining("suspended") });
    if (order !== undefined) await at.answer(order, "github_request", { ...order.payload, people: permissions });
    expect(tasks()).toHaveLength(1);
    expect(at.audited("github_dropped")).toMatchObject([{ reason: "not_linked" }]);
    expect(await at.door.githubStanding(scopeId, open)).toBeNull();
    expect(await at.door.githubRepository(scopeId, url)).toBeNull();
    for (const sync of at.orders("github_sync")) at.took(sync);
    await at.linked();
    at.held.now += limits.github_sync_gap_ms;
    at.door.settle(at.held.now);
    await at.shows(open);
    expect(at.thread(open).shown_version).toBe(at.thread(open).version);
    // Removed and installed again, it is the same.
    const again = await at.happens(wish({ thread: { ...issue, number: 9 } }));
    await at.door.githubUnlinked(scopeId, [linked.id], "removed");
    expect(await at.door.githubStanding(scopeId, again)).toBeNull();
    for (const sync of at.orders("github_sync")) at.took(sync);
    await at.linked();
    expect(at.orders("github_sync").map(({ task_id }) => task_id)).toEqual([again]);
    expect(at.thread(open)).toMatchObject({ failures: 0, sync: null });
    expect(at.thread(open).shown_version).toBe(at.thread(open).version);
  });

  it("[GHR-14] an address that somebody registered by hand stays theirs, and so do its other tasks", async () => {
    // The clock is the scope's: one is closed before the next begins.
    at.close();
    at = new GithubScope();
    at.held.scope.directory.addRepo({
      url,
      default_ref: "HEAD",
      added_by: "ada",
      added_at: "2026-01-01T00:00:00.000Z",
    });
    await at.linked();
    const input = {
      title: "x",
      description: "",
      labels: [],
      repo: { url, ref: "HEAD" },
      plan: askingPlan,
      register_repo: false,
    };
    const own = must(await at.held.tasks.createTask(callerOf("sue#sub001", "submitter"), input, null)).body.id;
    const asked = await at.happens(wish());
    await at.door.githubUnlinked(scopeId, [linked.id], "removed");
    expect([repos(), at.task(own).status, at.task(asked).status]).toEqual([[url], "active", "cancelled"]);
  });

  it("[GHR-15] a linked private repository counts as a secret that a run could carry out", async () => {
    expect(at.held.scope.stores.github.isPrivate(url)).toBe(false);
    await at.linked({ ...linked, private: true });
    for (const named of [url, url.toUpperCase()]) expect(at.held.scope.stores.github.isPrivate(named)).toBe(true);
    expect(at.held.scope.stores.github.isPrivate("https://elsewhere.example/octo/app")).toBe(false);
  });
});
