/** GitHub's doors as the bindings make them: who is asked which scope an event belongs to, who keeps it, who assigns. [GHI-38] */
import { type Bindings, type World, worldOf } from "../env.ts";
import type { GithubAdminDoor, GithubObjectDoor, GithubRuntimeDoor } from "./doors.ts";
import type { Feature, GithubAdminPorts, GithubPorts } from "./ports.ts";

// The objects declare that they implement these doors, so their stubs do.
function objectOf(bindings: Bindings): GithubObjectDoor & GithubAdminDoor {
  return bindings.GITHUB.getByName("github") as unknown as GithubObjectDoor & GithubAdminDoor;
}
function runtimeOf(bindings: Bindings, scope_id: string): GithubRuntimeDoor {
  return bindings.RUNTIME.getByName(`${scope_id}/runtime`) as unknown as GithubRuntimeDoor;
}

export function githubPorts(bindings: Bindings): GithubPorts {
  const config = worldOf(bindings).githubConfig;
  const object = () => objectOf(bindings);
  return {
    secrets: config?.webhook_secrets ?? [],
    identity: config,
    route: async (installation_id, repository) => {
      const scope_id = await object().scopeOf(installation_id, repository);
      if (scope_id === null) return null;
      const link = await runtimeOf(bindings, scope_id).githubLink(scope_id, repository.id);
      return link === null ? null : { scope_id, repository: link.repository, triggers: link.triggers };
    },
    installation: (event, delivery_id) => object().installation(event, delivery_id),
    deliver: (scope_id, delivery, body_hash) =>
      runtimeOf(bindings, scope_id).githubDelivery(scope_id, delivery, body_hash),
    ignored: (scope_id, why) =>
      scope_id === null ? object().ignored(why) : runtimeOf(bindings, scope_id).githubIgnored(scope_id, why),
  };
}

export function githubAdminPorts(bindings: Bindings): GithubAdminPorts {
  const world = worldOf(bindings);
  const config = world.githubConfig;
  const object = () => objectOf(bindings);
  return {
    app: config === null ? null : { slug: config.slug, url: config.url, default_scope_id: config.scope },
    lacks: lacksOf(world),
    scopeStands: async (scope_id) => (await world.records.scope(scope_id)) !== null,
    installations: () => object().installations(),
    assign: (installation_id, scope_id) => object().assign(installation_id, scope_id),
    assignRepository: (id, scope_id) => object().assignRepository(id, scope_id),
    troubles: () => object().troubles(),
    counts: () => object().counts(),
    links: (scope_id) => runtimeOf(bindings, scope_id).githubLinks(scope_id),
    setTriggers: (scope_id, repository_id, triggers, by) =>
      runtimeOf(bindings, scope_id).githubTriggers(scope_id, repository_id, triggers, by),
  };
}

function lacksOf({ missing }: Pick<World, "missing">): World["missing"] {
  return missing.filter(({ name }) => name.startsWith("GITHUB_") || name === "PUBLIC_URL");
}

/** What is named and cannot be used stands among what the deployment lacks. [GHL-47] */
export function githubFeature(world: Pick<World, "missing" | "githubConfig">): readonly Feature[] {
  const { githubConfig: config } = world;
  if (config !== null) return [{ name: "github", ok: true, detail: `The GitHub App ${config.slug} is set up.` }];
  if (lacksOf(world).length > 0) return [];
  const detail = "No task comes from GitHub, and nothing is shown there: `countersign github setup` makes the App.";
  return [{ name: "github", ok: false, detail, optional: true }];
}
