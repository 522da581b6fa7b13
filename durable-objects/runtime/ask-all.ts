/** Every agent asked the same at once. Who does not answer in time is named, and keeps the others' answers from nobody. */
import { limits } from "../../src/limits.ts";
import { inTime } from "../in-time.ts";
import type { RemoteAgent } from "../remote.ts";

export async function askAll<T>(
  names: readonly string[],
  agent: (name: string) => RemoteAgent,
  ask: (agent: RemoteAgent) => Promise<T>,
): Promise<{ answers: T[]; silent: string[] }> {
  const asked = await Promise.allSettled(names.map((name) => inTime(ask(agent(name)), limits.records_answer_ms, name)));
  return {
    answers: asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
    silent: names.filter((_, at) => asked[at]?.status === "rejected"),
  };
}
