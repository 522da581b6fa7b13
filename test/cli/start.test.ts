import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { branchProblem, commitOf } from "../../src/dev/demo-check.ts";
import { StartError } from "../../src/dev/files.ts";
import { parseFlags } from "../../src/dev/flags.ts";
import { safeGitEnv } from "../../src/dev/git.ts";
import { type Host, startHost } from "../../src/dev/host.ts";
import { failureLine, openLog, reasonIn } from "../../src/dev/log.ts";
import { pageIsStale } from "../../src/dev/page.ts";
import { familyOf, type Machine, planFor, whyNot } from "../../src/dev/prerequisites.ts";
import { processList } from "../../src/dev/processes.ts";
import { project } from "../../src/dev/project.ts";
import { makeSample, samplePlan } from "../../src/dev/sample.ts";
import { namedRoots, repoRoots } from "../../src/dev/service.ts";
import { countInto } from "../../src/dev/settled-reporter.ts";
import { lanesFor, summary, tallyOf } from "../../src/dev/test.ts";
import { freePort, migrationsMark } from "../../src/dev/worker.ts";
import { parsePlan } from "../../src/domain/plan.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-start-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("flags", () => {
  it("[START-5] have sane defaults and take what they name", () => {
    expect(parseFlags([])).toEqual({
      kind: "start",
      flags: { port: 8787, state: ".countersign/state", seed: true, json: false, repoRoots: [], model: null },
    });
    const all = ["--port", "0", "--state=x", "--no-seed", "--json", "--repo-root", "/a", "--repo-root", "/b"];
    expect(parseFlags(all)).toEqual({
      kind: "start",
      flags: { port: 0, state: "x", seed: false, json: true, repoRoots: ["/a", "/b"], model: null },
    });
    expect(parseFlags(["--help", "--port", "1"])).toEqual({ kind: "help" });
  });

  it("[START-5] that nobody knows, or that say nonsense, are usage errors", () => {
    for (const args of [
      ["--bogus"],
      ["stray"],
      ["--port"],
      ["--port", "x"],
      ["--port", "65536"],
      ["--port", "-1"],
      ["--seed=no"],
      ["--json=1"],
    ])
      expect(parseFlags(args).kind, args.join(" ")).toBe("usage");
  });

  it("[START-15] a --repo-root that is no folder is named, one that stands is made absolute", () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    for (const dir of ["/nonexist", file])
      expect(() => namedRoots([folder, dir])).toThrow(
        new StartError(`--repo-root ${dir}: there is no folder ${dir}. Name a folder that stands`),
      );
    mkdirSync(join(folder, "a:b"));
    expect(() => namedRoots([join(folder, "a:b")])).toThrow("colon");
    expect(namedRoots([folder, "."])).toEqual([folder, process.cwd()]);
  });

  it("[START-15] ends the start in one line, before anything is begun", () => {
    const state = join(folder, "state");
    const args = [join(project, "src/dev/start.ts"), "--state", state, "--repo-root", "/nonexist", "--json"];
    const start = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([start.status, start.stdout, existsSync(state)]).toEqual([1, "", false]);
    expect(start.stderr.split("\n")).toEqual([
      "Starting Countersign ...",
      "--repo-root /nonexist: there is no folder /nonexist. Name a folder that stands",
      "",
    ]);
  });

  it("[START-5] local repositories may stand below the home folder and the project's own, or below what was named, and never below /", () => {
    const sample = "/state/sample";
    const own = [homedir(), dirname(project)].filter((dir) => dir !== "/");
    expect(repoRoots({ repoRoots: [] }, { sample })).toEqual([...new Set([sample, ...own])]);
    expect(repoRoots({ repoRoots: ["/a", "/"] }, { sample })).toEqual([sample, "/a"]);
  });
});

