/** The network of setup: a list of hosts through the proxy, and nothing besides. */
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeRepo } from "../setup/host.ts";
import { registryUrl } from "../setup/registry.ts";
import { sourceOf, World } from "./world.ts";

/** Stands for the machine's own proxy: it answers for every host, and remembers which were asked for. */
let upstream: Server;
const asked: string[] = [];
let world: World;
beforeAll(async () => {
  upstream = createServer();
  upstream.on("connect", (request, socket: Duplex) => {
    asked.push(request.url ?? "");
    socket.on("error", () => {});
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.once("data", () => socket.end(`hello from ${request.url}\n`));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const address = upstream.address();
  const port = typeof address === "object" ? address?.port : 0;
  world = await World.open({ HTTPS_PROXY: `http://127.0.0.1:${port}`, https_proxy: "" });
});
afterAll(async () => {
  await world?.close();
  upstream.close();
});

/** Asks the proxy for a tunnel by hand, and speaks into it. */
const tunnel = (target: string) =>
  `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT ${target} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; read -r line <&3; echo "$line"; if [[ $line == *200* ]]; then printf 'hi\\n' >&3; cat <&3; fi; exec 3>&-`;

describe("the network of setup", () => {
  it("[SBX-33] an allowed host is reached on port 443, by the machine's own proxy where there is one", async () => {
    const id = await world.fresh();
    const { output } = await world.run(id, tunnel("registry.example:443"), {
      network: { hosts: ["registry.example"], cache: [] },
    });
    expect(output).toContain("200");
    expect(output).toContain("hello from registry.example:443");
    expect(asked).toEqual(["registry.example:443"]);
  });

  it("[SBX-33] another host, another port, another verb and another scope's list are refused", async () => {
    const id = await world.fresh();
    asked.length = 0;
    const network = { hosts: ["registry.example"], cache: [] };
    for (const target of [
      "other.example:443",
      "registry.example:80",
      "registry.example.evil:443",
      "127.0.0.1:443",
      `127.0.0.1:${new URL(world.host.url).port}`,
    ]) {
      expect((await world.run(id, tunnel(target), { network })).output).toContain("403");
    }
    const get =
      "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://registry.example/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; head -1 <&3";
    expect((await world.run(id, get, { network })).output).toContain("403");
    expect(
      (await world.run(id, tunnel("registry.example:443"), { network: { hosts: [], cache: [] } })).output,
    ).toContain("403");
    expect(asked).toEqual([]);
  });

  it("[SBX-33] it ends with the call it was opened for, and no other process has it", async () => {
    const id = await world.fresh();
    const network = { hosts: ["registry.example"], cache: [] };
    await world.run(id, "(setsid sleep 300 &); echo x", { network });
    const { output } = await world.run(
      id,
      `env | grep -i proxy || true; ls /run; (exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null && echo open || echo closed`,
    );
    expect(output).toBe("closed\n");
    expect(readdirSync(join(world.folder.state, "scratch")).filter((name) => name.endsWith(".sock"))).toEqual([]);
  });

  it("[SBX-33] a word that names no host here is refused before anything runs", async () => {
    const id = await world.fresh();
    await world.sandboxes.exec(id, "c", { argv: ["true"], timeout_ms: 5_000, network: { hosts: [], cache: ["none"] } });
    expect(await world.sandboxes.outcome(id, "c")).toMatchObject({
      state: "never_started",
      reason: expect.stringContaining("none"),
    });
  });

  it("[SBX-34] a cache belongs to its scope, and is written only before anything but setup ran", async () => {
    const write = { network: { hosts: [], cache: ["npm"] } };
    const script =
      'echo "$npm_config_cache"; ls "$npm_config_cache" 2>/dev/null || true; mkdir -p "$npm_config_cache"; touch "$npm_config_cache/$MARK"';
    const marked = (mark: string) => script.replaceAll("$MARK", mark);
    const first = await world.fresh();
    expect((await world.run(first, marked("one"), write)).output).toBe("/cache/npm\n");
    const second = await world.fresh();
    expect((await world.run(second, marked("two"), write)).output).toBe("/cache/npm\none\n");
    await world.run(second, "echo the agent was here > x");
    expect((await world.run(second, marked("three"), write)).output).toBe("/tmp/cache/npm\n");
    const stranger = await world.fresh({ scope_id: "stranger" });
    expect((await world.run(stranger, marked("four"), write)).output).toBe("/cache/npm\n");
    const third = await world.fresh();
    expect((await world.run(third, marked("five"), write)).output).toBe("/cache/npm\none\ntwo\n");
  });
});

describe.skipIf((await registryUrl()) === null)("with a package registry", () => {
  it("[SBX-35] npm ci works with the host's own settings, and then the network is cut", async () => {
    const real = await World.open();
    const source = join(real.folder.repos, "package");
    const commit = makeRepo(source, {
      "package.json": '{"name":"x","version":"1.0.0","dependencies":{"is-number":"7.0.0"}}',
      "package-lock.json": JSON.stringify({
        name: "x",
        version: "1.0.0",
        lockfileVersion: 3,
        packages: {
          "": { name: "x", version: "1.0.0", dependencies: { "is-number": "7.0.0" } },
          "node_modules/is-number": {
            version: "7.0.0",
            integrity:
              "sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==",
          },
        },
      }),
      ".gitignore": "node_modules\n",
    });
    const id = await real.empty();
    await real.sandboxes.checkout(id, sourceOf(source), commit);
    const setup = await real.run(id, "npm ci --no-audit && node -p \"require('is-number')(5)\"", {
      timeout_ms: 50_000,
      network: { hosts: ["npm"], cache: ["npm"] },
    });
    expect(setup.outcome).toMatchObject({ state: "exited", exit_code: 0 });
    expect(setup.output).toMatch(/true\n$/);
    expect((await real.sandboxes.snapshot(id)).files).toEqual([]);
    const cut = await real.run(id, "npm view is-odd version --fetch-retries=0 2>&1 | tail -1; ls /cache 2>&1");
    expect(cut.outcome).not.toMatchObject({ exit_code: 0 });
    await real.close();
  });
});
