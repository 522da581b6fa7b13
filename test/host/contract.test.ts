/** The local host keeps the contract of sandboxes, every clause of it. */
import { join } from "node:path";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import { sandboxContract } from "../contract/sandboxes.ts";
import { git, hostFolder, makeSample, startHost } from "../setup/host.ts";

sandboxContract("local host", async () => {
  const folder = hostFolder();
  const source = join(folder.repos, "sample");
  const { main, other } = makeSample(source);
  const host = await startHost(folder);
  const tip = async (branch: string) =>
    git(source, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || null;
  const close = async () => {
    await host.kill();
    folder.remove();
  };
  return { sandboxes: new HostSandboxes(host), source, main, other, tip, close };
}, []);