describe("prerequisites", () => {
  const debianRoot: Machine = { platform: "linux", root: true, family: ["debian"] };

  it("[START-7] nothing missing is nothing to do", () => {
    expect(planFor(debianRoot, [])).toEqual({ do: "nothing" });
  });

  it("[START-7] root on Debian gets the packages installed", () => {
    expect(planFor(debianRoot, ["bwrap", "git"])).toEqual({ do: "install", packages: ["bubblewrap", "git"] });
  });

  it("[START-7] everybody else gets the exact command", () => {
    const line = (machine: Machine) => planFor(machine, ["bwrap"]);
    expect(line({ ...debianRoot, root: false })).toMatchObject({
      line: "missing: bubblewrap. Type: sudo apt-get install -y --no-install-recommends bubblewrap",
    });
    expect(line({ platform: "linux", root: true, family: ["fedora"] })).toMatchObject({
      line: "missing: bubblewrap. Type: dnf install -y bubblewrap",
    });
    expect(line({ platform: "linux", root: false, family: ["mine"] })).toMatchObject({
      do: "stop",
      line: expect.stringContaining("package manager"),
    });
  });

  it("[START-7] macOS is told that the sandbox needs Linux, whatever is installed", () => {
    expect(planFor({ platform: "darwin", root: false, family: [] }, [])).toMatchObject({
      do: "stop",
      line: expect.stringContaining("Linux VM or container"),
    });
  });

  it("[START-17] what a program could not do is said in words", () => {
    expect(whyNot(spawnSync("no-such-program", [], { encoding: "utf8" }))).toBe("it is not installed");
    const bash = (script: string) => whyNot(spawnSync("bash", ["-c", script], { encoding: "utf8" }));
    expect(bash("echo looking; echo 'E: no network' >&2; exit 100")).toBe("E: no network");
    expect(bash("exit 1")).toBe("no reason given");
    expect(bash("kill -9 $$")).toBe("it was ended by SIGKILL");
  });

  it("[START-7] a derived distribution counts as what it derives from", () => {
    expect(familyOf('NAME="Ubuntu"\nID=ubuntu\nID_LIKE="debian"\n')).toEqual(["ubuntu", "debian"]);
    expect(familyOf('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n')).toContain("suse");
  });
});

describe("the sample", () => {
  const steps = [...samplePlan.matchAll(/```sh\n([\s\S]*?)```/g)].map((block) => block[1] ?? "");

  it("[START-8] is a repository whose tests fail, and whose plan's own steps make them pass without touching them", () => {
    const path = fileURLToPath(makeSample(join(folder, "sample")));
    const test = () => spawnSync("npm", ["test"], { cwd: path }).status;
    expect(test()).not.toBe(0);
    expect(steps).toHaveLength(3);
    for (const step of steps) execFileSync("bash", ["-euo", "pipefail", "-c", step], { cwd: path, stdio: "ignore" });
    expect(test()).toBe(0);
    const changed = execFileSync("git", ["status", "--porcelain"], { cwd: path, env: safeGitEnv(), encoding: "utf8" });
    expect(changed).toBe(" M src/pager.js\n");
  });

  it("[START-8] has a plan without a single problem", () => {
    expect(parsePlan(samplePlan)).toMatchObject({ ok: true });
  });

  it("[START-8] is made once, and a half-made one is made again", () => {
    const path = join(folder, "sample");
    mkdirSync(`${path}.draft/src`, { recursive: true });
    mkdirSync(path);
    makeSample(path);
    const first = commitOf(path, "main");
    writeFileSync(join(path, "mine.txt"), "kept");
    makeSample(path);
    expect(commitOf(path, "main")).toBe(first);
    expect(readFileSync(join(path, "mine.txt"), "utf8")).toBe("kept");
  });
});

describe("the page", () => {
  it("[START-9] is stale when it was never built or any source is newer, and only then", () => {
    const at = (path: string, seconds: number): void => {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "");
      utimesSync(file, seconds, seconds);
    };
    at("web/src/main.tsx", 100);
    at("src/domain/view.ts", 100);
    expect(pageIsStale(folder)).toBe(true);
    at("web/dist/index.html", 200);
    expect(pageIsStale(folder)).toBe(false);
    at("web/dist/assets/a.js", 300);
    expect(pageIsStale(folder)).toBe(false);
    at("src/domain/view.ts", 300);
    expect(pageIsStale(folder)).toBe(true);
  });
});

