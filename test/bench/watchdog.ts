/**
 * Ends a run from a thread of its own: a client that spins keeps timers and signals of its own thread waiting
 * for ever, and a measurement nobody can stop is worse than none.
 */
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { killGroup, readRecords } from "../../src/dev/processes.ts";

interface Watch {
  readonly processesFile: string;
  readonly afterMs: number;
}

export function watch(given: Watch): { stop(): void } {
  const worker = new Worker(new URL(import.meta.url), { workerData: given });
  worker.unref();
  return { stop: () => void worker.terminate() };
}

if (!isMainThread) {
  // Only `watch` starts this file as a thread, with its own argument.
  const { processesFile, afterMs } = workerData as Watch;
  setTimeout(() => {
    for (const record of readRecords(processesFile)) killGroup(record);
    process.kill(process.pid, "SIGKILL");
  }, afterMs);
}
