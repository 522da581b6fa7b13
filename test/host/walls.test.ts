/** What a process in a sandbox cannot do, tried through the host as the product starts it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finish, shell } from "../contract/programs.ts";
import { eventually, World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.open({ SANDBOX_DISK_MB: "200" });
});
afterAll(() => world?.close());

/** Whether a process with this word in its command line is alive on the machine. */
function alive(word: string): boolean {
  const all = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
  return all.split("\n").some((line) => line.includes(word) && !line.startsWith("ps "));
}

describe.concurrent("the walls of a sandbox", () => {
  it("[SBX-20] files of the host outside the workspace cannot be read or written", async () => {
    const id = await world.fresh();
    const neighbour = await world.fresh();
    const secret = join(mkdtempSync(join(tmpdir(), "countersign-secret-")), "secret");
    writeFileSync(secret, "host secret\n", { mode: 0o644 });
    const paths = [
      secret,
      world.folder.state,
      world.work(neighbour),
      world.source,
      "/root",
      "/etc/shadow",
      "/proc/1/root/root",
      process.cwd(),
    ];
    const script = paths.map((path) => `cat ${path} 2>/dev/null || ls ${path} 2>/dev/null || echo no`).join("\n");
    expect((await world.run(id, script)).output).toBe("no\n".repeat(paths.length));
    const writes = ["/usr/x", "/etc/x", "/opt/x", "/x", "/dev/x", "/bin/x", "/run/x", "/proc/sys/kernel/core_pattern"];
    const tries = writes.map((path) => `(echo x > ${path}) 2>/dev/null && echo wrote ${path} || true`).join("\n");
    expect((await world.run(id, tries)).output).toBe("");
    expect(
      (
        await world.run(
          id,
          "id -u; grep -i cap /proc/self/status | sort -u -k2 | wc -l; touch /tmp/x /home/y /dev/shm/z",
        )
      ).outcome,
    ).toMatchObject({ exit_code: 0 });
    rmSync(join(secret, ".."), { recursive: true });
  });

  it("[SBX-20] it runs as an unprivileged user without capabilities, and mounts and user changes fail", async () => {
    const id = await world.fresh();
    const { output } = await world.run(
      id,
      "id -u; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; mount -t tmpfs x /tmp 2>/dev/null || echo no",
    );
    expect(output).toBe("1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nno\n");
    expect(output).not.toContain("yes");
  });

  it("[SBX-20] nothing of the host's environment or open files reaches it", async () => {
    const id = await world.fresh();
    const { output } = await world.run(id, "env; ls /proc/self/fd; cat /proc/1/environ | tr '\\0' '\\n'");
    expect(output).not.toContain(world.host.secret);
    expect(output).not.toMatch(/SANDBOX|REPO_ROOTS/);
    expect(output).not.toMatch(/^([4-9]|\d\d+)$/m);
  });

  it("[SBX-21] there is no way to the network, nor to any port of the host", async () => {
    const id = await world.fresh();
    const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const open = typeof address === "object" ? address?.port : 0;
    const own = new URL(world.host.url).port;
    const tries = [`127.0.0.1/${open}`, `127.0.0.1/${own}`, "1.1.1.1/443", "10.0.0.1/80", "169.254.169.254/80"];
    const script = tries
      .map((target) => `(exec 3<>/dev/tcp/${target}) 2>/dev/null && echo reached ${target} || true`)
      .join("\n");
    expect((await world.run(id, `${script}\ncat /proc/net/dev | wc -l`)).output).toBe("3\n");
    server.close();
  });

  it("[SBX-22] what a call leaves behind dies with it, and everything dies with the sandbox", async () => {
    const id = await world.fresh();
    const word = `sleep-${process.pid}-${Math.trunc(performance.now())}`;
    const hide = `exec -a ${word} sleep 300`;
    await world.run(id, `(setsid bash -c '${hide}' & ) ; nohup bash -c '${hide}' > /dev/null 2>&1 & disown; sleep 0.2`);
    expect(await eventually(() => !alive(word))).toBe(true);
    await world.sandboxes.exec(id, "stay", {
      argv: shell(`(setsid setsid bash -c '${hide}' &) ; trap '' TERM HUP INT; ${hide}`),
      timeout_ms: 60_000,
    });
    await world.sandboxes.openPty(id, "t", { argv: ["bash", "-c", hide], cols: 80, rows: 24, timeout_ms: 60_000 });
    expect(await eventually(() => alive(word))).toBe(true);
    await world.sandboxes.destroy(id);
    expect(await eventually(() => !alive(word))).toBe(true);
    expect(statSync(world.work(id), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("[SBX-22] a sandbox whose files resist removal is removed all the same", async () => {
    const id = await world.fresh();
    await world.run(
      id,
      "mkdir -p a/b; touch a/b/c; chmod 000 a/b a; cd /tmp; d=/workspace/d; mkdir $d; cd $d; for i in $(seq 1 300); do mkdir dddddddddddddddddddd; cd dddddddddddddddddddd; done",
    );
    await world.sandboxes.destroy(id);
    expect(statSync(world.work(id), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("[SBX-23] a fork bomb ends at the limit of processes and the host answers meanwhile", async () => {
    const id = await world.fresh({ processes: 64 });
    const bomb = "bomb() { bomb | bomb & }; bomb; sleep 300";
    await world.sandboxes.exec(id, "bomb", { argv: ["bash", "-c", bomb], timeout_ms: 2_000 });
    expect((await world.sandboxes.sandboxes()).length).toBeGreaterThan(0);
    expect((await world.sandboxes.read(id, "a.txt")).byteLength).toBeGreaterThan(0);
    expect((await finish(world.sandboxes, id, "bomb")).outcome.state).toMatch(/timed_out|exited/);
    expect((await world.run(id, "echo still here")).output).toBe("still here\n");
  });

  it("[SBX-23] two sandboxes of a scope have their limits of processes each for itself", async () => {
    const [one, two] = [await world.fresh({ processes: 40 }), await world.fresh({ processes: 40 })];
    const many = "for i in $(seq 1 25); do sleep 300 & done; echo all";
    await world.sandboxes.exec(one, "many", { argv: shell(`${many}; wait`), timeout_ms: 30_000 });
    expect(await eventually(async () => (await world.sandboxes.wait(one, "many", 0, 0)).chunk.byteLength > 0)).toBe(
      true,
    );
    expect((await world.run(two, many)).output).toBe("all\n");
    await world.sandboxes.kill(one, "many");
  });

  it("[SBX-23] a memory hog is ended and the host is not", async () => {
    const id = await world.fresh({ memory_mb: 128 });
    const { output, outcome } = await world.run(id, "head -c 400000000 /dev/zero | tail -c 400000000 | wc -c");
    expect(output).not.toMatch(/^400000000$/m);
    expect(outcome).toMatchObject({ state: "exited" });
    expect((await world.run(id, "echo still here")).output).toBe("still here\n");
  });

  it("[SBX-23] a file ends at its largest size, and so does what is thrown away", async () => {
    const id = await world.fresh({ file_mb: 8 });
    const { outcome } = await world.run(id, "dd if=/dev/zero of=huge bs=1M count=10240 status=none");
    expect(outcome).not.toMatchObject({ exit_code: 0 });
    expect(statSync(join(world.work(id), "huge")).size).toBeLessThanOrEqual(8 * 1024 * 1024);
    const { output } = await world.run(
      id,
      "df --output=size -B1M /tmp /home /dev/shm | tail -n +2 | sort -nr | head -1",
    );
    expect(Number(output)).toBeLessThanOrEqual(1024);
  });

  it("[SBX-23] a workspace that takes more than its share of the disk has its processes ended", async () => {
    const id = await world.fresh({ file_mb: 16 });
    const { output, outcome } = await world.run(
      id,
      "for i in $(seq 1 30); do head -c 10000000 /dev/zero > f$i; done; sleep 300",
      {
        timeout_ms: 120_000,
      },
    );
    expect(output).toMatch(/\[ended: the workspace holds \d+ MB, and 200 MB are allowed\]/);
    expect(outcome).toMatchObject({ state: "exited", signal: "SIGKILL" });
  });

  it("[SBX-24] a program that is not there fails as in a shell, and a folder that is not there too", async () => {
    const id = await world.fresh();
    await world.sandboxes.exec(id, "none", { argv: ["no-such-program"], timeout_ms: 5_000 });
    expect((await finish(world.sandboxes, id, "none")).outcome).toMatchObject({ state: "exited", exit_code: 127 });
    await world.sandboxes.exec(id, "nowhere", { argv: ["true"], cwd: "nowhere", timeout_ms: 5_000 });
    expect((await finish(world.sandboxes, id, "nowhere")).outcome).toMatchObject({ state: "exited", exit_code: 126 });
  });

  it("[SBX-24] git works inside on a clone of its own", async () => {
    const id = await world.fresh();
    const { output, outcome } = await world.run(
      id,
      "git log --format=%s; git status --porcelain; echo x > n; git add n; git commit -qm mine; git log --format=%s -1; echo y > /dev/stderr",
    );
    expect(outcome).toMatchObject({ exit_code: 0 });
    expect(output).toBe("files\nmine\ny\n");
    expect((await world.sandboxes.snapshot(id)).files.map((file) => file.path)).toEqual(["n"]);
  });
});
