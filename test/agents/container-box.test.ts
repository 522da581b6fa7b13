/** The object of a container, over a container that is a few lines: what it is handed, when it starts and ends. */
import { describe, expect, it } from "vitest";
import { gitName } from "../../src/adapters/container-sandboxes.ts";
import { gateOrigin } from "../../src/domain/gate.ts";
import { failure, spec } from "../contract/programs.ts";
import { commit, deployment, lender, secret, source, url } from "../fakes/small-containers.ts";

const refs = (ticket: string) =>
  new Request(`${gateOrigin}/https/github.com/acme/widgets/info/refs?service=git-upload-pack`, {
    headers: { authorization: `Bearer ${ticket}` },
  });
const ticketIn = (body: Record<string, unknown>): string => (body.pass as { ticket: string }).ticket;

describe("the object of a container", () => {
  it("[CON-3] a container is handed a ticket, the credential is put on outside, and the ticket dies with the call", async () => {
    const closed: string[] = [];
    const d = deployment({}, lender(closed));
    let ticket = "";
    await d.sandboxes.create("one", spec("one"));
    d.machine("one").inside = async (_method, body) => {
      ticket = ticketIn(body);
      expect(body.pass).toEqual({ ticket, lent: true });
      const answer = await d.box("one").outbound(refs(ticket));
      expect([answer.status, await answer.text()]).toEqual([200, "refs"]);
      expect((await d.box("one").outbound(refs("0".repeat(64)))).status).toBe(421);
      // Another container's ticket is none here.
      expect((await d.box("two").outbound(refs(ticket))).status).toBe(421);
      return null;
    };
    await d.sandboxes.checkout("one", source, commit);
    expect(d.sent.map(({ url: to }) => to)).toEqual([`${url}/info/refs?service=git-upload-pack`]);
    expect(d.sent[0]?.headers.get("authorization")).toBe(`Basic ${btoa(`x-access-token:${secret}`)}`);
    expect((await d.box("one").outbound(refs(ticket))).status).toBe(421);
    expect(closed).toEqual(["closed"]);
    const inside = JSON.stringify([d.machine("one").heard, d.machine("one").starts, [...d.documents.values()]]);
    for (const spelling of [secret, btoa(`x-access-token:${secret}`), btoa(secret)])
      expect(inside).not.toContain(spelling);
  });

  it("[CON-3] what needs no credential gets none, and a call that fails closes its way", async () => {
    const d = deployment();
    let ticket = "";
    await d.sandboxes.create("one", spec("one"));
    d.machine("one").inside = async (_method, body) => {
      ticket = ticketIn(body);
      expect(body.pass).toEqual({ ticket, lent: false });
      await d.box("one").outbound(refs(ticket));
      throw new Error("the container is gone");
    };
    expect(await failure(d.sandboxes.checkout("one", source, commit))).toBe("unreachable");
    expect(d.sent[0]?.headers.has("authorization")).toBe(false);
    expect((await d.box("one").outbound(refs(ticket))).status).toBe(421);
  });

  it("[CON-4] a server that cannot be reached, or repeats what it was shown, tells the container nothing", async () => {
    const says = (answer: () => Response) => {
      const d = deployment({ fetch: async () => answer() }, lender());
      d.machine("one").inside = async (_method, body) => {
        if (_method !== "checkout") return null;
        const got = await d.box("one").outbound(refs(ticketIn(body)));
        told.push(`${got.status} ${await got.text()} ${[...got.headers].join()}`);
        return null;
      };
      return d;
    };
    const told: string[] = [];
    const answers = [
      () => new Response(`you sent ${secret}`, { status: 401, headers: { "www-authenticate": secret } }),
      () => new Response(null, { status: 302, headers: { location: `https://elsewhere.example/${secret}` } }),
      () => new Response(`<p>${secret}`, { headers: { "content-type": "text/html" } }),
      () => {
        throw new Error(`no answer to ${secret}`);
      },
    ];
    for (const answer of answers) {
      const d = says(answer);
      await d.sandboxes.create("one", spec("one"));
      await d.sandboxes.checkout("one", source, commit);
    }
    expect(told).toEqual(["401  ", "302  ", "502  ", "502  "]);
  });

  it("[CON-5] set-up's hosts are open until anything else begins, and presets mean what they did before anything ran", async () => {
    const d = deployment();
    const exec = (call: string, hosts?: readonly string[]) =>
      d.sandboxes.exec("one", call, {
        argv: ["true"],
        timeout_ms: 1_000,
        ...(hosts === undefined ? {} : { network: { hosts, cache: [] } }),
      });
    const out = async (to: string) => (await d.box("one").outbound(new Request(to, { redirect: "manual" }))).status;
    d.machine("one").inside = async (method) => (method === "presets" ? { npm: ["registry.example"] } : null);
    await d.sandboxes.create("one", spec("one"));
    d.machine("one").inside = async (method) => (method === "presets" ? { npm: ["evil.example"] } : null);
    expect(await out("https://registry.example/x")).toBe(421);
    for (const _ of ["begun", "looked at"]) await exec("setup", ["npm", "Other.example", "constructor"]);
    d.anew();
    expect(await out("https://registry.example/x")).toBe(200);
    expect(await out("https://other.example/")).toBe(200);
    expect(await out("https://third.example/")).toBe(421);
    expect(d.sent.every(({ headers }) => !headers.has("authorization"))).toBe(true);
    expect(await out("https://evil.example/")).toBe(421);
    await exec("work");
    expect(await out("https://registry.example/x")).toBe(421);
    // Asked again, and asked for the first time: both are handed on, and nothing is opened.
    d.anew();
    for (const call of ["setup", "later"]) await exec(call, ["npm"]);
    expect(await out("https://registry.example/x")).toBe(421);
    expect(d.machine("one").heard.filter(({ method }) => method === "exec").length).toBe(5);
    expect(d.machine("one").heard.filter(({ method }) => method === "presets").length).toBe(1);
    expect(await failure(d.sandboxes.outcome("two", "work"))).toBe("no_such_sandbox");
  });

  it("[CON-6] a sandbox is listed before its container starts and forgotten after its end", async () => {
    const d = deployment();
    await d.sandboxes.create("one", spec("one"));
    expect(await d.sandboxes.sandboxes()).toEqual([{ id: "one", scope_id: "contract", owner: "attempt-one" }]);
    await d.sandboxes.destroy("one");
    expect(await d.sandboxes.sandboxes()).toEqual([]);
    expect(d.order).toEqual(["listed before a start: true", "forgotten after its end: true"]);
    expect([d.machine("one").running, d.documents.size]).toEqual([false, 0]);
    const full = deployment({
      list: { keepSandbox: async () => false, forgetSandbox: async () => {}, sandboxes: async () => [] },
    });
    expect(await failure(full.sandboxes.create("one", spec("one")))).toBe("too_many");
    expect(full.machine("one").starts).toEqual([]);
  });

  it("[CON-7] a container that has ended took its sandbox along; only `create` begins another", async () => {
    const d = deployment();
    await Promise.all([d.sandboxes.create("one", spec("one")), d.sandboxes.create("one", spec("one"))]);
    expect(d.machine("one").starts.length).toBe(1);
    expect(await failure(d.sandboxes.create("one", spec("one", { scope_id: "other" })))).toBe("bad_request");
    d.machine("one").running = false;
    expect(await failure(d.sandboxes.read("one", "a.txt"))).toBe("no_such_sandbox");
    expect(await failure(d.sandboxes.checkout("one", source, commit))).toBe("no_such_sandbox");
    expect(d.machine("one").starts.length).toBe(1);
    expect((await d.sandboxes.sandboxes()).length).toBe(1);
    await d.sandboxes.create("one", spec("one"));
    const [first, second] = d.machine("one").starts.map(({ env }) => env.SANDBOX_SECRET);
    expect(second).not.toBe(first);
    await d.sandboxes.remove("one", "a.txt");
    expect(d.machine("one").heard.at(-1)?.authorization).toBe(`Bearer ${second}`);
  });

  it("[CON-7] one whose end was asked for has no sandbox any more, also when its container does not end", async () => {
    const d = deployment();
    await d.sandboxes.create("one", spec("one"));
    const network = { hosts: ["packages.example"], cache: [] };
    await d.sandboxes.exec("one", "setup", { argv: ["true"], timeout_ms: 1_000, network });
    d.machine("one").stuck = true;
    expect(await failure(d.sandboxes.destroy("one"))).toBe("internal");
    for (const _ of ["the same object", "the next one"]) {
      expect(await failure(d.sandboxes.read("one", "a.txt"))).toBe("no_such_sandbox");
      expect((await d.box("one").outbound(new Request("https://packages.example/"))).status).toBe(421);
      d.anew();
    }
    expect([d.machine("one").running, d.listed.size]).toEqual([true, 1]);
    d.machine("one").stuck = false;
    await d.sandboxes.destroy("one");
    expect([d.machine("one").running, d.listed.size, d.documents.size]).toEqual([false, 0, 0]);
  });

  it("[CON-21] what is asked first of a container is done first, however long its call is read", async () => {
    const d = deployment();
    const { sandboxes } = d;
    const all = ["create", "destroy", "create", "destroy"].map((what) =>
      what === "create" ? sandboxes.create("one", spec("one")) : sandboxes.destroy("one"),
    );
    await Promise.all(all);
    expect([d.machine("one").starts.length, d.machine("one").running, d.listed.size]).toEqual([2, false, 0]);
  });

  it("[CON-7] one that does not come up is said to be unreachable, and the next try begins anew", async () => {
    const d = deployment();
    d.machine("one").up = false;
    expect(await failure(d.sandboxes.create("one", spec("one")))).toBe("unreachable");
    expect(await failure(d.sandboxes.read("one", "a.txt"))).toBe("no_such_sandbox");
    d.machine("one").up = true;
    await d.sandboxes.create("one", spec("one"));
    expect(d.machine("one").starts.length).toBe(2);
    expect(await failure(deployment({ machine: null }).sandboxes.create("one", spec("one")))).toBe("unreachable");
  });

  it("[CON-8] reading and pushing go to a container of the scope, in which no sandbox is ever made", async () => {
    const d = deployment();
    const inside = async (method: string) => (method === "resolve" ? { commit, default_branch: "main" } : null);
    d.machine(gitName("contract")).inside = inside;
    d.machine(gitName("other")).inside = inside;
    d.branches.push(`${commit} refs/heads/countersign/t`);
    await d.sandboxes.resolve(source, "HEAD");
    await d.sandboxes.publish({ source, branch: "countersign/t", commit, bundle: new Uint8Array() });
    await d.sandboxes.resolve({ ...source, scope_id: "other" }, "HEAD");
    expect([...d.machines.keys()].sort()).toEqual(["git/contract", "git/other"]);
    expect(d.machine(gitName("contract")).starts.length).toBe(1);
    const body = JSON.stringify({ id: "x", spec: spec("x") });
    for (const name of ["create", "exec", "openPty", "destroy", "checkout"]) {
      const init = { method: "POST", body };
      const answer = await d.box(gitName("contract")).answer(new Request(`http://container/v1/${name}`, init));
      expect([name, await answer.json()]).toMatchObject([name, { code: "bad_request" }]);
    }
    const foreign = JSON.stringify({ source: { ...source, scope_id: "other" }, ref: "HEAD" });
    const asked = new Request("http://container/v1/resolve", { method: "POST", body: foreign });
    expect(await (await d.box(gitName("contract")).answer(asked)).json()).toMatchObject({ code: "bad_request" });
    expect(await failure(d.sandboxes.resolve({ ...source, url: "file:///etc" }, "HEAD"))).toBe("repo_not_allowed");
    expect(await failure(d.sandboxes.resolve({ ...source, url: "http://github.com/a/b" }, "HEAD"))).toBe(
      "repo_not_allowed",
    );
    expect(await failure(d.sandboxes.resolve({ ...source, url: "https://10.0.0.1/a" }, "HEAD"))).toBe(
      "repo_not_allowed",
    );
  });

  it("[CON-11] an object that begins anew knows its running container again", async () => {
    const d = deployment();
    await d.sandboxes.create("one", spec("one"));
    d.anew();
    await d.sandboxes.create("one", spec("one"));
    await d.sandboxes.remove("one", "a.txt");
    expect(d.machine("one").starts.length).toBe(1);
    expect(d.machine("one").heard.at(-1)).toMatchObject({ method: "remove" });
  });
});
