/** The little of the package `agents` that is measured. The project does not install it: the bench does. */
declare module "agents" {
  import { DurableObject } from "cloudflare:workers";

  export class Agent<Env> extends DurableObject<Env> {
    /** Durable before it resolves only in so far as the object's answer waits for the disk. */
    queue(callback: string, payload: unknown): Promise<unknown>;
  }
}