describe("the sandbox host", () => {
  const good = `import { createServer } from "node:http"; import { writeFileSync } from "node:fs";
    const server = createServer((_, response) => response.end(process.env.SANDBOX_SECRET));
    server.listen(Number(process.env.SANDBOX_PORT), "127.0.0.1", () => console.log(JSON.stringify({ ready: true, port: server.address().port })));`;
  let list: ReturnType<typeof processList>;
  let host: Host | null = null;
  afterEach(async () => {
    host?.quiet();
    host = null;
    await list.endAll(0);
  });

  function begin(source: string, said: string[]): { up: Promise<Host>; lost: Promise<string> } {
    const program = join(folder, "host.mjs");
    writeFileSync(program, source);
    const file = join(folder, "log");
    const log = { file, fd: openLog(file) };
    list = processList(join(folder, "processes.json"));
    let lose: (line: string) => void = () => undefined;
    const lost = new Promise<string>((tell) => {
      lose = tell;
    });
    const spec = {
      processes: list,
      program,
      secret: "s3cret",
      sandboxes: folder,
      repoRoots: [],
      gitOrigin: null,
      log,
      say: (line: string) => said.push(line),
      lost: lose,
    };
    return { up: startHost(spec), lost };
  }
  async function answers(port: number): Promise<string> {
    for (;;) {
      const text = await fetch(`http://127.0.0.1:${port}`).then(
        (response) => response.text(),
        () => null,
      );
      if (text !== null) return text;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  const pid = () => list.records().at(-1)?.pid ?? 0;

  it("[START-10] that dies is started again on the same port with the same secret, and given up when it dies again at once", async () => {
    const said: string[] = [];
    const { up, lost } = begin(good, said);
    host = await up;
    const first = pid();
    process.kill(first, "SIGKILL");
    while (pid() === first) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await answers(host.port)).toBe("s3cret");
    expect(said).toEqual([expect.stringContaining("starting it again")]);
    process.kill(pid(), "SIGKILL");
    expect(await lost).toMatch(/ended again \(SIGKILL\)/);
  });

  it("[START-10] that does not come up is one line with its own reason", async () => {
    const { up } = begin('console.error("Error: SANDBOX_ROOT must name a folder"); process.exit(1)', []);
    await expect(up).rejects.toThrow("the sandbox host did not start: Error: SANDBOX_ROOT must name a folder");
  });
});

describe("ports, migrations and the log", () => {
  it("[START-11] a new or edited migration is noticed, an unchanged set is not", () => {
    expect(migrationsMark(folder)).toBeNull();
    writeFileSync(join(folder, "0000_a.sql"), "a");
    const first = migrationsMark(folder);
    writeFileSync(join(folder, "notes.txt"), "");
    expect(migrationsMark(folder)).toBe(first);
    writeFileSync(join(folder, "0000_a.sql"), "b");
    expect(migrationsMark(folder)).not.toBe(first);
  });

  it("[START-12] a taken port is one line that offers another; 0 takes any free one", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve(Number((server.address() as { port: number }).port))),
    ); // a TCP server's address is an object
    await expect(freePort(port)).rejects.toThrow(
      new StartError(`port ${port} is taken. Choose another: npm start -- --port ${port + 1}`),
    );
    await new Promise((resolve) => server.close(resolve));
    expect(await freePort(port)).toBe(port);
    expect(await freePort(0)).toBeGreaterThan(0);
  });

  it("[START-12] the reason is found in what was logged since, not in what stood there before", () => {
    const file = join(folder, "log");
    writeFileSync(file, "Error: old\n");
    const from = readFileSync(file).byteLength;
    writeFileSync(file, "Error: old\nstarting\n✘ [ERROR] Could not resolve x\nbye\n");
    expect(reasonIn(file, from)).toBe("✘ [ERROR] Could not resolve x");
  });

  it("[START-16] a broken configuration is named with its file, its line and what is wrong", () => {
    const file = join(folder, "log");
    const reason = (text: string): string => {
      writeFileSync(file, text);
      return reasonIn(file, 0);
    };
    expect(
      reason("✘ [ERROR] Invalid TOML document\n\n    wrangler.toml:1:19:\n      1 │ name = x\n🪵  Logs were written\n"),
    ).toBe("wrangler.toml:1:19: ✘ [ERROR] Invalid TOML document");
    expect(reason('✘ [ERROR] Processing wrangler.toml configuration:\n\n    - Expected "main"\n    - More\n')).toBe(
      '✘ [ERROR] Processing wrangler.toml configuration: Expected "main"',
    );
    const cause = Object.assign(new Error("Invalid\n  TOML"), { location: { file: "/p/wrangler.toml", line: 3 } });
    expect(failureLine(new Error("starting the server", { cause }))).toBe("Error: /p/wrangler.toml:3: Invalid TOML");
    expect(failureLine("odd")).toBe("Error: odd");
  });
});

