/** The measured Worker: the product's queue in one object, and a sender and a consumer. */
import { BenchObject } from "./bench-object.ts";
import { call } from "./call.ts";
import { ConsumerObject, SenderObject } from "./pick-up.ts";

export { BenchObject, ConsumerObject, SenderObject };

export interface BenchEnv {
  readonly BENCH: DurableObjectNamespace<BenchObject>;
  readonly SENDER: DurableObjectNamespace<SenderObject>;
  readonly CONSUMER: DurableObjectNamespace<ConsumerObject>;
}

export default {
  fetch: (request: Request, env: BenchEnv): Promise<Response> =>
    call(request, { bench: env.BENCH, sender: env.SENDER, consumer: env.CONSUMER }),
};
