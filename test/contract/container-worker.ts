/**
 * A Worker with the objects of containers and a door of its own for tests: each call of the sandboxes' port, with what
 * it is about in a header. The repositories it may reach are the test's.
 */
import { PoolObject } from "../../durable-objects/pool-object.ts";
import { SandboxObject as Product, SandboxOutbound } from "../../durable-objects/sandbox-object.ts";
import { ContainerBox } from "../../src/adapters/container-box.ts";
import { type ContainerObjects, containersAddress } from "../../src/adapters/container-sandboxes.ts";
import { type Bindings, provideWorld } from "../../src/env.ts";

type TestBindings = Bindings & { readonly TEST_GIT_ORIGIN: string };

export { PoolObject, SandboxOutbound };
export class SandboxObject extends Product {
  constructor(ctx: DurableObjectState, bindings: TestBindings) {
    provideWorld(bindings, {
      containerBox: (own) =>
        new ContainerBox({
          ...own,
          list: listOf(bindings),
          fetch: (input, init) => fetch(input, init),
          gitOrigin: bindings.TEST_GIT_ORIGIN,
          newSecret: () => `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll("-", ""),
          sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        }),
    });
    super(ctx, bindings);
  }
}

export default {
  async fetch(request, bindings): Promise<Response> {
    const { pathname } = new URL(request.url);
    const about = JSON.parse(request.headers.get("x-about") ?? "{}");
    // As in the product: the stubs are what the two interfaces say.
    const address = containersAddress(bindings.SANDBOXES as unknown as ContainerObjects, listOf(bindings));
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: await request.text() };
    return (await address.fetch?.(`http://container${pathname}`, init, about)) ?? new Response(null, { status: 500 });
  },
} satisfies ExportedHandler<TestBindings>;

function listOf(bindings: Bindings) {
  return bindings.POOL.getByName("pool") as unknown as Parameters<typeof containersAddress>[1];
}
