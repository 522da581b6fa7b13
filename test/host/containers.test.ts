/** Sandboxes in containers keep the contract of sandboxes, every clause of it; the repository stands behind the gate. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxContract } from "../contract/sandboxes.ts";
import { FakeContainers } from "../setup/containers.ts";
import { GitServer } from "../setup/git-server.ts";
import { git, makeSample } from "../setup/host.ts";

sandboxContract("containers", async () => {
  const root = mkdtempSync(join(tmpdir(), "countersign-containers-"));
  const { main, other } = makeSample(join(root, "sample"));
  const bare = join(root, "acme", "widgets.git");
  mkdirSync(join(root, "acme"));
  git(root, "clone", "--quiet", "--bare", join(root, "sample"), bare);
  const server = await GitServer.open({
    root,
    allow: ({ repository }) => (repository === "acme/widgets" ? "ok" : "hidden"),
  });
  const containers = new FakeContainers({ gitOrigin: server.url });
  const tip = async (branch: string) =>
    git(bare, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || null;
  const close = async () => {
    await containers.close();
    await server.close();
    rmSync(root, { recursive: true, force: true });
  };
  const source = `${server.url}/acme/widgets`;
  return { sandboxes: containers.sandboxes(), source, main, other, tip, close };
}, []);
