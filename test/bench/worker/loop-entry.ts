/** The measured Worker of the loop: one object, an agent's. */
import { call } from "./call.ts";
import { LoopObject } from "./loop-object.ts";

export { LoopObject };

export interface LoopEnv {
  readonly LOOP: DurableObjectNamespace<LoopObject>;
}
export default {
  fetch: (request: Request, env: LoopEnv): Promise<Response> => call(request, { loop: env.LOOP }),
};
