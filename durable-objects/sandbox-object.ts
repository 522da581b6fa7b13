/**
 * The object of one container: a sandbox's, by its id, or the one of a scope's git. What it does stands in
 * `src/adapters/container-box.ts`; here it is joined to the platform's container, storage and handlers. [CON-*]
 */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { type Bindings, worldOf } from "../src/env.ts";

type Box = ReturnType<ReturnType<typeof worldOf>["containerBox"]>;
const keptAs = "container";

export class SandboxObject extends DurableObject<Bindings> {
  readonly #box: Box;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    const name = ctx.id.name ?? "";
    this.#box = worldOf(bindings).containerBox({
      name,
      machine: ctx.container ?? null,
      outbound: () => outboundOf(ctx, name),
      keep: {
        get: () => ctx.storage.get(keptAs),
        put: (document) => ctx.storage.put(keptAs, document),
        clear: () => ctx.storage.deleteAll(),
      },
    });
    // Beside what is asked meanwhile, an end above all: a platform that does not take it is no reason to answer nothing.
    if (ctx.container?.running) ctx.waitUntil(this.#box.resume().catch((error) => console.error(error)));
  }

  override fetch(request: Request): Promise<Response> {
    return this.#box.answer(request);
  }
  /** Whether the deployment gives these objects containers. */
  async configured(): Promise<boolean> {
    return this.ctx.container !== undefined;
  }
  /** A call of its own: nothing that comes out of a container is ever taken for a request to it. */
  outbound(request: Request): Promise<Response> {
    return this.#box.outbound(request);
  }
}

/** What a container's requests come to. Its object says what becomes of them. */
export class SandboxOutbound extends WorkerEntrypoint<Bindings, { name: string }> {
  override async fetch(request: Request): Promise<Response> {
    const { SANDBOXES } = this.env;
    if (SANDBOXES === undefined) return new Response(null, { status: 503 });
    // The stub's type multiplies that of every part of an answer; it is the object's own.
    return (await SANDBOXES.getByName(this.ctx.props.name).outbound(request)) as unknown as Response;
  }
}

function outboundOf(ctx: DurableObjectState, name: string): Fetcher {
  // The platform lists what the Worker exports; its type cannot know this Worker's.
  const { SandboxOutbound: made } = ctx.exports as unknown as {
    SandboxOutbound(options: { props: { name: string } }): Fetcher;
  };
  return made({ props: { name } });
}
