/** Stands in for the module `cloudflare:workers`: as much of it as the objects import. */
export class DurableObject<Env = unknown> {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  constructor(ctx: DurableObjectState, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }
}
/** Imported with the objects, and never made: nothing simulated has containers. */
export class WorkerEntrypoint {}
