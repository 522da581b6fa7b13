/** Lays a patch on the workspace, all of it or nothing. Laying it again changes nothing. */
import { createHash } from "node:crypto";
import { HostFailure } from "./failure.ts";
import { lastLines, type WorkOptions, workGit } from "./git.ts";
import type { Host } from "./host.ts";
import type { Input } from "./protocol.ts";
import { baseline } from "./snapshot.ts";

export async function restore(host: Host, { id }: Input<"restore">, patch: Uint8Array): Promise<void> {
  const sandbox = host.get(id);
  await sandbox.inLine(async () => {
    baseline(sandbox);
    const hash = createHash("sha256").update(patch).digest("hex");
    if (patch.length === 0 || sandbox.record.restored.includes(hash)) return;
    sandbox.touch();
    const options: WorkOptions = { workspace: "write", stdin: patch, env: { GIT_WORK_TREE: "/workspace" } };
    const apply = (...args: string[]) =>
      workGit(host, sandbox, ["apply", "--binary", "--whitespace=nowarn", ...args, "-"], options);
    const forward = await apply();
    // The host may have died between laying it and writing that down: then it comes off cleanly.
    if (forward.code !== 0 && (await apply("--reverse", "--check")).code !== 0) {
      throw new HostFailure("patch_failed", `the patch does not apply: git said: ${lastLines(forward.stderr)}`);
    }
    sandbox.update({ restored: [...sandbox.record.restored, hash] });
  });
}
