/** GitHub for the tests in workerd: a repository with one issue, and what a deployment is given to find it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { type GithubServer, startGithubServer } from "./github-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** JSON of `{bindings, repo, issue, doings}`; `doings` is where a test has things done at GitHub, which it cannot reach itself. */
    github: string;
  }
}

export default async function (project: TestProject): Promise<() => Promise<void>> {
  const server = await startGithubServer();
  const full_name = "acme/shop";
  const branches = { main: "a".repeat(40), "countersign/t1": "b".repeat(40) };
  const made = server.owners.makeRepo({ full_name, branches, people: { alice: "maintain" } });
  const issue = await server.people.openIssue({ repo: full_name, by: "bob", title: "Broken", body: "It is." });
  const repo = { id: made.id, installation_id: server.state.installationOf(made)?.id, full_name };
  const doings = await doingsOf(server);
  project.provide("github", JSON.stringify({ bindings: server.bindings(), repo, issue, doings: doings.url }));
  return async () => {
    await doings.stop();
    await server.stop();
  };
}

/** `POST /<doing>` with what it takes as JSON. */
async function doingsOf({ owners, hooks, violations }: GithubServer) {
  const doings: Readonly<
    Record<string, (given: { account: string; id: number; repo: string; ms: number }) => unknown>
  > = {
    install: ({ account }) => owners.install(account).id,
    makeRepo: ({ repo, id }) => owners.makeRepo({ full_name: repo, installation: id }).id,
    suspend: ({ id }) => owners.suspend(id, "alice"),
    unsuspend: ({ id }) => owners.suspend(id, "alice", false),
    uninstall: ({ id }) => owners.uninstall(id, "alice"),
    rename: ({ repo, account }) => owners.rename(repo, account, "alice"),
    // As if all of them were sent so much earlier.
    age: ({ ms }) => {
      const earlier = (at: string) => new Date(Date.parse(at) - ms).toISOString();
      for (const [at, one] of hooks.deliveries.entries())
        hooks.deliveries[at] = { ...one, delivered_at: earlier(one.delivered_at) };
    },
    deliveries: () => hooks.deliveries.map(({ guid, redelivery }) => ({ guid, redelivery })),
    violations,
  };
  const control = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer); // A request without an encoding gives bytes.
    const done = await doings[request.url?.slice(1) ?? ""]?.(JSON.parse(Buffer.concat(parts).toString()));
    response.end(JSON.stringify(done ?? null));
  });
  await new Promise<void>((done) => control.listen(0, "127.0.0.1", done));
  const { port } = control.address() as AddressInfo; // It listens on a port.
  const stop = () => {
    control.closeAllConnections();
    return new Promise<void>((done) => control.close(() => done()));
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}
