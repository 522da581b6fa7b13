/**
 * Sandboxes in containers: the same calls as to a sandbox host, each to the object of its own container. Reading a
 * repository and pushing to it belong to no sandbox: they go to a container of the scope in which no agent ever runs.
 */
import { SandboxFailure } from "../agents/ports.ts";
import type { HostAddress } from "./host-sandboxes.ts";

/** Every sandbox of the deployment, from before its container is started until after it has ended. [CON-6] */
export interface ContainerList {
  /** False when there are too many. */
  keepSandbox(sandbox: ListedSandbox): Promise<boolean>;
  forgetSandbox(id: string): Promise<void>;
  sandboxes(): Promise<readonly ListedSandbox[]>;
}
export interface ListedSandbox {
  readonly id: string;
  readonly scope_id: string;
  readonly owner: string;
}
/** The objects, by their names. */
export interface ContainerObjects {
  getByName(name: string): { fetch(url: string, init: RequestInit): Promise<Response> };
}

// No sandbox's id holds a slash.
const gitPrefix = "git/";

export function gitName(scope_id: string): string {
  return `${gitPrefix}${scope_id}`;
}
/** The scope whose git a container is for; null for a sandbox's. */
export function gitScopeOf(name: string): string | null {
  return name.startsWith(gitPrefix) ? name.slice(gitPrefix.length) : null;
}

/** What `HostSandboxes` needs in order to speak to containers. The secret is each container's own, and its object's. */
export function containersAddress(objects: ContainerObjects, list: ContainerList): HostAddress {
  return {
    url: "http://container",
    secret: "",
    async fetch(url, init, { id, source }) {
      const name = id ?? (source === undefined ? null : gitName(source.scope_id));
      if (name !== null) return objects.getByName(name).fetch(url, init);
      if (new URL(url).pathname === "/v1/sandboxes") return Response.json(await list.sandboxes());
      throw new SandboxFailure("bad_request", "this is asked of no container");
    },
  };
}
