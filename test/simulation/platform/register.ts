/** Lets plain Node resolve `cloudflare:workers`. To be imported before anything that imports an object's class. */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "cloudflare:workers"
      ? { url: new URL("./cloudflare-workers.ts", import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