describe("the demo's own check", () => {
  it("[DEMO-2] believes nothing it cannot see in the repository", () => {
    const sample = join(folder, "sample");
    makeSample(sample);
    const before = commitOf(sample, "main");
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", sample, ...args], { env: safeGitEnv(), stdio: "ignore" });
    const promised = { sample, branch: "countersign/t", commit: null, before };
    expect(branchProblem(promised)).toMatch(/is not in/);
    git("branch", "countersign/t");
    expect(branchProblem(promised)).toMatch(/do not pass/);
    expect(branchProblem({ ...promised, commit: "f".repeat(40) })).toMatch(/the service says/);
    git("checkout", "--quiet", "countersign/t");
    execFileSync("sed", ["-i", "s/Math.floor(count/Math.ceil(count/", join(sample, "src/pager.js")]);
    git("commit", "--quiet", "--all", "--message", "mend");
    git("checkout", "--quiet", "main");
    expect(branchProblem(promised)).toBeNull();
    git("merge", "--quiet", "countersign/t");
    expect(branchProblem(promised)).toMatch(/main was moved/);
  });
});

describe("the test runner's last line", () => {
  const counts = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, numFailedTestSuites: 0 };
  const line = (...runs: [Partial<typeof counts> | null, number][]) =>
    summary(runs.map(([told, code]) => tallyOf(told === null ? null : JSON.stringify({ ...counts, ...told }), code)));
  it("[TEST-1] counts passed, failed and skipped over all runs", () => {
    expect(line([{}, 0])).toBe("5 passed, 0 failed");
    expect(line([{}, 0], [{ numFailedTests: 2, numPendingTests: 1 }, 1])).toBe("10 passed, 2 failed, 1 skipped");
  });
  it("[TEST-1] never says that nothing failed when vitest did", () => {
    expect(line([{ numFailedTestSuites: 1 }, 1])).toBe("5 passed, 1 failed");
    expect(line([{}, 1])).toBe("5 passed, 1 failed");
    expect(line([null, 1], [{}, 0])).toBe("5 passed, 1 failed");
  });
  it("[TEST-2] counts tests by how they ended, and a file that failed as one", () => {
    const counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numFailedTestSuites: 0 };
    const module = (ok: boolean, ...states: string[]) => ({
      ok: () => ok,
      children: { allTests: () => states.map((state) => ({ result: () => ({ state }) })) },
    });
    // As much of a module as is looked at.
    countInto(counts, module(false, "passed", "failed", "skipped", "pending") as never);
    countInto(counts, module(true, "passed") as never);
    expect(counts).toEqual({ numPassedTests: 2, numFailedTests: 1, numPendingTests: 2, numFailedTestSuites: 1 });
  });
  it("[TEST-1] runs every project unless one is named", () => {
    const names = lanesFor(["--bail=1"]).map((lane) => lane.map((args) => args[1]));
    expect(names).toEqual([["node", "simulation", "host", "workerd", "road"]]);
    expect(lanesFor(["--project", "node"])).toEqual([[["--project", "node"]]]);
  });
});
