/** Sandboxes where none are configured: every call fails with what to configure. */
import { type Sandboxes, SandboxFailure } from "../agents/ports.ts";

export function absentSandboxes(why: string): Sandboxes {
  const refuse = () => Promise.reject(new SandboxFailure("unreachable", why, true));
  return {
    create: refuse,
    checkout: refuse,
    exec: refuse,
    wait: refuse,
    outcome: refuse,
    kill: refuse,
    read: refuse,
    write: refuse,
    list: refuse,
    remove: refuse,
    openPty: refuse,
    writePty: refuse,
    resizePty: refuse,
    readPty: refuse,
    snapshot: refuse,
    restore: refuse,
    merge: refuse,
    destroy: refuse,
    sandboxes: refuse,
    resolve: refuse,
    publish: refuse,
  };
}
