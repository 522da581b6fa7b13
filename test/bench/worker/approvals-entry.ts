/** The measured Worker of decisions: one object, a scope's runtime. */
import { ApprovalsObject } from "./approvals-object.ts";
import { call } from "./call.ts";

export { ApprovalsObject };

export interface ApprovalsEnv {
  readonly APPROVALS: DurableObjectNamespace<ApprovalsObject>;
}
export default {
  fetch: (request: Request, env: ApprovalsEnv): Promise<Response> => call(request, { approvals: env.APPROVALS }),
};
