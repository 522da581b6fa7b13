/** The doors' view of the deployment, from its bindings. */
import { sha256Hex } from "../domain/canonical.ts";
import { type Bindings, worldOf } from "../env.ts";
import type { AgentDoor, RuntimeDoor } from "./doors.ts";
import type { DoorPorts, Feature } from "./ports.ts";
import { githubAdminPorts, githubFeature, githubPorts } from "./wiring-github.ts";

const scopesListed = 1_000;

export function doorPorts(bindings: Bindings): DoorPorts {
  const world = worldOf(bindings);
  return {
    github: githubPorts(bindings),
    githubAdmin: githubAdminPorts(bindings),
    // The objects declare that they implement these doors, so their stubs do.
    runtime: (scope) => bindings.RUNTIME.getByName(`${scope}/runtime`) as unknown as RuntimeDoor,
    agent: (scope, name) => bindings.AGENT.getByName(`${scope}/${name}`) as unknown as AgentDoor,
    resolveRepo: (source, ref) => world.sandboxes.resolve(source, ref),
    artifacts: world.artifacts,
    audit: (scope_id, query) => world.records.auditPage({ scope_id, ...query }),
    records: world.records,
    verifySignature: async (kid, input, signature) => world.signer?.verify(kid, input, signature) ?? false,
    addScope: ({ scope_id, name }) =>
      world.records.addScope({ id: scope_id, name, created_at: new Date().toISOString() }),
    scopes: async () => {
      const page = await world.records.scopes(null, scopesListed);
      return page.items.map(({ id, name, created_at }) => ({ scope_id: id, name, created_at }));
    },
    random: () => crypto.getRandomValues(new Uint8Array(32)),
    now: () => Date.now(),
    scopeMacKey: world.scopeMacKey ?? crypto.getRandomValues(new Uint8Array(32)),
    adminTokenHash: world.adminToken === null ? "" : sha256Hex(world.adminToken),
    localHost: world.localHost,
    gitOrigin: world.gitOrigin,
    webhookLoopback: world.webhookLoopback,
    executorMind: world.models.configured("executor").length > 0,
    publicKeys: world.signer?.jwks().keys ?? [],
    features: async () => [
      ...world.missing.map((lack) => ({ ...lack, ok: false })),
      ...githubFeature(world),
      await sandboxHealth(bindings),
      await recordsHealth(bindings),
    ],
    assets: (request) => bindings.ASSETS.fetch(request),
  };
}

async function sandboxHealth(bindings: Bindings): Promise<Feature> {
  try {
    await worldOf(bindings).sandboxes.sandboxes();
    // No sandbox has this name; asking it starts nothing.
    if (bindings.SANDBOX === "container" && !(await bindings.SANDBOXES?.getByName("git/healthz").configured()))
      return { name: "sandbox", ok: false, detail: "wrangler.toml configures no [[containers]] for SandboxObject." };
    return {
      name: "sandbox",
      ok: true,
      detail: bindings.SANDBOX === "container" ? "Each sandbox has a container." : "The sandbox host answers.",
    };
  } catch (error) {
    return {
      name: "sandbox",
      ok: false,
      detail: error instanceof Error ? error.message : "The sandbox host does not answer.",
    };
  }
}
async function recordsHealth(bindings: Bindings): Promise<Feature> {
  try {
    await worldOf(bindings).records.scopes(null, 1);
    return { name: "records", ok: true, detail: "D1 answers." };
  } catch {
    return {
      name: "records",
      ok: false,
      detail: "D1 does not answer: audit search, new scopes and new sign-ins wait. Are its migrations applied?",
    };
  }
}
