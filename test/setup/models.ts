/** A model server for the tests in workerd: what a told text begins with is how it answers. */
import type { TestProject } from "vitest/node";
import { startModelServer } from "./model-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    modelUrl: string;
  }
}

export default async function (project: TestProject): Promise<() => Promise<void>> {
  const server = await startModelServer();
  server.script(({ messages }) => {
    const text = messages.at(-1)?.text ?? "";
    if (text.startsWith("call")) return { calls: [{ tool: "file_read", arguments: { path: "a.ts" } }] };
    if (text.startsWith("cut")) return { fails: "cut" };
    if (text.startsWith("wait")) return { fails: "rate_limited", retry_after_s: 3 };
    if (text.startsWith("slow")) return { fails: "slow", ms: 2_000 };
    return { words: `heard: ${text}`, usage: { input: 30, output: 4 } };
  });
  project.provide("modelUrl", server.url);
  return () => server.stop();
}
